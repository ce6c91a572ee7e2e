"""The card of a bot: how it did in each ladder, and the matches worth looking at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from arena.reports.base import Report
from arena.reports.bots_report import BotFaults, BotMatch, BotVersion, SecondChance
from arena.reports.leaderboard_report import EstimateColumns, centre
from ladder import store
from ladder.student import quantile, wilson

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.shares import Shares


class TimeBucket(Report):
    """How many decisions took longer than those of the bucket before, and at most this."""

    up_to_ms: float
    """Each bucket reaches 2^¼ times as far as the one before."""
    decisions: int
    """Number of decisions in this bucket."""


class CardTimes(Report):
    """How long a version took for its decisions; of a frame with several decisions each has an equal share."""

    decisions: int
    """Number of all decisions."""
    p50_ms: float
    """Half of all took at most this; it is the end of a bucket, so it is too large by a fifth at most."""
    p99_ms: float
    """99 % of all took at most this, as exactly as `p50_ms`."""
    max_ms: float
    """The longest decision."""
    buckets: Sequence[TimeBucket]
    """From the quickest decisions to the slowest; some between them may have none."""


class VersionCard(Report):
    """How a version did in a ladder."""

    bot: str
    """Label of the version."""
    rank: int
    """Place on the leaderboard; the best bot has 1."""
    rating: float
    """mu − 3 sigma above the zero of ratings, as tables show it."""
    mu: float
    """As it is stored, as is `sigma`."""
    sigma: float
    """Uncertainty of `mu`."""
    points: EstimateColumns | None
    """Share of the points, 0 to 1; None if nothing is known."""
    matches: int
    """Rated matches."""
    wins: int
    """First places alone."""
    ties: int
    """Shared first places."""
    losses: int
    """All other places."""
    mean_rank: float
    """Mean of the places, which count from 1."""
    forfeits: int
    """Number of rated matches that it forfeited."""
    times: CardTimes | None
    """Of all matches that are done; None if there was no decision."""


class OpponentCard(Report):
    """What a bot took of the points from an opponent in complete groups."""

    bot: str
    """Label of the opponent."""
    rating: float
    """Its rating, as tables show it."""
    points: EstimateColumns
    """The bot's share of the points against it, 0 to 1."""


class SeatCard(Report):
    """How a bot did in one seat."""

    seat: int
    """Number of the seat, from 0."""
    matches: int
    """Number of rated matches in this seat."""
    wins: int
    """First places alone."""
    ties: int
    """Shared first places."""
    losses: int
    """All other places."""
    mean_rank: float
    """Mean of the places, which count from 1."""
    points: EstimateColumns
    """Its `groups` are the matches: each is of another group, so they are independent."""


class NotableMatch(Report):
    """A match worth looking at first, as seen by the bot."""

    id: str
    """Id of the match."""
    why: str
    """"forfeit", "lost" to a weaker bot, "won" against a stronger one, or "narrow": lost by little."""
    forfeit: str | None
    """The reason of its forfeit."""
    other: str | None
    """To whom it lost or against whom it won; of several that one by whom the result surprises most."""
    expected: float | None
    """Probability of being placed before that bot, by the ratings right after the match; only if lost or won."""
    margin: int | None
    """Difference of the scores; only if narrow."""
    line_up: Sequence[str]
    """Labels of the bots by seat."""
    seat: int
    """Seat of the bot, from 0."""
    rank: int
    """From 0."""
    score: int
    """Its score."""


class BotInLadder(Report):
    """A version's card in one ladder."""

    game: str
    """Name of the game."""
    players: int
    """Number of seats."""
    ladder: str
    """Id of the ladder."""
    limits: Mapping[str, float]
    """Seconds, by name."""
    bots: int
    """Number of versions on the leaderboard."""
    unrated: int
    """Number of matches of the ladder that are done and not rated yet; only faults and times include them."""
    unsummed: int
    """Number of rated matches that are not in what follows `versions` yet, as they are not while a ladder runs."""
    versions: Sequence[VersionCard]
    """Of the bot, those that were rated, by number."""
    bot: str
    """The version that all below is of: the one that was asked for or, if it was not rated here, the newest rated."""
    opponents: Sequence[OpponentCard]
    """The best first."""
    seats: Sequence[SeatCard]
    """How `bot` did in each seat."""
    worth_a_look: Sequence[NotableMatch]
    """Forfeits, the latest first; upsets, the largest first; narrow losses, the narrowest first."""


class BotCard(Report):
    """What became of a bot that was entered."""

    bot: BotVersion
    """The version that was asked for."""
    faults: Sequence[BotFaults]
    """By version."""
    chances: Sequence[SecondChance]
    """Second chances that it used."""
    ladders: Sequence[BotInLadder]
    """Those in which it or another version of it has a rated match, the one played last first."""
    matches: Sequence[BotMatch]
    """Those with its forfeits first, then the latest."""


