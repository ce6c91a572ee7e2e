"""The card of one match of a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena import games
from arena.games.rules import remark
from arena.replay import Unreadable, unpack
from arena.reports.base import Report
from arena.reports.corrections_report import CorrectionLine, entry
from arena.reports.leaderboard_report import RatingColumns
from ladder import store


class MatchSeat(Report):
    """How a seat fared; `rank` is from 0, times are seconds."""

    rank: int
    """Its place; 0 is the best."""
    score: int
    """Its score."""
    forfeit: str | None
    """Reason for which it forfeited; None if it did not."""
    evidence: Mapping[str, Any] | None
    """What is kept of a forfeit for the bot's author; None without one."""
    decisions: int
    """How often it answered."""
    think_total: float
    """Time of all its answers."""
    think_max: float
    """Time of the longest answer."""
    bot: str
    """Label of the version."""


class MatchCard(Report):
    """Everything that is known of a match but its choices, which `arena replay` shows."""

    id: str
    """Id of the match."""
    ladder: str
    """Id of the ladder."""
    status: str
    """"scheduled", "done", "unplayable", "dropped" or "annulled"."""
    leg: int
    """Number of the leg that planned it, from 0."""
    round: int
    """Number of its round, from 0."""
    rotation: int
    """By how many seats the line-up of its group is turned."""
    line_up: Sequence[str]
    """Labels of the bots by seat."""
    seats: Sequence[MatchSeat]
    """By seat; none before the match is done."""
    voids: Sequence[str]
    """Why attempts were void."""
    seed: str | None
    """In hexadecimal; None until nothing of its group is left to play."""
    finished: float | None
    """Seconds since 1970."""
    choices_digest: str | None
    """SHA-256 of all choices; None before the match is done."""
    replay_digest: str | None
    """SHA-256 of its record; None before the match is done."""
    ratings: Mapping[str, RatingColumns]
    """Of its bots after it, by label; none before the match is rated."""
    game: str
    """Name of the game."""
    players: int
    """Number of seats."""
    conditions: Mapping[str, Any]
    """The grade of the sandbox, how busy the machine was and, if it was played in a cluster, the host's name."""
    annulled: CorrectionLine | None
    """When, by whom and why it was annulled; None if it was not."""
    titles: Mapping[str, str]
    """Names for people of those of its bots that were given one, by label."""
    logs: Sequence[int]
    """Seats of which it is kept what their bots printed."""


def match_card(match: store.Match, titles: Mapping[str, str], logs: Sequence[int]) -> MatchCard:
    """Make the card of a match; `titles` are the names for people, by bot, and `logs` the seats that have a log."""
    seats = zip(match.line_up, match.seats, strict=False)
    return MatchCard(
        id=match.id,
        ladder=match.ladder.id,
        status=match.status,
        leg=match.leg,
        round=match.round,
        rotation=match.rotation,
        line_up=match.line_up,
        seats=[MatchSeat(**outcome._asdict(), bot=bot) for bot, outcome in seats],
        voids=match.voids,
        seed=_hex(match.seed),
        finished=match.finished,
        choices_digest=_hex(match.choices_digest),
        replay_digest=_hex(match.replay_digest),
        ratings={label: RatingColumns(mu=mu, sigma=sigma) for label, (mu, sigma) in (match.ratings or {}).items()},
        game=match.ladder.key.game,
        players=len(match.line_up),
        conditions=_conditions(match),
        annulled=match.annulled and entry(match.annulled),
        titles={label: titles[name] for label in match.line_up if (name := label.partition("@")[0]) in titles},
        logs=logs,
    )


def placed_beyond_scores(card: MatchCard) -> str:
    """Return why a seat is above one with as good a score, if one is; nothing of a game that is not here."""
    if card.game not in games.names():
        return ""
    forfeited = [seat for seat, outcome in enumerate(card.seats) if outcome.forfeit is not None]
    ranks, scores = [seat.rank for seat in card.seats], [seat.score for seat in card.seats]
    return remark(games.game(card.game), ranks, scores, forfeited)


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _conditions(match: store.Match) -> Mapping[str, Any]:
    """Return what held the bots and how busy the machine was, as far as the record can be read."""
    try:
        return unpack(match.replay).conditions if match.replay is not None else {}
    except Unreadable:
        return {}
