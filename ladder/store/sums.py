"""Sums over the rated matches of a ladder, from which a bot's card is made without reading the matches again.

They follow the ratings: a run adds the matches that were rated since it last did, some at a time, and so does whoever
wants to see a card. A ladder that is rated anew from its start loses its sums (a trigger of the database sees to that,
since an older arena may do it), and gets them again.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import combinations, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from ladder.intervals import GroupResult, add_result, half_points
from ladder.pairs import as_pair
from ladder.store.database import write
from ladder.store.locks import let_others_in
from ladder.store.records import Ladder
from ladder.trueskill_ratings import BETA

if TYPE_CHECKING:
    from sqlite_utils import Database

_KEPT = 3
"""Notable matches that are kept of each kind, for each version of a ladder."""
_SURPRISE = 0.6745
"""Least value of an upset: the better bot was expected to be placed before the other in three matches of four."""
LOST, WON, NARROW, FORFEIT = "lost", "won", "narrow", "forfeit"
"""Kinds of notable matches, each with a value. Lost to a weaker bot, or won against a stronger one, as far as the
ratings after the match tell: by how many standard deviations. Lost by little: less the difference of scores. Forfeited:
the later, the more notable."""
_DIGITS = 15
"""Longest score, in characters, that can be part of a narrow loss: longer ones are not exact as a `value`."""
GATHERED = 200
"""Rated matches that a run lets gather before it adds them: many together cost less."""
_ADDED_AT_ONCE = 10_000
"""Matches that one transaction adds at most, so that others who write do not wait long. No sum depends on it."""

SUM_COLUMNS = {
    "seat_sums": ("version", "seat", "matches", "wins", "ties", "losses", "rank_sum", "halves"),
    "pair_sums": ("version", "opponent", "groups", "halves", "squares"),
    "triple_sums": ("version", "opponent", "other", "groups", "halves", "other_halves", "products"),
    "notable": ("version", "kind", "seq", "value", "other"),
}
"""Columns of each table but the ladder, those of its key first."""

SumRow: TypeAlias = tuple[Any, ...]
Ranks: TypeAlias = tuple[int, ...]
"""Ranks of a match by seat."""
Ratings: TypeAlias = Mapping[str, Sequence[float]]
"""The mu and sigma of each version of a match after it, by label."""


class PlacedRow(NamedTuple):
    """A seat of a rated match."""

    version: str
    rank: int
    forfeit: bool
    score: str


def add_rated(
    db: Database, ladder: Ladder, report: Callable[[int], None] = lambda _matches: None, *, least: int = 1
) -> None:
    """Add the matches that were rated since sums were last stored, once there are as many as `least`.

    `report` gets the number of matches that were added since the last call.
    """
    while _lag(db, ladder) >= least:
        if not (matches := _add_some(db, ladder)):
            break
        report(matches)
        if matches == _ADDED_AT_ONCE:
            let_others_in()


def _lag(db: Database, ladder: Ladder) -> int:
    begin, end = gap(db, ladder)
    return end - begin


def gap(db: Database, ladder: Ladder) -> tuple[int, int]:
    """Return the first seq that the sums of a ladder do not have, and the first that is not rated."""
    begin, end = db.execute("SELECT summed, folded FROM ladders WHERE id = ?", [ladder.id]).fetchone()
    return begin, end


def _add_some(db: Database, ladder: Ladder) -> int:
    with write(db):
        begin, end = gap(db, ladder)
        end = min(end, begin + _ADDED_AT_ONCE)
        if begin < end:
            _gathered(db, ladder, begin, end).save(db, ladder.id)
            db.execute("UPDATE ladders SET summed = ? WHERE id = ?", [end, ladder.id])
    return end - begin


def unstored(db: Database, ladder: Ladder) -> Sums:
    """Return the sums of the rated matches that are in no stored sum yet."""
    return _gathered(db, ladder, *gap(db, ladder))


def _gathered(db: Database, ladder: Ladder, begin: int, end: int) -> Sums:
    sums = Sums()
    for match in rated(db, ladder, begin - begin % ladder.key.seats, begin):
        sums.add_to_group(*match)
    for match in rated(db, ladder, begin, end):
        sums.add(*match)
    return sums


def rated(db: Database, ladder: Ladder, begin: int, end: int) -> Iterator[tuple[int, list[PlacedRow], Ratings]]:
    """Yield seq, seats and ratings of the rated matches from seq `begin` to before `end`."""
    rows = db.execute(
        "SELECT m.seq, h.ratings, s.version, s.rank, s.forfeit IS NOT NULL, s.score FROM matches m"
        " JOIN history h ON h.ladder = m.ladder AND h.seq = m.seq JOIN seats s ON s.match = m.id"
        " WHERE m.ladder = ? AND m.seq >= ? AND m.seq < ? ORDER BY m.seq, s.seat",
        [ladder.id, begin, end],
    )
    for (seq, ratings), seats in groupby(rows, key=itemgetter(0, 1)):
        yield seq, [PlacedRow(*seat[2:]) for seat in seats], json.loads(ratings)


class _Noted(NamedTuple):
    """A notable match of a version; `other` is who won, or lost if the version won."""

    value: float
    seq: int
    other: str | None


class GroupSums(NamedTuple):
    """Sums of groups by two versions, and by a version and two others, with the columns of their tables."""

    pairs: Mapping[tuple[str, str], list[int]]
    triples: Mapping[tuple[str, str, str], list[int]]


class Sums:
    """Sums of results that are not stored yet; matches are added in schedule order.

    Adding only counts what is alike, because every match of a ladder passes here while others wait.
    """

    def __init__(self) -> None:
        self._seated: defaultdict[tuple[str, int, Ranks], int] = defaultdict(int)
        self._groups: defaultdict[GroupResult, int] = defaultdict(int)
        self._notable: defaultdict[tuple[str, str], list[_Noted]] = defaultdict(list)
        self._number, self._rotations = -1, list[Ranks]()
        self._line_up: tuple[str, ...] = ()

    def add(self, seq: int, seats: Sequence[PlacedRow], ratings: Ratings) -> None:
        """Add a rated match."""
        ranks = self.add_to_group(seq, seats, ratings)
        for number, seat in enumerate(seats):
            self._seated[seat.version, number, ranks] += 1
        fair = [seat for seat in seats if not seat.forfeit]
        if len(fair) < len(seats):
            for seat in seats:
                if seat.forfeit:
                    self._note(seat.version, FORFEIT, _Noted(seq, seq, None))
        best = seats[ranks.index(min(ranks))]
        if not best.forfeit and len(best.score) <= _DIGITS:
            for seat in fair:
                if seat.rank and len(seat.score) <= _DIGITS:
                    gap = abs(int(best.score) - int(seat.score))
                    self._note(seat.version, NARROW, _Noted(-gap, seq, best.version))
        self._add_upsets(seq, fair, ratings)

    def add_to_group(self, seq: int, seats: Sequence[PlacedRow], _: Ratings) -> Ranks:
        """Add a match to the others of its group alone, which counts once all of them are there; return its ranks."""
        ranks = tuple([seat.rank for seat in seats])
        number, rotation = divmod(seq, len(seats))  # groups have a match for each seat, in a row
        if number != self._number:
            self._number, self._rotations = number, []
        if rotation == 0:
            self._line_up = tuple([seat.version for seat in seats])
        self._rotations.append(ranks)
        if len(self._rotations) == len(seats):
            self._groups[self._line_up, tuple(self._rotations)] += 1
        return ranks

    def _add_upsets(self, seq: int, seats: Sequence[PlacedRow], ratings: Ratings) -> None:
        """Note the largest surprise of the match for each version, if it is one."""
        upsets: dict[tuple[str, str], _Noted] = {}
        for first, second in combinations(seats, 2):
            if first.rank == second.rank:
                continue
            better, worse = (first, second) if first.rank < second.rank else (second, first)
            (mu, sigma), (mu_, sigma_) = ratings[worse.version], ratings[better.version]
            if mu > mu_ and (gap := (mu - mu_) / _spread(sigma, sigma_)) >= _SURPRISE:
                for key, other_ in (((worse.version, LOST), better.version), ((better.version, WON), worse.version)):
                    noted = _Noted(gap, seq, other_)
                    upsets[key] = max(noted, upsets.get(key, noted))
        for (version, kind), noted in upsets.items():
            self._note(version, kind, noted)

    def _note(self, version: str, kind: str, match: _Noted) -> None:
        noted = self._notable[version, kind]
        noted.append(match)
        if len(noted) > 100:
            noted[:] = nlargest(_KEPT, noted)

    def save(self, db: Database, ladder_id: str) -> None:
        """Add these sums to the stored ones."""
        for table, sums in self._tables().items():
            if sums:
                columns = SUM_COLUMNS[table]
                added = columns[len(next(iter(sums))) :]
                updates = ", ".join(f"{column} = {column} + excluded.{column}" for column in added)
                db.conn.executemany(
                    f"INSERT INTO {table} (ladder, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"
                    f" ON CONFLICT DO UPDATE SET {updates}",
                    [(ladder_id, *key, *values) for key, values in sums.items()],
                )
        self._save_notable(db, ladder_id)

    def _save_notable(self, db: Database, ladder_id: str) -> None:
        for key, added in self._notable.items():
            where = "ladder = ? AND version = ? AND kind = ?"
            rows = db.execute(f"SELECT value, seq, other FROM notable WHERE {where}", [ladder_id, *key])
            best = nlargest(_KEPT, [*(_Noted(*row) for row in rows), *added])
            db.execute(f"DELETE FROM notable WHERE {where}", [ladder_id, *key])
            db.conn.executemany(
                "INSERT INTO notable (ladder, version, kind, value, seq, other) VALUES (?, ?, ?, ?, ?, ?)",
                [(ladder_id, *key, *noted) for noted in best],
            )

    def rows(self) -> Iterator[tuple[str, list[SumRow]]]:
        """Yield each table and the rows that it has if nothing but these sums is stored, without the ladder."""
        for table, sums in self._tables().items():
            yield table, sorted((*key, *values) for key, values in sums.items())
        notable = [(key, entry) for key, noted in self._notable.items() for entry in nlargest(_KEPT, noted)]
        yield "notable", sorted((*key, noted.seq, noted.value, noted.other) for key, noted in notable)

    def _tables(self) -> dict[str, Mapping[Any, list[int]]]:
        seats: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0] * 6)
        for (version, number, ranks), count in self._seated.items():
            add_result(seats[version, number], _counted(ranks, number), count)
        pairs, triples = self.groups()
        return {"seat_sums": seats, "pair_sums": pairs, "triple_sums": triples}

    def groups(self) -> GroupSums:
        """Return the sums of the groups that are complete."""
        pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 3)
        triples: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0] * 4)
        for group, count in self._groups.items():
            halves = half_points(group)
            for pair, won in halves.items():
                add_result(pairs[pair], (1, won, won * won), count)
            for triple in _triples(group[0]):
                first, second = (halves[as_pair(triple[0], opponent)[0]] for opponent in triple[1:])
                add_result(triples[triple], (1, first, second, first * second), count)
        return GroupSums(pairs, triples)


SumKey = TypeVar("SumKey")


def added(sums: Mapping[SumKey, Sequence[int]], more: Mapping[SumKey, Sequence[int]]) -> dict[SumKey, Sequence[int]]:
    """Return the sums of both, by key."""
    both: dict[SumKey, Sequence[int]] = dict(sums)
    for key, values in more.items():
        both[key] = [old + new for old, new in zip(both[key], values, strict=True)] if key in both else values
    return both


@lru_cache(maxsize=1 << 12)
def _counted(ranks: Ranks, seat: int) -> tuple[int, ...]:
    """Return what a match adds to the sums of a seat, in the order of their columns."""
    rank_of_seat = ranks[seat]
    first, shared = rank_of_seat == 0, ranks.count(0) > 1
    halves = sum([2 if rank_of_seat < rank else rank_of_seat == rank for rank in ranks]) - 1
    return 1, first and not shared, first and shared, not first, rank_of_seat, halves


def _triples(order: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield each version of a group with every two others, in the order in which they are stored."""
    for version in order:
        for first, second in combinations(sorted([label for label in order if label != version]), 2):
            yield version, first, second


def _spread(sigma: float, sigma_: float) -> float:
    """Return the standard deviation of the difference of how well two bots play, by what is known of them."""
    return math.sqrt(2 * BETA * BETA + sigma * sigma + sigma_ * sigma_)  # a power rounds otherwise elsewhere


def stored_rows(db: Database, ladder_id: str, table: str) -> list[SumRow]:
    """Return the rows of a table, as `Sums.rows` has them."""
    rows = db.execute(f"SELECT {', '.join(SUM_COLUMNS[table])} FROM {table} WHERE ladder = ?", [ladder_id])
    return sorted(rows.fetchall())
