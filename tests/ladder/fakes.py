"""Bots, results and ladders without any program behind them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.store import database, schema

KEY = store.records.LadderKey("dice", 2, {"sides": 6}, {"limit": 1.0, "bank": 10.0}, rules_version=1)


def enter(db: Database, *names: str) -> list[str]:
    """Enter bots that play every game of these tests; gives their labels."""
    added = [
        store.bots.add(
            db, store.bots.NewBot(name, f"digest of {name}", games=["dice"], run=["bot"], origin="submitted")
        )[0]
        for name in names
    ]
    return [version.label for version in added]


def begin(db: Database, *names: str, seats: int = 2, rounds: int = 1, seed: str = "test") -> store.Ladder:
    """A ladder of these bots with its first leg planned."""
    ladder = store.ladders.find_or_make(db, KEY._replace(seats=seats), draw_probability=0.1, seed=seed)
    store.ladders.plan(db, ladder, enter(db, *names), rounds)
    return ladder


def scores(match: store.records.ScheduledMatch) -> list[int]:
    """What deterministic bots would score: a function of seed and line-up, small enough for ties to be frequent."""
    return [sha256(match.seed + f"{seat}/{label}".encode()).digest()[0] % 4 for seat, label in enumerate(match.line_up)]


def finished(match: store.records.ScheduledMatch) -> store.records.FinishedMatch:
    """The one result that this match has, every time it is played."""
    got = scores(match)
    outcomes = tuple(store.records.SeatOutcome(sum(other > own for other in got), own) for own in got)
    return store.records.FinishedMatch(
        match.id, outcomes, choices=repr(got).encode(), replay=b"packed " + repr(got).encode()
    )


def void(match: store.records.ScheduledMatch, times: int = 1) -> list[store.records.VoidMatch]:
    """Attempts that failed by the arena's fault."""
    return [store.records.VoidMatch(match.id, "DISK")] * times


def play(db: Database, ladder: store.Ladder) -> None:
    """Play all that is scheduled, rate it, and add it to the sums for cards."""
    store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder)])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)


def steps(db: Database, work: Callable[[], object]) -> int:
    """How many steps SQLite makes in this work: unlike seconds, they are the same on every machine."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    db.conn.set_progress_handler(count, 1)
    work()
    db.conn.set_progress_handler(None, 0)
    return taken


def older(home: Path, new: Path) -> None:
    """Make a home as an arena without sums would have left it, from one with them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", schema.MIGRATIONS[: schema.MIGRATIONS.index(schema._10_sums)])
        with store.open(home) as db:
            db.execute("PRAGMA foreign_keys = OFF")  # tables are copied in any order
            db.execute("ATTACH ? AS new", [str(new / "arena.db")])
            for table in db.table_names():
                columns = ", ".join(column.name for column in db[table].columns)
                db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
