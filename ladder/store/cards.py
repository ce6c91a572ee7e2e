"""Reads what is known of a version in a ladder, from the sums that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ladder.schedule import line_up
from ladder.statistics import JointSums, PairSums, Shares, as_pair
from ladder.store import ladders
from ladder.store.records import Ladder
from ladder.store.sums import FORFEIT, LOST, NARROW, WON, GroupSums, Sums, add_rated, added, gap
from ladder.store.times import TimesOf, read_times, unread

if TYPE_CHECKING:
    from sqlite_utils import Database

CARD_KINDS = (FORFEIT, LOST, WON, NARROW)
"""Kinds of notable matches, in the order in which they are returned."""


class SeatSums(NamedTuple):
    """Rated matches of a version in one seat; `halves` are half points: 2 for each seat it finished before, 1 a tie."""

    seat: int
    matches: int
    wins: int
    ties: int
    losses: int
    rank_sum: int
    halves: int


class Notable(NamedTuple):
    """A match of a version that is worth looking at first; `value` and `other` are explained in `ladder.store.sums`."""

    kind: str
    value: float
    other: str | None
    id: str
    line_up: tuple[str, ...]
    seat: int
    rank: int
    score: int
    forfeit: str | None


CardProgress: TypeAlias = Callable[[int, int], None]
"""Function that is told how many steps are done, of how many."""


def lacking(db: Database) -> int:
    """Return how many steps `complete` has to do: matches whose result or times are not in the sums yet."""
    return unread(db) + sum(end - begin for begin, end in (gap(db, ladder) for ladder in ladders.all(db)))


def complete(db: Database, times_of: TimesOf, report: CardProgress = lambda _count, _total: None) -> None:
    """Bring the sums of all ladders up to date.

    Others may write meanwhile: each transaction is short, and what it stored stays, whenever the process ends.
    """
    total, count = lacking(db), 0

    def tell(steps: int) -> None:
        nonlocal count
        count += steps
        report(count, max(count, total))

    for ladder in ladders.all(db):
        add_rated(db, ladder, tell)
    read_times(db, times_of, tell)


def shares(db: Database, ladder: Ladder, labels: Iterable[str], more: Sums | None = None) -> Shares:
    """Return what bots took from each other, with all that the points of these versions need.

    `more` are sums that are not stored yet.
    """
    new = more.groups() if more else GroupSums({}, {})
    stored = db.execute(
        "SELECT version, opponent, groups, halves, squares FROM pair_sums WHERE ladder = ?", [ladder.id]
    )
    pairs = added({row[:2]: row[2:] for row in stored}, new.pairs)
    triples = {
        row[:3]: row[3:]
        for label in labels
        for row in db.execute(
            "SELECT version, opponent, other, groups, halves, other_halves, products FROM triple_sums"
            " WHERE ladder = ? AND version = ?",
            [ladder.id, label],
        )
    }
    joint = {
        (as_pair(version, opponent)[0], as_pair(version, third)[0]): JointSums(*sums)
        for (version, opponent, third), sums in added(triples, new.triples).items()
    }
    return Shares(ladder.key.seats, {pair: PairSums(*sums) for pair, sums in pairs.items()}, lambda: joint)


def seat_sums(db: Database, ladder: Ladder, label: str) -> list[SeatSums]:
    """Return the sums of a version's rated matches by seat."""
    columns = ", ".join(SeatSums._fields)
    rows = db.execute(
        f"SELECT {columns} FROM seat_sums WHERE ladder = ? AND version = ? ORDER BY seat", [ladder.id, label]
    )
    return [SeatSums(*row) for row in rows]


def unrated_matches(db: Database, ladder: Ladder) -> int:
    """Count the matches of a ladder that are done and not rated yet."""
    return _count_done(db, ladder, "m.seq >= l.folded")


def unsummed(db: Database, ladder: Ladder) -> int:
    """Count the rated matches of a ladder that are in no sum yet."""
    return _count_done(db, ladder, "m.seq >= l.summed AND m.seq < l.folded")


def _count_done(db: Database, ladder: Ladder, where: str) -> int:
    (matches,) = db.execute(
        "SELECT count(*) FROM ladders l JOIN matches m ON m.ladder = l.id AND m.status = 'done'"
        f" WHERE l.id = ? AND {where}",
        [ladder.id],
    ).fetchone()
    return int(matches)


def notable(db: Database, ladder: Ladder, label: str) -> list[Notable]:
    """Return the matches of a version to look at first: by kind, and of each kind the most notable first."""
    return _notable(db, "n.ladder = ? AND n.version = ? ORDER BY n.value DESC, n.seq DESC", [ladder.id, label])


def most_notable(db: Database, ladder: Ladder, most: int) -> list[Notable]:
    """Return so many matches of each kind to look at first, of all versions; upsets as seen by whoever lost."""
    return [
        match
        for kind in (FORFEIT, LOST, NARROW)
        for match in _notable(
            db, "n.ladder = ? AND n.kind = ? ORDER BY n.value DESC, n.seq DESC LIMIT ?", [ladder.id, kind, most]
        )
    ]


def _notable(db: Database, where: str, values: Sequence[object]) -> list[Notable]:
    rows = db.execute(
        "SELECT n.kind, n.value, n.other, m.id, g.bots, m.rotation, s.seat, s.rank, s.score, s.forfeit FROM notable n"
        " JOIN matches m ON m.ladder = n.ladder AND m.seq = n.seq JOIN groups g ON g.id = m.group_id"
        f" JOIN seats s ON s.match = m.id AND s.version = n.version WHERE {where}",
        values,
    ).fetchall()
    rows.sort(key=lambda row: CARD_KINDS.index(row[0]))
    return [
        Notable(kind, value, rival, match, line_up(bots, rotation), seat, rank, int(score), forfeit)
        for kind, value, rival, match, bots, rotation, seat, rank, score, forfeit in rows
    ]