def bot_card(db: Database, version: store.Version, most: int, game: str | None = None) -> BotCard:
    """Read the card of a version, with at most so many of its matches; of all games or one."""
    with store.database.one_state(db):
        ladders = [_in_ladder(db, ladder, version) for ladder in store.ladders.all(db, game)]
        return BotCard(
            bot=BotVersion(**version._asdict(), title=store.journal.titles(db).get(version.name)),
            faults=[BotFaults(**counts._asdict()) for counts in store.matches.faults(db, version.name)],
            chances=[SecondChance(**chance._asdict()) for chance in store.chances.of_bot(db, version.label)],
            ladders=[card for card in ladders if card is not None],
            matches=[BotMatch(**line._asdict()) for line in store.matches.of_bot(db, version.label, most, game)],
        )


def _in_ladder(db: Database, ladder: store.Ladder, version: store.Version) -> BotInLadder | None:
    rows = store.ratings.leaderboard(db, ladder)
    rows_of_bot = sorted([row for row in rows if row.name == version.name], key=lambda row: row.number)
    if not rows_of_bot:
        return None
    label = version.label if version.label in [row.label for row in rows_of_bot] else rows_of_bot[-1].label
    shares = store.cards.shares(db, ladder, [row.label for row in rows_of_bot])
    middle = centre(rows, store.ladders.founders(db, ladder))
    return BotInLadder(
        game=ladder.key.game,
        players=ladder.key.seats,
        ladder=ladder.id,
        limits=ladder.key.limits,
        bots=len(rows),
        unrated=store.cards.unrated_matches(db, ladder),
        unsummed=store.cards.unsummed(db, ladder),
        versions=[_version(db, ladder, row, shares, middle) for row in rows_of_bot],
        bot=label,
        opponents=_opponents(label, rows, shares, middle),
        seats=[_seat(sums, ladder.key.seats) for sums in store.cards.seat_sums(db, ladder, label)],
        worth_a_look=distinct([notable_match(row) for row in store.notable_matches.of_version(db, ladder, label)]),
    )


def _version(db: Database, ladder: store.Ladder, row: store.records.Row, shares: Shares, middle: float) -> VersionCard:
    points = shares.score(row.label)
    same = ("mu", "sigma", "matches", "wins", "ties", "losses", "mean_rank", "forfeits")
    return VersionCard(
        bot=row.label,
        rank=row.place,
        rating=row.shown - middle,
        points=points and EstimateColumns(**points._asdict()),
        times=_times(store.times.decision_times(db, ladder, row.label)),
        **{name: getattr(row, name) for name in same},
    )


def _times(times: store.times.DecisionTimes | None) -> CardTimes | None:
    return times and CardTimes(
        decisions=times.decisions,
        p50_ms=times.at_most(0.5),
        p99_ms=times.at_most(0.99),
        max_ms=times.longest_ms,
        buckets=[TimeBucket(up_to_ms=end, decisions=count) for end, count in times.buckets],
    )


def _opponents(label: str, rows: Sequence[store.records.Row], shares: Shares, middle: float) -> list[OpponentCard]:
    met = [(row, shares.head_to_head(label, row.label)) for row in rows if row.label != label]
    return [
        OpponentCard(bot=row.label, rating=row.shown - middle, points=EstimateColumns(**points._asdict()))
        for row, points in met
        if points is not None
    ]


def _seat(sums: store.cards.SeatSums, players: int) -> SeatCard:
    matches = sums.matches
    share = sums.halves / (2 * (players - 1) * matches)
    low, high = wilson(share, matches, quantile(max(1, matches - 1)))
    return SeatCard(
        seat=sums.seat,
        matches=matches,
        wins=sums.wins,
        ties=sums.ties,
        losses=sums.losses,
        mean_rank=1 + sums.rank_sum / matches,
        points=EstimateColumns(mean=share, low=low, high=high, groups=matches),
    )


def notable_match(match: store.notable_matches.Notable) -> NotableMatch:
    """Report a match that is worth a look."""
    better = NormalDist().cdf(match.value)
    return NotableMatch(
        id=match.id,
        why=match.kind,
        forfeit=match.forfeit,
        other=match.other,
        expected={"lost": better, "won": 1 - better}.get(match.kind),
        margin=round(-match.value) if match.kind == "narrow" else None,
        line_up=match.line_up,
        seat=match.seat,
        rank=match.rank,
        score=match.score,
    )


def distinct(matches: Sequence[NotableMatch]) -> list[NotableMatch]:
    """Return each match once, for the first of its reasons."""
    by_id: dict[str, NotableMatch] = {}
    for match in matches:
        by_id.setdefault(match.id, match)
    return list(by_id.values())
