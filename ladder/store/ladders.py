"""Ladders and their schedules: which matches are to be played, and in which order."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ladder.newcomers import opponents
from ladder.schedule import canonical_json, line_up
from ladder.store import bots
from ladder.store.database import StoreError, write
from ladder.store.legs import Leg, close
from ladder.store.phases import Phase, behind_tried
from ladder.store.records import Counts, Lacking, Ladder, LadderKey, ScheduledMatch

if TYPE_CHECKING:
    from sqlite_utils import Database

BATCH = 500
"""Scheduled matches read at once; it bounds memory, however long the ladder is, and no more."""
TAKEN = 1_000
"""Groups taken out of a leg at once: a tenth of a second, in which nobody else can write."""


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
    finds the others missing. What an interrupted plan lacks is added to its leg.

    Returns 0 if nothing is lacking, or while an earlier leg still has matches to play: finish that one, then plan
    again. Also returns 0 if so many of the field are banned that the rest is too few. `field` are labels, or names for
    their newest versions. Raises NotFound and `schedule.TooFewBots`.
    """
    leg = next_leg(db, ladder, field, rounds, most)
    return sum(iter(leg.more, 0)) * ladder.key.seats


def next_leg(db: Database, ladder: Ladder, field: Iterable[str], rounds: int, most: int = sys.maxsize) -> Leg:
    """Return the leg that `plan` appends, of which nothing is stored yet: its `more` does so. Raises NotFound."""
    return Leg(db, ladder, [bots.find(db, name).label for name in field], rounds, most)


def newcomers(db: Database, ladder: Ladder, field: Collection[str]) -> list[str]:
    """Return those of a field, labels, who are in no group of the ladder, but for dropped ones."""
    unrated = {*field} - {*_ranked(db, ladder, field)}
    if not unrated:
        return []
    rows = db.execute(
        "SELECT DISTINCT bot.value FROM groups, json_each(groups.bots) bot WHERE ladder = ? AND dropped IS NULL"
        " AND bot.value IN (SELECT value FROM json_each(?))",
        [ladder.id, canonical_json(sorted(unrated))],
    )
    return sorted(unrated - {label for (label,) in rows})


def leg_of_newcomers(
    db: Database, ladder: Ladder, field: Collection[str], new: Collection[str], most: int = sys.maxsize
) -> Leg | None:
    """Return the leg with the first matches of new bots against some of the field; None if too few of it are rated."""
    others = opponents(_ranked(db, ladder, [label for label in field if label not in new]))
    if len(others) < ladder.key.seats - 1:
        return None
    return Leg(db, ladder, [*others, *new], 1, most, newcomers=new)


def lacking(db: Database, ladder: Ladder, field: Iterable[str], rounds: int) -> Lacking:
    """Return about how many groups these rounds of the field lack, by arithmetic: none of them is made.

    With two seats it is exact. `field` are labels, each once.
    """
    labels, seats = sorted({*field}), ladder.key.seats
    each = ladder.pairing.groups_each(len(labels), seats)
    rows = db.execute(
        "SELECT groups.round, bot.value, count(*) FROM groups, json_each(groups.bots) bot"
        " WHERE ladder = :ladder AND round < :rounds AND dropped IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM json_each(groups.bots) WHERE value NOT IN (SELECT value FROM json_each(:field)))"
        " GROUP BY groups.round, bot.value",
        {"ladder": ladder.id, "rounds": rounds, "field": canonical_json(labels)},
    )
    there: dict[int, dict[str, int]] = {}
    for number, label, count in rows:
        there.setdefault(number, {})[label] = count
    groups, by_bot = 0, Counter[str]()
    for of_round, times in [*((counts, 1) for counts in there.values()), ({}, rounds - len(there))]:
        own = [max(0, each - of_round.get(label, 0)) for label in labels]
        total = max(-(-sum(own) // seats), *own)
        with_others = (total * seats - sum(own)) // len(labels)  # of a new bot with those that have played
        groups += total * times
        by_bot.update({label: (count + with_others) * times for label, count in zip(labels, own, strict=True)})
    return Lacking(groups, by_bot)


def end_leg(db: Database, ladder: Ladder) -> int:
    """Take out what was not begun of the last leg, the groups after its last block; return how many matches they had.

    A later plan finds them missing again, if they still are. Call it between two blocks.
    """
    taken = 0
    with write(db):
        close(db, ladder)
        (end,) = db.execute("SELECT coalesce(max(end), 0) FROM blocks WHERE ladder = ?", [ladder.id]).fetchone()
        begin = behind_tried(db, ladder, end)  # an older arena played without blocks
    while piece := _shorten(db, ladder, begin):
        taken += piece
    return taken


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


def _ranked(db: Database, ladder: Ladder, field: Collection[str]) -> list[str]:
    """Return those of a field that are rated, the highest shown rating first."""
    rows = db.execute(
        "SELECT version FROM ratings WHERE ladder = ? AND version IN (SELECT value FROM json_each(?))"
        " ORDER BY mu - 3 * sigma DESC, version",
        [ladder.id, canonical_json(sorted(field))],
    )
    return [label for (label,) in rows]


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


def _shorten(db: Database, ladder: Ladder, begin: int) -> int:
    """Take the last groups out of the last leg, at most `TAKEN` and none before seq `begin`; return how many matches.

    What is left is the beginning of the leg, as of one that was ended there.
    """
    with write(db):
        (leg,) = db.execute("SELECT max(leg) FROM legs WHERE ladder = ?", [ladder.id]).fetchone()
        (behind,) = db.execute("SELECT coalesce(max(seq) + 1, 0) FROM matches WHERE ladder = ?", [ladder.id]).fetchone()
        begin = max(begin, behind - TAKEN * ladder.key.seats)
        first = db.execute(
            "SELECT g.position, g.id FROM groups g JOIN matches m ON m.group_id = g.id"
            " WHERE m.ladder = ? AND m.seq >= ? AND g.leg = ? ORDER BY m.seq LIMIT 1",
            [ladder.id, begin, leg],
        ).fetchone()
        if first is None:
            return 0
        found = {"ladder": ladder.id, "leg": leg, "begin": begin, "first": first[0], "id": first[1]}
        # groups of a leg have ascending ids
        beyond = "id >= :id AND ladder = :ladder AND leg = :leg"
        matches = f"DELETE FROM matches WHERE group_id IN (SELECT id FROM groups WHERE {beyond})"
        taken = db.execute(matches, found).rowcount
        db.execute(f"DELETE FROM groups WHERE {beyond}", found)
        # Dropped ones at its end were passed over by the ratings: their places are free again.
        db.execute("UPDATE ladders SET folded = min(folded, :begin) WHERE id = :ladder", found)
        if found["first"]:
            db.execute("UPDATE legs SET most = :first WHERE ladder = :ladder AND leg = :leg", found)
        else:
            db.execute("DELETE FROM legs WHERE ladder = :ladder AND leg = :leg", found)
            db.execute("UPDATE groups SET absent = :leg WHERE ladder = :ladder AND absent > :leg", found)
    return int(taken)


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
