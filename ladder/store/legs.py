"""Legs: what runs of a ladder add to its schedule, written as it is reached."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, NamedTuple

from ladder.newcomers import groups_of
from ladder.schedule import NEWEST_RULE, Basis, Group, Order, canonical_json, match_id, match_seed
from ladder.store.database import changes, write
from ladder.store.journal import bans
from ladder.store.records import ATTEMPTS_UNTIL_UNPLAYABLE, Ladder

if TYPE_CHECKING:
    from sqlite_utils import Database

PIECE = 500
"""Groups written at once: 30 to 60 ms, in which nobody else can write. More would make others wait, fewer cost more."""
NEXT_LEG = (
    "coalesce((SELECT g.leg + 1 FROM matches m JOIN groups g ON g.id = m.group_id WHERE m.ladder = {ladder}"
    " ORDER BY m.seq DESC LIMIT 1), 0)"
)
"""The number that the next leg of a ladder will have, as SQL that reads one match."""
_DROPPED = "SELECT group_id FROM matches WHERE ladder = :ladder AND status IN ('dropped', 'annulled')"
"""The groups of a ladder that were dropped: each has such a match, and an index leads to these."""


class Leg:
    """A leg that a run adds or, if an earlier run was interrupted in it, goes on with.

    Its groups are stored piece by piece. All of them follow from what was there when it began, so they are the same
    wherever the pieces end. Until the last one is stored, what is there is the leg's beginning, as of one that was
    ended: see `most` of table legs.
    """

    def __init__(
        self,
        db: Database,
        ladder: Ladder,
        field: Sequence[str],
        rounds: int,
        most: int = sys.maxsize,
        *,
        newcomers: Collection[str] = (),
    ) -> None:
        """Prepare a leg of at most `most` further groups that these rounds of the field, labels, lack.

        If some of them are `newcomers`, it has only their first matches, against the others.
        """
        self._db = db
        self._ladder = ladder
        self._field = field
        self._rounds = rounds
        self._newcomers = newcomers
        self._left = most
        """How many groups may still be stored."""
        self._begun: _Begun | None = None
        """What is known of the leg once a piece of it is stored."""
        self.is_whole = False
        """Whether no group will follow."""

    def more(self, without: Collection[str] = ()) -> int:
        """Store the next groups, up to `PIECE`; return how many. 0: there are no more, or an earlier leg comes first.

        Matches of bots that were banned meanwhile, and of those `without`, are dropped at once. None are stored if so
        many of the field are banned that the rest is too few. Raises `schedule.TooFewBots`.
        """
        if self._begun is None and not self.is_whole and (stored := self._begin()) is not None:
            return stored
        if (begun := self._begun) is None or self.is_whole:
            return 0
        groups = self._next(begun)
        with write(self._db):
            gone = {*without, *begun.gone, *_banned(self._db, begun.field)}
            self._store(begun, groups, gone)
        return len(groups)

    def _begin(self) -> int | None:
        """Store the first piece of a new leg, and return how many groups; None if an earlier run began the leg."""
        while True:
            seen = changes(self._db)
            banned = _banned(self._db, self._field)  # perhaps since somebody chose the field
            here = [label for label in self._field if label not in banned]
            if len(here) < self._ladder.key.seats and banned:
                self.is_whole = True
                return 0
            if not self._newcomers and self._resume(here):
                return None
            if _is_scheduled(self._db, self._ladder) or self._is_planned(here):
                self.is_whole = True
                return 0
            begun = self._new(here)
            groups = self._next(begun)
            with write(self._db):
                if changes(self._db) != seen:  # others were faster: of what they dropped the leg may need groups
                    continue
                close(self._db, self._ladder)
                if groups:
                    _insert_leg(self._db, self._ladder, begun, self._rounds, self._newcomers)
                    self._begun = begun
                self._store(begun, groups, ())
            return len(groups)

    def _new(self, field: Sequence[str]) -> _Begun:
        leg, group_id, seq = self._db.execute(
            f"SELECT {NEXT_LEG.format(ladder=':ladder')}, (SELECT coalesce(max(id), 0) + 1 FROM groups),"
            " (SELECT coalesce(max(seq), -1) + 1 FROM matches WHERE ladder = :ladder)",
            {"ladder": self._ladder.id},
        ).fetchone()
        on = basis(self._db, self._ladder, field, self._rounds, leg)
        groups = groups_of(self._ladder.pairing, on._replace(newcomers=self._newcomers))
        return _Begun(field, leg, group_id, seq, count(), groups, _dropped(self._db, self._ladder))

    def _is_planned(self, field: Sequence[str]) -> bool:
        return not self._newcomers and _is_planned(self._db, self._ladder, field, self._rounds)

    def _resume(self, field: Sequence[str]) -> bool:
        """Go on with the last leg if it is open and meant for this field and no more rounds; return whether it is.

        It is meant for it, too, if those that are missing were retired or banned: what is theirs is dropped.
        """
        leg, text, rounds, most, rule = self._db.execute(
            "SELECT leg, field, rounds, most, rule FROM legs WHERE ladder = ? AND open AND newcomers IS NULL"
            " ORDER BY leg DESC LIMIT 1",
            [self._ladder.id],
        ).fetchone() or (None, "[]", 0, 0, 0)
        of_leg = json.loads(text)
        if leg is None or rounds > self._rounds or not {*field} <= {*of_leg}:
            return False
        gone = {*of_leg} - {*field}
        if not gone <= _retired(self._db) | _banned(self._db, of_leg):
            return False
        group_id, seq, position, last_round = self._db.execute(
            "SELECT (SELECT max(id) FROM groups) + 1, m.seq - m.rotation, g.position, g.round"
            " FROM matches m JOIN groups g ON g.id = m.group_id WHERE m.ladder = ? ORDER BY m.seq DESC LIMIT 1",
            [self._ladder.id],
        ).fetchone()
        seats = self._ladder.key.seats
        first_seq = seq - position * seats
        (done,) = self._db.execute(
            "SELECT count(*) FROM groups WHERE ladder = ? AND round = ? AND id >="
            " (SELECT group_id FROM matches WHERE ladder = ? AND seq = ?)",
            [self._ladder.id, last_round, self._ladder.id, first_seq],
        ).fetchone()
        on = basis(self._db, self._ladder, of_leg, rounds, leg, begin=last_round)._replace(rule=rule)
        groups = islice(self._ladder.pairing.missing(on), done, None)
        dropped = _dropped(self._db, self._ladder)
        self._begun = _Begun(of_leg, leg, group_id - most, first_seq, count(most), groups, dropped, gone)
        return True

    def _next(self, begun: _Begun) -> list[tuple[int, Group]]:
        """Return the groups of the next piece, with their positions."""
        return [(next(begun.positions), group) for group in islice(begun.groups, min(PIECE, self._left))]

    def _store(self, begun: _Begun, groups: Sequence[tuple[int, Group]], gone: Collection[str]) -> None:
        """Store a piece, and that the leg has it; within the caller's transaction."""
        asked = min(PIECE, self._left)
        _insert(self._db, self._ladder, begun, groups, gone)
        self._left -= len(groups)
        self.is_whole = len(groups) < asked or not self._left
        if groups:
            self._db.execute(
                "UPDATE legs SET most = ? WHERE ladder = ? AND leg = ?",
                [groups[-1][0] + 1, self._ladder.id, begun.leg],
            )
        if len(groups) < asked:
            self._db.execute(
                "UPDATE legs SET most = NULL, open = 0 WHERE ladder = ? AND leg = ?", [self._ladder.id, begun.leg]
            )
        elif self.is_whole:
            close(self._db, self._ladder)


