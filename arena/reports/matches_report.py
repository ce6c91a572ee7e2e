"""Finished matches, as lists show them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from arena import games
from arena.base.suggest import printable
from arena.games import UnknownGame
from arena.games.rules import remark
from arena.replay import Unreadable, unrated_store
from arena.replay.narration import beyond_scores
from arena.reports.base import Report
from arena.reports.bot_card import NotableMatch, distinct, notable_match
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database


class ListedMatch(Report):
    """A finished match; all lists are by seat, and ranks count from 0."""

    id: str
    ladder: str
    line_up: Sequence[str]
    ranks: Sequence[int]
    scores: Sequence[int]
    forfeits: Sequence[str | None]
    finished: float
    """Seconds since 1970."""
    remark: str
    """Why a seat is placed above one with as many points or more; empty if none is."""


class KeptMatch(Report):
    """An unrated match that the home keeps; all lists are by seat, and ranks count from 0."""

    name: str
    game: str
    bots: Sequence[str]
    ranks: Sequence[int]
    scores: Sequence[str]
    forfeits: Sequence[str | None]
    finished: float | None
    """Seconds since 1970, if it is known."""
    remark: str


class LadderMatches(Report):
    """The matches of a ladder that people may want to see."""

    worth_a_look: Sequence[NotableMatch]
    """Forfeits, the latest first; upsets, the largest first; narrow losses, the narrowest first."""
    latest: Sequence[ListedMatch]
    """Those of complete groups, in the order of the schedule, the last one first."""

    @property
    def ids(self) -> Iterator[str]:
        """Their ids."""
        yield from (match.id for match in self.worth_a_look)
        yield from (match.id for match in self.latest)


def ladder_matches(db: Database, ladder: store.Ladder, most: int) -> LadderMatches:
    """List at most so many matches of each kind."""
    return LadderMatches(
        worth_a_look=distinct([notable_match(row) for row in store.notable_matches.of_ladder(db, ladder, most)]),
        latest=[_listed(row, ladder.key.game) for row in store.watching.latest_of(db, ladder, most)],
    )


def selected(db: Database, ladder: store.Ladder, most: int) -> LadderMatches:
    """Select at most so many matches to be shown, each once: those worth a look, then the latest of the others.

    In a large field every bot has forfeits. So of each kind of match worth a look there are at most a sixth of all,
    and at least half are left for the latest.
    """
    worth = ladder_matches(db, ladder, math.ceil(most / 6)).worth_a_look[:most]
    listed = {match.id for match in worth}
    latest = [match for match in ladder_matches(db, ladder, most).latest if match.id not in listed]
    return LadderMatches(worth_a_look=worth, latest=latest[: most - len(worth)])


def latest_list(db: Database, most: int) -> list[ListedMatch]:
    """List the matches of all ladders that were finished last."""
    of_ladder = {ladder.id: ladder.key.game for ladder in store.ladders.all(db)}
    return [_listed(row, of_ladder[row.ladder]) for row in store.watching.latest_matches(db, most)]


def kept_matches(home: Path, most: int) -> list[KeptMatch]:
    """List the unrated matches that were played last; those that cannot be read any more are left out."""
    matches = []
    for name in unrated_store.latest(home, most):
        with suppress(Unreadable, OSError, UnknownGame):
            record = unrated_store.find_match(home, name)
            reasons = {forfeit.seat: forfeit.reason for forfeit in record.forfeits}
            match = KeptMatch(
                name=name,
                game=games.game(record.game).title,
                bots=[printable(bot) for bot in record.bots],
                ranks=record.ranks,
                scores=[printable(score) for score in record.scores],
                forfeits=[reasons.get(seat) for seat in range(len(record.bots))],
                finished=record.finished,
                remark=beyond_scores(record),
            )
            matches.append(match)
    return matches


def _listed(match: store.watching.LatestMatch, game: str) -> ListedMatch:
    ranks, scores, forfeits = zip(*match.seats, strict=True)
    return ListedMatch(
        id=match.id,
        ladder=match.ladder,
        line_up=match.line_up,
        ranks=ranks,
        scores=scores,
        forfeits=forfeits,
        finished=match.finished,
        remark=_remark(game, match),
    )


def _remark(game: str, match: store.watching.LatestMatch) -> str:
    """Return what is said of a match whose scores do not tell who won; nothing if the game is not here any more."""
    if game not in games.names():
        return ""
    ranks, scores, forfeits = zip(*match.seats, strict=True)
    forfeited = [seat for seat, forfeit in enumerate(forfeits) if forfeit is not None]
    return remark(games.game(game), ranks, scores, forfeited)
