"""Reads what is known of a version in a ladder, from the sums that are stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ladder.pairs import Pair, PairSums, PairTable, as_pair, table_of
from ladder.shares import JointSums, Shares
from ladder.store import ladders
from ladder.store.records import Ladder
from ladder.store.sums import GroupSums, Sums, add_rated, added, gap
from ladder.store.times import TimesOf, read_times, unread

if TYPE_CHECKING:
    from sqlite_utils import Database


class SeatSums(NamedTuple):
    """Rated matches of a version in one seat; `halves` are half points: 2 for each seat it finished before, 1 a tie."""

    seat: int
    matches: int
    wins: int
    ties: int
    losses: int
    rank_sum: int
    halves: int


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
    triples = {
        row[:3]: row[3:]
        for label in (labels if ladder.key.seats > 2 else ())
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
    return Shares(ladder.key.seats, _pairs(db, ladder, new.pairs), lambda: joint)


def _pairs(db: Database, ladder: Ladder, new: Mapping[Pair, Sequence[int]]) -> PairTable:
    """Return the sums of all pairs, the stored ones and new ones.

    The database puts those of a version into lists: one by one, a million rows take three times as long.
    """
    columns = ", ".join(f"json_group_array({column})" for column in ("opponent", "groups", "halves", "squares"))
    stored = db.execute(
        f"SELECT version, {columns} FROM pair_sums WHERE ladder = ? GROUP BY version ORDER BY version", [ladder.id]
    )
    table: dict[str, dict[str, PairSums]] = {}
    for version, *lists in stored:
        opponents, *columns_of_sums = map(json.loads, lists)
        table[version] = dict(sorted(zip(opponents, zip(*columns_of_sums, strict=True), strict=True)))
    if not new:
        return table
    pairs = {pair: sums for pair in new if (sums := table.get(pair[0], {}).get(pair[1])) is not None}
    for first, row in table_of(added(pairs, new)).items():
        table[first] = dict(sorted({**table.get(first, {}), **row}.items()))
    return dict(sorted(table.items()))


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