class _Begun(NamedTuple):
    """A leg of which groups are stored, or are about to be."""

    field: Sequence[str]
    leg: int
    group_id: int
    """That of its first group."""
    seq: int
    """That of its first match."""
    positions: Iterator[int]
    groups: Iterator[Group]
    dropped: Mapping[tuple[int, str], int]
    """How often each round and line-up was dropped before."""
    gone: Collection[str] = ()
    """Who was retired before it was gone on with."""


def close(db: Database, ladder: Ladder) -> None:
    """Store that no groups are added to the last leg any more, within the caller's transaction."""
    db.execute("UPDATE legs SET open = 0 WHERE ladder = ? AND open", [ladder.id])


def basis(db: Database, ladder: Ladder, field: Collection[str], rounds: int, leg: int, begin: int = 0) -> Basis:
    """Return what a leg follows from; all rounds before `begin` are known to be complete, by groups of its own, too."""
    orders_there, points_there = partial(_orders, db, ladder, leg, begin), partial(points, db, ladder, leg)
    return Basis(
        field,
        ladder.key.seats,
        rounds,
        leg,
        ladder.event_seed,
        orders_there,
        points_there,
        rule=NEWEST_RULE,
        begin=begin,
    )


def _is_planned(db: Database, ladder: Ladder, bots: Collection[str], rounds: int) -> bool:
    """Tell whether a leg was planned for these bots and at least these rounds, and played to its end.

    One that was ended early does not count, nor one of which a group was dropped since. Where rounds have every order
    of their bots, the leg of a larger field counts, too, and only groups of these bots alone can be missing. Where a
    leg may lack rounds that needed its results, none says anything.
    """
    if not ladder.pairing.PLANS_AHEAD:
        return False
    wanted, since = {*bots}, _dropped_until(db, ladder)
    own = _dropped_until(db, ladder, bots) if since else 0
    legs = db.execute(
        "SELECT leg, field FROM legs WHERE ladder = ? AND rounds >= ? AND most IS NULL AND newcomers IS NULL"
        " ORDER BY leg DESC",
        [ladder.id, rounds],
    )
    for leg, text in legs:
        field = {*json.loads(text)}
        if ladder.pairing.has_every_order(len(field), ladder.key.seats):
            is_planned = wanted <= field and leg >= own
        else:
            is_planned = wanted == field and leg >= since
        if is_planned:
            return True
    return False


