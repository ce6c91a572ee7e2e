"""The leaderboard of a ladder, with all that says how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from arena.games.rules import Game
from arena.reports.base import Report
from arena.reports.rank_range import rank_range
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.shares import Shares


class RatingColumns(Report):
    """A rating: estimated skill and its uncertainty."""

    mu: float
    """Estimated skill."""
    sigma: float
    """Uncertainty of `mu`."""


class EstimateColumns(Report):
    """A mean over groups, and the ends of its 95 % interval."""

    mean: float
    """The mean."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    groups: int
    """Number of complete groups that it follows from."""


class RankedBot(Report):
    """A bot on the leaderboard."""

    rank: int
    """Place by shown rating; the best bot has 1."""
    bot: str
    """Label of the version."""
    name: str
    """Name of the bot, without a version."""
    number: int
    """Number of the version."""
    rating: float
    """`shown` above the zero of ratings, as tables show it."""
    shown: float
    """mu − 3 sigma, by which the leaderboard is sorted."""
    mu: float
    """Estimated skill, as it is stored."""
    sigma: float
    """Uncertainty of `mu`."""
    matches: int
    """Number of its rated matches."""
    wins: int
    """First places alone; `ties` are shared first places, `losses` all others."""
    ties: int
    """Shared first places."""
    losses: int
    """All other places."""
    mean_rank: float
    """Mean of the places in its matches, which count from 1."""
    forfeits: int
    """Number of rated matches that it forfeited."""
    current: bool
    """Whether the bot has no newer version."""
    retired: bool
    """Whether it is kept out of ladders."""
    banned: bool
    """Whether an organiser took it out for good."""
    title: str | None
    """The name that the bot was given for people; None if it has none but its own."""
    settled: RatingColumns | None
    """The rating that no order of matches can change; None if it is not computed."""
    points: EstimateColumns | None
    """Share of the points, 0 to 1; None if nothing is known."""
    places: Sequence[int] | None
    """While points tell nothing: the best and the worst place, from 1, that its rating makes credible. Else None."""
    sure: bool
    """Whether the bot above is known to be better; True for the first."""

    @property
    def status(self) -> str:
        """Why the bot is not in the field, in a word; "current" if it is."""
        return "banned" if self.banned else "retired" if self.retired else "current" if self.current else "older"


class MatchCounts(Report):
    """How many matches of a ladder there are."""

    to_play: int
    """Planned and not played yet."""
    done: int
    """Finished ones that count, rated or not."""
    rated: int
    """Those that the ratings include."""
    unplayable: int
    """Those that were void three times."""
    dropped: int
    """Those that will not be played, since a bot of them was retired."""
    annulled: int
    """Those that an organiser let no longer count."""


class HeadToHead(Report):
    """What a bot took of the points from another one that it met."""

    bot: str
    """Label of the bot."""
    other: str
    """Label of the other bot."""
    mean: float
    """The bot's share of the points, 0 to 1."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of the 95 % interval."""
    groups: int
    """Number of complete groups that it follows from."""
    above: float | None
    """Probability that the bot is better than the other."""


