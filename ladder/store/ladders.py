"""Ladders and their schedules: which matches are to be played, and in which order."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ladder.schedule import Basis, Group, Order, canonical_json, line_up, match_id, match_seed
from ladder.store import bots
from ladder.store.database import StoreError, write
from ladder.store.journal import bans
from ladder.store.phases import Phase, behind_tried
from ladder.store.records import ATTEMPTS_UNTIL_UNPLAYABLE, Counts, Ladder, LadderKey, ScheduledMatch

if TYPE_CHECKING:
    from sqlite_utils import Database

BATCH = 500
"""Groups written, or scheduled matches read, at once; it bounds memory, however long the ladder is, and no more."""
NEXT_LEG = (
    "coalesce((SELECT g.leg + 1 FROM matches m JOIN groups g ON g.id = m.group_id WHERE m.ladder = {ladder}"
    " ORDER BY m.seq DESC LIMIT 1), 0)"
)
"""The number that the next leg of a ladder will have, as SQL that reads one match."""
_DROPPED = "SELECT group_id FROM matches WHERE ladder = :ladder AND status IN ('dropped', 'annulled')"
"""The groups of a ladder that were dropped: each has such a match, and an index leads to these."""


def find_or_make(db: Database, key: LadderKey, *, draw_probability: float, seed: str | None = None) -> Ladder:
    """Return the ladder of a key; if there is none, make it with this draw probability.

    Its event seed comes from `seed` or, without one, from the operating system. Raises StoreError if there is a ladder
    whose event seed is not that of `seed`.
    """
    with write(db):
        known = find(db, key.id) or _make(db, key, draw_probability, seed)
    if seed is not None and known.event_seed != _hashed(seed):
        own = "one made by the operating system" if known.seed_text is None else repr(known.seed_text)
        raise StoreError(f"ladder {known.id} keeps its seed, {own}: choose another home to play with {seed!r}")
    return known


def find(db: Database, ladder_id: str) -> Ladder | None:
    """Return the ladder with this id (`LadderKey.id`), or None if it was never begun."""
    return next((_ladder(row) for row in db.query("SELECT * FROM ladders WHERE id = ?", [ladder_id])), None)


def all(db: Database, game: str | None = None, seats: int | None = None) -> tuple[Ladder, ...]:
    """Return the ladders of a game and a number of seats, or of any; the one played last comes first."""
    rows = db.query(
        "SELECT * FROM ladders WHERE game = coalesce(:game, game) AND seats = coalesce(:seats, seats)"
        " ORDER BY coalesce(last_played, created) DESC, rowid DESC",
        {"game": game, "seats": seats},
    )
    return tuple(_ladder(row) for row in rows)


def plan(db: Database, ladder: Ladder, field: Iterable[str], rounds: int, most: int = sys.maxsize) -> int:
    """Append a leg with every match that these rounds of the field still lack; return how many matches it has.

    It has at most the first `most` groups of them, and a pairing may need results before it goes on; the next plan
    finds the others missing.

    Returns 0 if nothing is lacking, or while an earlier leg still has matches to play: finish that one, then plan
    again. Also returns 0 if so many of the field are banned that the rest is too few. `field` are labels, or names for
    their newest versions. Raises NotFound and `schedule.TooFewBots`.
    """
    labels = [bots.find(db, name).label for name in field]
    with write(db):
        banned = bans(db)  # perhaps since somebody chose the field
        here = [label for label in labels if label.partition("@")[0] not in banned]
        if len(here) < ladder.key.seats and len(here) < len(labels):
            return 0
        labels = here
        if counts(db, ladder).scheduled or _is_planned(db, ladder, labels, rounds):
            return 0
        start = _start(db, ladder)
        groups = enumerate(ladder.pairing.missing(_basis(db, ladder, labels, rounds, start.leg)))
        dropped = _dropped(db, ladder)
        planned = 0
        while batch := list(islice(groups, min(BATCH, most - planned))):
            _insert(db, ladder, start, batch, dropped)
            planned += len(batch)
        if planned:
            _insert_leg(db, ladder, start.leg, labels, rounds, most if planned == most else None)
    return planned * ladder.key.seats


def end_leg(db: Database, ladder: Ladder) -> int:
    """Take out what was not begun of the last leg, the groups after its last block; return how many matches they had.

    A later plan finds them missing again, if they still are. Call it between two blocks.
    """
    with write(db):
        (leg,) = db.execute("SELECT max(leg) FROM legs WHERE ladder = ?", [ladder.id]).fetchone()
        (end,) = db.execute("SELECT coalesce(max(end), 0) FROM blocks WHERE ladder = ?", [ladder.id]).fetchone()
        begin = behind_tried(db, ladder, end)  # an older arena played without blocks
        (first,) = db.execute(
            "SELECT min(position) FROM groups g JOIN matches m ON m.group_id = g.id"
            " WHERE m.ladder = ? AND m.seq >= ? AND g.leg = ?",
            [ladder.id, begin, leg],
        ).fetchone()
        if first is None:
            return 0
        found = {"ladder": ladder.id, "leg": leg, "begin": begin, "first": first}
        beyond = "ladder = :ladder AND leg = :leg AND position >= :first"
        matches = f"DELETE FROM matches WHERE group_id IN (SELECT id FROM groups WHERE {beyond})"
        taken = db.execute(matches, found).rowcount
        db.execute(f"DELETE FROM groups WHERE {beyond}", found)
        # Dropped ones at its end were passed over by the ratings: their places are free again.
        db.execute("UPDATE ladders SET folded = min(folded, :begin) WHERE id = :ladder", found)
        if first:
            db.execute("UPDATE legs SET most = :first WHERE ladder = :ladder AND leg = :leg", found)
        else:
            db.execute("DELETE FROM legs WHERE ladder = :ladder AND leg = :leg", found)
            db.execute("UPDATE groups SET absent = :leg WHERE ladder = :ladder AND absent > :leg", found)
    return int(taken)


def scheduled(
    db: Database, ladder: Ladder, phase: Phase | None = None, *, retry: bool = False
) -> Iterator[ScheduledMatch]:
    """Yield the matches to play in schedule order, all or those of a phase, with unplayable ones if `retry`.

    Results may be recorded meanwhile. A match that is void then comes again in the next call, not in this one.
    """
    rotation, begin, end = phase or (None, 0, None)
    while page := _page(db, ladder, retry, rotation, begin, end):
        yield from page
        begin = page[-1].seq + 1


def counts(db: Database, ladder: Ladder) -> Counts:
    """Count the matches of a ladder by status.

    Those that are done are what the others leave of all, which are as many as seqs: to count them would take long.
    """
    rows = db.execute(
        "SELECT status, count(*) FROM matches WHERE ladder = :ladder"
        " AND status IN ('scheduled', 'unplayable', 'dropped', 'annulled') GROUP BY status"
        " UNION ALL SELECT 'all', coalesce(max(seq) + 1, 0) FROM matches WHERE ladder = :ladder",
        {"ladder": ladder.id},
    )
    found = dict(rows)
    every = found.pop("all")
    return Counts(**found, done=every - sum(found.values()))


def awaited(db: Database, ladder: Ladder, *, retry: bool = False) -> tuple[str, ...]:
    """Return the labels of the bots in matches that are still to be played, with unplayable ones if `retry`."""
    rows = db.execute(
        "SELECT DISTINCT bot.value FROM groups g, json_each(g.bots) bot WHERE g.id IN"
        " (SELECT group_id FROM matches WHERE ladder = ? AND status IN ('scheduled', ?)) ORDER BY bot.value",
        [ladder.id, "unplayable" if retry else "scheduled"],
    )
    return tuple(label for (label,) in rows)


def to_play(db: Database, ladder: Ladder) -> dict[str, int]:
    """Return by label how many matches each bot is still to play."""
    rows = db.execute(
        "SELECT bot.value, count(*) FROM matches m JOIN groups g ON g.id = m.group_id, json_each(g.bots) bot"
        " WHERE m.ladder = ? AND m.status = 'scheduled' GROUP BY bot.value",
        [ladder.id],
    )
    return dict(rows)


def waiting(db: Database, ladder: Ladder) -> tuple[str, ...]:
    """Return the labels of the bots that were ever in the field, have no rated match and are not retired."""
    rows = db.execute(
        "SELECT DISTINCT value FROM legs, json_each(legs.field) WHERE ladder = ?"
        " AND value NOT IN (SELECT version FROM ratings WHERE ladder = legs.ladder"
        " UNION SELECT label FROM versions WHERE retired IS NOT NULL) ORDER BY value",
        [ladder.id],
    )
    return tuple(label for (label,) in rows)


def founders(db: Database, ladder: Ladder) -> tuple[str, ...]:
    """Return the labels of the bots whose mean mu is the zero of ratings: those that the ladder began with.

    So no rating changes because others enter, or go. None for a ladder that an older arena began: its zero is the mean
    of the field as it is now.
    """
    row = db.execute(
        "SELECT field FROM legs JOIN ladders ON id = ladder WHERE ladder = ? AND zero = 'founders'"
        " ORDER BY leg LIMIT 1",
        [ladder.id],
    ).fetchone()
    return tuple(json.loads(row[0])) if row else ()


def _make(db: Database, key: LadderKey, draw_probability: float, seed: str | None) -> Ladder:
    event_seed = os.urandom(32) if seed is None else _hashed(seed)
    made = Ladder(key.id, key, draw_probability, event_seed, seed, time.time(), None)
    options, limits = canonical_json(key.options), canonical_json(key.limits)
    db.execute(
        "INSERT INTO ladders (id, game, seats, options, limits, rules_version, pairing,"
        " draw_probability, event_seed, seed_text, created, zero) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'founders')",
        [made.id, key.game, key.seats, options, limits, key.rules_version, key.pairing, *made[2:6]],
    )
    return made


def _hashed(seed: str) -> bytes:
    return sha256(seed.encode()).digest()


def _ladder(row: Mapping[str, Any]) -> Ladder:
    options, limits = json.loads(row["options"]), json.loads(row["limits"])
    key = LadderKey(row["game"], row["seats"], options, limits, row["rules_version"], row["pairing"])
    return Ladder(row["id"], key, *(row[name] for name in Ladder._fields[2:]))


class _Start(NamedTuple):
    """Where a new leg begins."""

    leg: int
    group_id: int
    seq: int


def _start(db: Database, ladder: Ladder) -> _Start:
    row = db.execute(
        f"SELECT {NEXT_LEG.format(ladder=':ladder')}, (SELECT coalesce(max(id), 0) + 1 FROM groups),"
        " (SELECT coalesce(max(seq), -1) + 1 FROM matches WHERE ladder = :ladder)",
        {"ladder": ladder.id},
    ).fetchone()
    return _Start(*row)


def _basis(db: Database, ladder: Ladder, field: Collection[str], rounds: int, leg: int) -> Basis:
    orders, points_there = partial(_orders, db, ladder), partial(points, db, ladder, leg)
    return Basis(field, ladder.key.seats, rounds, leg, ladder.event_seed, orders, points_there)


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
    legs = "SELECT leg, field FROM legs WHERE ladder = ? AND rounds >= ? AND most IS NULL ORDER BY leg DESC"
    for leg, text in db.execute(legs, [ladder.id, rounds]):
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


def _insert_leg(db: Database, ladder: Ladder, leg: int, bots: Sequence[str], rounds: int, most: int | None) -> None:
    """Store the field and rounds that a leg was planned for, and how many groups it has if they may lack others."""
    values = [ladder.id, leg, _field(bots), rounds, most]
    db.execute("INSERT INTO legs (ladder, leg, field, rounds, most, phased, even) VALUES (?, ?, ?, ?, ?, 1, 1)", values)


def _orders(db: Database, ladder: Ladder, round_number: int) -> set[Order]:
    rows = db.execute(
        "SELECT bots FROM groups WHERE ladder = ? AND round = ? AND dropped IS NULL", [ladder.id, round_number]
    )
    return {tuple(json.loads(bots)) for (bots,) in rows}


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
    db: Database,
    ladder: Ladder,
    start: _Start,
    groups: Iterable[tuple[int, Group]],
    dropped: Mapping[tuple[int, str], int],
) -> None:
    """Store groups with their positions in the leg, and a match for each of their rotations."""
    group_rows, match_rows = [], []
    for position, found in groups:
        group_id, bots = start.group_id + position, canonical_json(found.order)
        group = found._replace(again=dropped.get((found.round, bots), 0))
        seed = match_seed(ladder.event_seed, ladder.id, group)
        group_rows.append((group_id, ladder.id, start.leg, position, group.round, bots, group.again, seed))
        seq = start.seq + position * ladder.key.seats
        for rotation in range(ladder.key.seats):
            match_rows.append((match_id(ladder.id, group, rotation), ladder.id, group_id, rotation, seq + rotation))
    db.conn.executemany(
        "INSERT INTO groups (id, ladder, leg, position, round, bots, again, seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        group_rows,
    )
    db.conn.executemany("INSERT INTO matches (id, ladder, group_id, rotation, seq) VALUES (?, ?, ?, ?, ?)", match_rows)


def _page(
    db: Database, ladder: Ladder, retry: bool, rotation: int | None, begin: int, end: int | None
) -> list[ScheduledMatch]:
    rows = db.execute(
        "SELECT m.id, g.seed, m.rotation, g.bots, json_array_length(m.voids), m.seq"
        " FROM matches m JOIN groups g ON g.id = m.group_id"
        " WHERE m.ladder = ? AND m.status IN ('scheduled', ?) AND m.rotation = coalesce(?, m.rotation)"
        " AND m.seq >= ? AND m.seq < ? ORDER BY m.seq LIMIT ?",
        [ladder.id, "unplayable" if retry else "scheduled", rotation, begin, end or sys.maxsize, BATCH],
    )
    return [
        ScheduledMatch(id, seed, rotation, line_up(bots, rotation), attempts, seq)
        for id, seed, rotation, bots, attempts, seq in rows
    ]