def _dropped_until(db: Database, ladder: Ladder, bots: Iterable[str] | None = None) -> int:
    """Return the first leg that counts no dropped group as there, or none of these bots alone; 0 if all do."""
    query = f"SELECT coalesce(max(absent), 0) FROM groups WHERE id IN ({_DROPPED})"
    if bots is not None:
        field = "(SELECT value FROM json_each(:field))"
        query += f" AND NOT EXISTS (SELECT 1 FROM json_each(groups.bots) WHERE value NOT IN {field})"
    values = {"ladder": ladder.id, "field": None if bots is None else _field(bots)}
    return int(db.execute(query, values).fetchone()[0])


def _field(bots: Iterable[str]) -> str:
    """Return the canonical JSON of a field, as a leg stores it."""
    return canonical_json(sorted(set(bots)))


def _insert_leg(db: Database, ladder: Ladder, leg: _Begun, rounds: int, newcomers: Collection[str]) -> None:
    """Store the field and rounds that a leg is planned for, before its first groups."""
    db.execute(
        "INSERT INTO legs (ladder, leg, field, rounds, rule, newcomers, most, phased, even, open) "
        " VALUES (?, ?, ?, ?, ?, ?, 0, 1, 1, 1)",
        [ladder.id, leg.leg, _field(leg.field), rounds, NEWEST_RULE, _field(newcomers) if newcomers else None],
    )


