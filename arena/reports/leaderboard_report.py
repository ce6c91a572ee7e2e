"""The leaderboard of a ladder, with all that says how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from arena.games.rules import Game
from arena.reports.base import Report
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
    bots: Sequence[RankedBot]
    """Its bots, the best first."""
    provisional: Sequence[RankedBot]
    """The bots if all matches that are done were rated now; empty if all are."""
    cross: Sequence[HeadToHead] | UnsetType = UNSET
    """Every pair of bots that met, in both directions; only with `--cross`."""
    places: Mapping[str, Sequence[float]] | UnsetType = UNSET
    """By bot of the field: the probability of each place, the first place first."""
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


def leaderboard_of(
    db: Database, ladder: store.Ladder, game: Game[Any], *, cross: bool = False, by_seat: bool = False
) -> Leaderboard:
    """Read a ladder's leaderboard, with every bot against every other, or the worth of seats, where asked for."""
    with store.database.one_state(db):
        rows, provisional = store.ratings.leaderboard(db, ladder), store.ratings.provisional(db, ladder)
        counts, settled = store.ladders.counts(db, ladder), store.evidence.find_settled(db, ladder)
        labels = [row.label for row in provisional or rows]
        evidence = store.evidence.of_ladder(db, ladder) if by_seat else None
        shares = evidence or store.evidence.shares_now(db, ladder, labels)
        zero = store.ladders.founders(db, ladder)
        waiting = len(store.ladders.waiting(db, ladder))
        named = _Named(store.journal.titles(db), store.journal.bans(db).keys())
    key = ladder.key
    bots = _ranked(rows, zero, settled, shares, named)
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
            rated=sum(row.matches for row in rows) // key.seats,
            unplayable=counts.unplayable,
            dropped=counts.dropped,
            annulled=counts.annulled,
        ),
        zero=zero,
        centre=centre(bots, zero),
        settled_centre=settled_centre(bots, zero),
        settled_matches=settled.matches,
        waiting=waiting,
        bots=bots,
        provisional=_ranked(provisional, zero, settled, shares, named),
        cross=head_to_head(shares, [bot.bot for bot in bots]) if cross else UNSET,
        places=shares.places([bot.bot for bot in in_field(bots)]) if cross else UNSET,
        seats=[EstimateColumns(**estimate._asdict()) for estimate in evidence.seats()] if evidence else UNSET,
        saved=evidence.saved() if evidence else UNSET,
    )


_Rated = TypeVar("_Rated", RankedBot, store.records.Row)


def in_field(bots: Sequence[_Rated]) -> Sequence[_Rated]:
    """Return the bots that would play now, or all of them if none would."""
    return [bot for bot in bots if bot.current and not bot.retired] or bots


def centre(bots: Sequence[_Rated], zero: Collection[str]) -> float:
    """Return the mean mu of those of these bots that are the zero of ratings; of none of them, of the field.

    Tables show ratings relative to it. 0 without bots.
    """
    return fmean(bot.mu for bot in _at_zero(bots, zero)) if bots else 0.0


def settled_centre(bots: Sequence[RankedBot], zero: Collection[str]) -> float:
    """Return the mean settled mu of the same bots, as far as they have any; else 0."""
    known = [bot.settled.mu for bot in _at_zero(bots, zero) if bot.settled is not None]
    return fmean(known) if known else 0.0


def _at_zero(bots: Sequence[_Rated], zero: Collection[str]) -> Sequence[_Rated]:
    """Return the bots whose mean is the zero of ratings; some that the ladder began with may have no match yet."""
    return [bot for bot in bots if (bot.label if isinstance(bot, store.records.Row) else bot.bot) in zero] or in_field(
        bots
    )


def ladder_run(db: Database, ladder: store.Ladder, game: Game[Any], played: int) -> LadderRun:
    """Read the leaderboard after a run that played so many matches, and sign it."""
    board = leaderboard_of(db, ladder, game)
    return LadderRun(**msgspec.structs.asdict(board), played=played, hash=store.ratings.keep_hash(db, ladder))


class _Named(NamedTuple):
    """What was said of bots by hand: names for people, by bot, and which bots are banned."""

    titles: Mapping[str, str]
    banned: Collection[str]


def _ranked(
    rows: Sequence[store.records.Row],
    zero: Collection[str],
    settled: store.evidence.Settled,
    shares: Shares,
    named: _Named,
) -> list[RankedBot]:
    ranked = []
    middle = centre(rows, zero)
    for place, row in enumerate(rows):
        rating, points = settled.ratings.get(row.label), shares.score(row.label)
        numbers = {name: value for name, value in row._asdict().items() if name not in ("place", "label")}
        bot = RankedBot(
            rank=row.place,
            bot=row.label,
            rating=row.shown - middle,
            **numbers,
            banned=row.name in named.banned,
            title=named.titles.get(row.name),
            settled=rating and RatingColumns(**rating._asdict()),
            points=points and EstimateColumns(**points._asdict()),
            sure=place == 0 or shares.in_order(rows[place - 1].label, row.label),
        )
        ranked.append(bot)
    return ranked


def head_to_head(shares: Shares, bots: Sequence[str]) -> list[HeadToHead]:
    """Compare every bot with every other that it met."""
    met = [(one, other, shares.head_to_head(one, other)) for one in bots for other in bots if one != other]
    return [
        HeadToHead(bot=one, other=other, **estimate._asdict(), above=shares.above(one, other))
        for one, other, estimate in met
        if estimate is not None
    ]
