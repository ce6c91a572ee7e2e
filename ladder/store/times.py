"""How long versions took for their decisions in all matches that are done, counted in buckets."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ladder.schedule import canonical_json, line_up
from ladder.store.database import write
from ladder.store.locks import let_others_in
from ladder.store.records import Ladder

if TYPE_CHECKING:
    from sqlite_utils import Database

_SMALLEST_MS, _BUCKETS = 0.01, 128
"""The first bucket is up to 0.01 ms, as exact as replays are. Each further one reaches 2^¼ times as far, and the last
has everything from 8 hours on."""
EDGES = [_SMALLEST_MS * 2 ** (number / 4) for number in range(_BUCKETS - 1)]
"""Where buckets end, in milliseconds. Homes store the numbers of buckets, so this is part of their format."""
READ_AT_ONCE = 1000
"""Replays that one transaction reads, so that others who write do not wait long. No count depends on it."""

TimesOf: TypeAlias = Callable[[bytes], Sequence[Sequence[float]]]
"""Function that reads from a replay the times of each seat's decisions, in milliseconds."""


class DecisionTimes(NamedTuple):
    """Times of a version's decisions: how many there are in each bucket, and the longest, in milliseconds."""

    counts: dict[int, int]
    longest_ms: float

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return sum(self.counts.values())

    @property
    def buckets(self) -> list[tuple[float, int]]:
        """Where each bucket with decisions ends, in milliseconds, and how many it has."""
        return [(EDGES[min(bucket, len(EDGES) - 1)], count) for bucket, count in sorted(self.counts.items())]

    def row(self) -> tuple[str, float]:
        """Return what is stored."""
        return canonical_json(sorted(self.counts.items())), self.longest_ms

    def at_most(self, part: float) -> float:
        """Return a time, in milliseconds, that this part of all decisions did not exceed: the end of its bucket."""
        wanted, total = part * self.decisions, 0
        for bucket, count in sorted(self.counts.items()):
            total += count
            if total >= wanted:
                return min(EDGES[bucket], self.longest_ms) if bucket < len(EDGES) else self.longest_ms
        return self.longest_ms

    def merge(self, times: Mapping[float, int]) -> DecisionTimes:
        """Add times in milliseconds, with how often each occurred."""
        counts = Counter(self.counts)
        for value, count in times.items():
            counts[bisect_left(EDGES, value)] += count
        return DecisionTimes(dict(sorted(counts.items())), max([self.longest_ms, *times]))


class NewTimes:
    """Times of matches by ladder and version, in milliseconds, that are not stored yet."""

    def __init__(self) -> None:
        self._times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, ladder_id: str, versions: Sequence[str], times_ms: Sequence[Sequence[float]]) -> None:
        """Add the times of a match, by seat."""
        for version, times in zip(versions, times_ms, strict=False):  # none of a replay that cannot be read
            if times:
                self._times[ladder_id, version].extend(times)

    def added_to(self, stored: Callable[[str, str], DecisionTimes | None]) -> Iterator[tuple[str, str, DecisionTimes]]:
        """Yield ladder, version, and all its times, if it has some of these; `stored` returns those it had before."""
        for key, times in self._times.items():
            yield *key, (stored(*key) or DecisionTimes({}, 0.0)).merge(Counter(times))


def store_times(db: Database, new: NewTimes, before: int) -> None:
    """Store times in the transaction that stores their replays, if those of all replays before are known.

    `before` is what `last_replay` returned then. Otherwise `read_times` finds them with the others.
    """
    if _reach(db) == before:
        _save(db, new, last_replay(db))


def read_times(db: Database, times_of: TimesOf, report: Callable[[int], None] = lambda _matches: None) -> None:
    """Read the times of all matches of which they are not known, from their replays.

    An older arena stored no times, and may be playing at this very moment. `report` gets the number of matches that
    were read since the last call.
    """
    while matches := _read_some(db, times_of):
        report(matches)
        if matches == READ_AT_ONCE:
            let_others_in()


def unread(db: Database) -> int:
    """Return how many replays have times that are not known."""
    return last_replay(db) - _reach(db)


def last_replay(db: Database) -> int:
    """Return the number of the replay that was stored last; 0 if there is none."""
    (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM replays").fetchone()
    return int(last)


def decision_times(db: Database, ladder: Ladder, label: str) -> DecisionTimes | None:
    """Return the times of a version's decisions in all its matches that are done; None if it made none."""
    return _stored_times(db, ladder.id, label)


def _stored_times(db: Database, ladder_id: str, label: str) -> DecisionTimes | None:
    row = db.execute(
        "SELECT counts, longest_ms FROM time_sums WHERE ladder = ? AND version = ?", [ladder_id, label]
    ).fetchone()
    return row and DecisionTimes(dict(json.loads(row[0])), row[1])


def rows_of_replays(db: Database, ladder: Ladder, times_of: TimesOf) -> list[tuple[str, str, float]]:
    """Return the rows that a ladder has in the table, without the ladder, computed from the replays that it knows."""
    times_by_label = dict[str, DecisionTimes]()

    def known_times(_: str, label: str) -> DecisionTimes | None:
        return times_by_label.get(label)

    end = _reach(db)
    for begin in range(0, end, READ_AT_ONCE):
        new = NewTimes()
        _add_replays(db, new, times_of, begin, min(end, begin + READ_AT_ONCE), ladder.id)
        times_by_label.update((label, times) for _, label, times in new.added_to(known_times))
    return sorted((label, *times.row()) for label, times in times_by_label.items())


def _read_some(db: Database, times_of: TimesOf) -> int:
    with write(db):
        begin = _reach(db)
        end = min(last_replay(db), begin + READ_AT_ONCE)
        if begin < end:
            new = NewTimes()
            _add_replays(db, new, times_of, begin, end)
            _save(db, new, end)
    return end - begin


def _add_replays(
    db: Database, new: NewTimes, times_of: TimesOf, begin: int, end: int, ladder_id: str | None = None
) -> None:
    """Add the times of the replays after number `begin` up to `end`, of one ladder or of all."""
    for ladder, bots, rotation, replay in db.execute(
        "SELECT m.ladder, g.bots, m.rotation, r.replay FROM replays r CROSS JOIN matches m ON m.id = r.match"
        " JOIN groups g ON g.id = m.group_id WHERE r.rowid > ? AND r.rowid <= ? AND m.ladder = coalesce(?, m.ladder)",
        [begin, end, ladder_id],
    ):
        new.add(ladder, line_up(bots, rotation), times_of(replay))


def _save(db: Database, new: NewTimes, reach: int) -> None:
    rows = new.added_to(lambda ladder_id, label: _stored_times(db, ladder_id, label))
    db.conn.executemany(
        "INSERT INTO time_sums (ladder, version, counts, longest_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET counts = excluded.counts, longest_ms = excluded.longest_ms",
        [(ladder_id, label, *times.row()) for ladder_id, label, times in rows],
    )
    db.execute("UPDATE times_known SET replay = ?", [reach])


def _reach(db: Database) -> int:
    """Return the number of the last replay of which the times are known."""
    return int(db.execute("SELECT replay FROM times_known").fetchone()[0])