class Leaderboard(Report):
    """A ladder's leaderboard; `bots` are in order, the best first."""

    game: str
    """Name of the game."""
    players: int
    """Number of seats."""
    ladder: str
    """Id of the ladder."""
    options: Mapping[str, Any]
    """Options of the game, with their values."""
    limits: Mapping[str, float]
    """Seconds, by name."""
    rules_version: int
    """Version of the game's rules."""
    matches: MatchCounts
    """How many matches there are, by what became of them."""
    zero: Sequence[str]
    """Labels of the bots whose mean mu is the zero of ratings; none if that is the field as it is now."""
    centre: float
    """Mean mu of these bots."""
    settled_centre: float
    """Their mean settled mu, as far as they have any."""
    settled_matches: int
    """Number of matches that the settled ratings were computed from."""
    waiting: int
    """Number of bots of the field without a rated match."""
    ranked: int
    """Number of bots on the leaderboard; `bots` are fewer with `-n`, `--around` or `--bots`."""
    bots: Sequence[RankedBot]
    """Its bots, the best first."""
    provisional: Sequence[RankedBot]
    """The bots if all matches that are done were rated now; empty if all are."""
    cross: Sequence[HeadToHead] | UnsetType = UNSET
    """Every pair of these bots, the best 20 at most, that met, in both directions; only with `--cross`."""
    places: Mapping[str, Sequence[float]] | UnsetType = UNSET
    """By bot of `cross` that is in the field: the probability of each place among these, the first place first."""
    seats: Sequence[EstimateColumns] | UnsetType = UNSET
    """Share of the points of each seat."""
    saved: float | UnsetType | None = UNSET
    """Part of the variance that sharing dice saved; None if nothing is known."""


class NoLeaderboard(Report):
    """What is said where no ladder of a game and a number of players was played."""

    game: str
    """Name of the game."""
    players: int
    """Number of seats."""
    ladder: None = None
    """None: there is no such ladder."""
    bots: Sequence[RankedBot] = ()
    """Always empty."""


class LadderRun(Leaderboard, kw_only=True):
    """The leaderboard that a run of a ladder ends with."""

    played: int
    """Number of matches that the run played."""
    hash: str
    """The ladder hash."""


Choose: TypeAlias = Callable[[Sequence[store.records.Row]], Sequence[store.records.Row]]
"""Function that returns some rows of a leaderboard, in their order."""

CROSSED = 20
"""Bots of which each is compared with each other, unless somebody says which: more fit no page and no eye."""


def leaderboard_of(
    db: Database,
    ladder: store.Ladder,
    game: Game[Any],
    choose: Choose = list,
    *,
    cross: int = 0,
    by_seat: bool = False,
) -> Leaderboard:
    """Read a ladder's leaderboard, with the worth of seats where asked for.

    `choose` returns those rows that are wanted of all that are shown. The best `cross` of these bots are compared with
    each other. Raises what `choose` raises.
    """
    with store.database.one_state(db):
        everybody, early = store.ratings.leaderboard(db, ladder), store.ratings.provisional(db, ladder)
        rows = provisional = choose(early or everybody)
        counts, settled = store.ladders.counts(db, ladder), store.evidence.find_settled(db, ladder)
        evidence = store.evidence.of_ladder(db, ladder) if by_seat else None
        shares = evidence or store.evidence.shares_now(db, ladder, [row.label for row in early or everybody])
        zero = store.ladders.founders(db, ladder)
        waiting = len(store.ratings.waiting(db, ladder))
        named = _Named(store.journal.titles(db), store.journal.bans(db).keys())
    if early:
        labels = {row.label for row in provisional}
        rows = [row for row in everybody if row.label in labels]
    key = ladder.key
    certain = _Certain(zero, settled, shares, named)
    compared = rows[:cross]
    return Leaderboard(
        game=game.name,
        players=key.seats,
        ladder=ladder.id,
        options=key.options,
        limits=key.limits,
        rules_version=key.rules_version,
        matches=MatchCounts(
            to_play=counts.scheduled,
            done=counts.done,
            rated=sum(row.matches for row in everybody) // key.seats,
            unplayable=counts.unplayable,
            dropped=counts.dropped,
            annulled=counts.annulled,
        ),
        zero=zero,
        centre=centre(everybody, zero),
        settled_centre=_settled_centre(everybody, zero, settled),
        settled_matches=settled.matches,
        waiting=waiting,
        ranked=len(early or everybody),
        bots=certain.ranked(rows, everybody),
        provisional=certain.ranked(provisional, early) if early else [],
        cross=head_to_head(shares, [row.label for row in compared]) if cross else UNSET,
        places=_places(shares, compared, everybody) if cross else UNSET,
        seats=[EstimateColumns(**estimate._asdict()) for estimate in evidence.seats()] if evidence else UNSET,
        saved=evidence.saved() if evidence else UNSET,
    )


