"""Second chances: whose matches in flight were all taken back once, since one of its processes failed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ladder.schedule import canonical_json
from ladder.store.database import write
from ladder.store.records import Ladder
from ladder.store.versions import version

if TYPE_CHECKING:
    from sqlite_utils import Database


def chances(db: Database, ladder: Ladder) -> dict[str, Mapping[str, Any]]:
    """The labels of those who had theirs in a ladder and were not forgiven, with the evidence of the fault."""
    rows = db.execute(
        "SELECT version, evidence FROM chances WHERE ladder = ? AND forgiven IS NULL ORDER BY used", [ladder.id]
    )
    return {label: json.loads(evidence) for label, evidence in rows}


def use_chance(db: Database, ladder: Ladder, label: str, evidence: Mapping[str, Any]) -> bool:
    """Keep that a version had its second chance: from now on it plays one match at a time, and each fault costs it.

    False if it had none any more.
    """
    with write(db):
        if label in chances(db, ladder):
            return False
        db.execute(
            "INSERT INTO chances (ladder, version, used, evidence) VALUES (?, ?, ?, ?)",
            [ladder.id, label, time.time(), canonical_json(evidence)],
        )
        return True


def forgive(db: Database, ladder: Ladder, name: str) -> bool:
    """Give a version its second chance again, on record, and all with the same program; False if it has it.

    Raises NotFound.
    """
    digest = version(db, name).digest
    with write(db):
        forgiven = db.execute(
            "UPDATE chances SET forgiven = ? WHERE ladder = ? AND forgiven IS NULL"
            " AND version IN (SELECT label FROM versions WHERE digest = ?)",
            [time.time(), ladder.id, digest],
        )
        return bool(forgiven.rowcount)
