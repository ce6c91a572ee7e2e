"""Second chances: a version whose process fails has all its running matches taken back, once in a ladder."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ladder.schedule import canonical_json
from ladder.store import bots
from ladder.store.database import write
from ladder.store.journal import NewEntry, note
from ladder.store.records import Ladder

if TYPE_CHECKING:
    from sqlite_utils import Database


class Chance(NamedTuple):
    """A second chance that a version used in a ladder; times are seconds since 1970."""

    ladder: str
    game: str
    seats: int
    used: float
    forgiven: float | None
    fault: str
    """What had happened, in words."""


def by_label(db: Database, ladder: Ladder) -> dict[str, Mapping[str, Any]]:
    """Return the labels that have used their second chance in a ladder, unless forgiven, with evidence of the fault."""
    rows = db.execute(
        "SELECT version, evidence FROM chances WHERE ladder = ? AND forgiven IS NULL ORDER BY used", [ladder.id]
    )
    return {label: json.loads(evidence) for label, evidence in rows}


def of_bot(db: Database, label: str) -> tuple[Chance, ...]:
    """Return every second chance that a version used, in all ladders, including those it was given back."""
    rows = db.execute(
        "SELECT c.ladder, l.game, l.seats, c.used, c.forgiven, json_extract(c.evidence, '$.detail')"
        " FROM chances c JOIN ladders l ON l.id = c.ladder WHERE c.version = ? ORDER BY c.used",
        [label],
    )
    return tuple(itertools.starmap(Chance, rows))


def use(db: Database, ladder: Ladder, label: str, evidence: Mapping[str, Any]) -> bool:
    """Store that a version has used its second chance; return False if it had none left.

    From now on it plays one match at a time, and each fault costs it that match.
    """
    with write(db):
        if label in by_label(db, ladder):
            return False
        db.execute(
            "INSERT INTO chances (ladder, version, used, evidence) VALUES (?, ?, ?, ?)",
            [ladder.id, label, time.time(), canonical_json(evidence)],
        )
        return True


def forgive(db: Database, ladder: Ladder, name: str) -> bool:
    """Give a version, and all with the same program, their second chance back; the use stays on record.

    Return False if none of them had used it. Raises NotFound.
    """
    meant = bots.find(db, name)
    with write(db):
        forgiven = db.execute(
            "UPDATE chances SET forgiven = ? WHERE ladder = ? AND forgiven IS NULL"
            " AND version IN (SELECT label FROM versions WHERE digest = ?)",
            [time.time(), ladder.id, meant.digest],
        )
        if forgiven.rowcount:
            note(db, NewEntry("forgive", meant.label, ladder=ladder.id))
        return bool(forgiven.rowcount)