def in_field(rows: Sequence[store.records.Row]) -> Sequence[store.records.Row]:
    """Return the bots that would play now, or all of them if none would."""
    return [row for row in rows if row.current and not row.retired] or rows


def centre(rows: Sequence[store.records.Row], zero: Collection[str]) -> float:
    """Return the mean mu of those of these bots that are the zero of ratings; of none of them, of the field.

    Tables show ratings relative to it. 0 without bots.
    """
    return fmean(row.mu for row in _at_zero(rows, zero)) if rows else 0.0


def _settled_centre(rows: Sequence[store.records.Row], zero: Collection[str], settled: store.evidence.Settled) -> float:
    """Return the mean settled mu of the same bots, as far as they have any; else 0."""
    known = [settled.ratings[row.label].mu for row in _at_zero(rows, zero) if row.label in settled.ratings]
    return fmean(known) if known else 0.0


def _at_zero(rows: Sequence[store.records.Row], zero: Collection[str]) -> Sequence[store.records.Row]:
    """Return the bots whose mean is the zero of ratings; some that the ladder began with may have no match yet."""
    known = {*zero}
    return [row for row in rows if row.label in known] or in_field(rows)


def ladder_run(db: Database, ladder: store.Ladder, game: Game[Any], played: int) -> LadderRun:
    """Read the leaderboard after a run that played so many matches, and sign it."""
    board = leaderboard_of(db, ladder, game)
    return LadderRun(**msgspec.structs.asdict(board), played=played, hash=store.ratings.keep_hash(db, ladder))


class _Named(NamedTuple):
    """What was said of bots by hand: names for people, by bot, and which bots are banned."""

    titles: Mapping[str, str]
    banned: Collection[str]


class _Certain(NamedTuple):
    """All that is said of a bot beyond its rating, and how sure that is."""

    zero: Collection[str]
    settled: store.evidence.Settled
    shares: Shares
    named: _Named

    def ranked(self, chosen: Sequence[store.records.Row], rows: Sequence[store.records.Row]) -> list[RankedBot]:
        """Return some rows of a leaderboard as they are reported."""
        middle = centre(rows, self.zero)
        return [self._ranked(row, rows, middle) for row in chosen]

    def _ranked(self, row: store.records.Row, rows: Sequence[store.records.Row], middle: float) -> RankedBot:
        rating, points = self.settled.ratings.get(row.label), self.shares.score(row.label)
        numbers = {name: value for name, value in row._asdict().items() if name not in ("place", "label")}
        return RankedBot(
            rank=row.place,
            bot=row.label,
            rating=row.shown - middle,
            **numbers,
            banned=row.name in self.named.banned,
            title=self.named.titles.get(row.name),
            settled=rating and RatingColumns(**rating._asdict()),
            points=points and EstimateColumns(**points._asdict()),
            places=None if points is not None and (points.low, points.high) != (0, 1) else rank_range(row, rows),
            sure=row.place == 1 or self.shares.in_order(rows[row.place - 2].label, row.label),
        )


def _places(
    shares: Shares, compared: Sequence[store.records.Row], rows: Sequence[store.records.Row]
) -> dict[str, list[float]]:
    """Return the chances of places among the compared bots of the field, by points from matches of the whole field."""
    field = [row.label for row in in_field(rows)]
    within = {*field}
    return shares.places([row.label for row in compared if row.label in within], field)


def head_to_head(shares: Shares, bots: Sequence[str]) -> list[HeadToHead]:
    """Compare every bot with every other that it met."""
    met = [(one, other, shares.head_to_head(one, other)) for one in bots for other in bots if one != other]
    return [
        HeadToHead(bot=one, other=other, **estimate._asdict(), above=shares.above(one, other))
        for one, other, estimate in met
        if estimate is not None
    ]