def _orders(db: Database, ladder: Ladder, leg: int, begin: int, round_number: int) -> Iterator[Order]:
    """Yield the orders of a round that are there for a leg: of earlier ones and, before round `begin`, its own."""
    rows = db.execute(
        "SELECT bots FROM groups WHERE ladder = ? AND round = ? AND leg < ? AND (absent IS NULL OR absent > ?)",
        [ladder.id, round_number, leg + (round_number < begin), leg],
    )
    return (tuple(json.loads(bots)) for (bots,) in rows)


def _banned(db: Database, labels: Iterable[str]) -> set[str]:
    banned = bans(db)
    return {label for label in labels if label.partition("@")[0] in banned}


def _retired(db: Database) -> set[str]:
    return {label for (label,) in db.execute("SELECT label FROM versions WHERE retired IS NOT NULL")}


def _is_scheduled(db: Database, ladder: Ladder) -> bool:
    query = "SELECT EXISTS (SELECT 1 FROM matches WHERE ladder = ? AND status = 'scheduled')"
    return bool(db.execute(query, [ladder.id]).fetchone()[0])


def points(db: Database, ladder: Ladder, leg: int, round_number: int) -> dict[str, int]:
    """Return the half points that bots took in the groups of a round that were there when a leg was planned, by label.

    Two for each seat that a bot was placed before, one for a tie with it. Matches that were ever unplayable are left
    out: they may have been played since.
    """
    rows = db.execute(
        "SELECT own.version, sum(2 * (own.rank < other.rank) + (own.rank = other.rank))"
        " FROM groups g JOIN matches m ON m.group_id = g.id JOIN seats own ON own.match = m.id"
        " JOIN seats other ON other.match = m.id AND other.seat != own.seat"
        " WHERE g.ladder = ? AND g.round = ? AND g.leg < ? AND (g.absent IS NULL OR g.absent > ?)"
        " AND m.status IN ('done', 'annulled') AND json_array_length(m.voids) < ?"
        " GROUP BY own.version ORDER BY own.version",
        [ladder.id, round_number, leg, leg, ATTEMPTS_UNTIL_UNPLAYABLE],
    )
    return dict(rows)


def _dropped(db: Database, ladder: Ladder) -> dict[tuple[int, str], int]:
    """Count the dropped groups of each round and line-up."""
    rows = db.execute(
        f"SELECT round, bots, count(*) FROM groups WHERE id IN ({_DROPPED}) GROUP BY round, bots",
        {"ladder": ladder.id},
    )
    return {(round, bots): count for round, bots, count in rows}


def _insert(
    db: Database, ladder: Ladder, leg: _Begun, groups: Iterable[tuple[int, Group]], gone: Collection[str]
) -> None:
    """Store groups with their positions in the leg, and a match for each of their rotations; drop those of `gone`."""
    group_rows, match_rows = [], []
    now, gone = time.time(), frozenset(gone)
    for position, found in groups:
        group_id, bots = leg.group_id + position, canonical_json(found.order)
        group = found._replace(again=leg.dropped.get((found.round, bots), 0))
        seed = match_seed(ladder.event_seed, ladder.id, group)
        is_dropped = not gone.isdisjoint(found.order)
        dropped = (now, leg.leg + 1) if is_dropped else (None, None)
        group_rows.append((group_id, ladder.id, leg.leg, position, group.round, bots, group.again, seed, *dropped))
        seq, status = leg.seq + position * ladder.key.seats, "dropped" if is_dropped else "scheduled"
        for rotation in range(ladder.key.seats):
            match_rows.append(
                (match_id(ladder.id, group, rotation), ladder.id, group_id, rotation, seq + rotation, status)
            )
    db.conn.executemany(
        "INSERT INTO groups (id, ladder, leg, position, round, bots, again, seed, dropped, absent)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        group_rows,
    )
    db.conn.executemany(
        "INSERT INTO matches (id, ladder, group_id, rotation, seq, status) VALUES (?, ?, ?, ?, ?, ?)", match_rows
    )
