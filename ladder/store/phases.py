"""Phases: which matches may be played together, so that no two of them share a seed.

A block is some groups in schedule order. Its first phase plays the first rotation of every group, the next phase the
second rotation, and so on. Where a match was void or taken back, one more phase plays that rotation again. How many
groups a block has is decided while its first phase is played, and stored, so that it can be checked: no match of a
rotation began before those of the previous rotation were over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ladder.store.database import write
from ladder.store.records import Ladder

if TYPE_CHECKING:
    from sqlite_utils import Database


class Phase(NamedTuple):
    """The matches of one rotation from seq `begin` to before `end`; without an end its block is still open."""

    rotation: int
    begin: int = 0
    end: int | None = None


def next_phase(db: Database, ladder: Ladder) -> Phase | None:
    """Return the phase to play next; None if nothing is left to play."""
    first, rotation = db.execute(
        "SELECT seq, rotation FROM matches WHERE ladder = ? AND status = 'scheduled' ORDER BY seq LIMIT 1", [ladder.id]
    ).fetchone() or (None, None)
    if first is None:
        return None
    begin = first - rotation
    block = db.execute(
        "SELECT begin, end FROM blocks WHERE ladder = ? AND begin <= ? AND end > ?", [ladder.id, begin, begin]
    ).fetchone()
    if block is None:
        return Phase(0, begin)
    (rotation,) = db.execute(
        "SELECT min(rotation) FROM matches WHERE ladder = ? AND status = 'scheduled' AND seq >= ? AND seq < ?",
        [ladder.id, *block],
    ).fetchone()
    return Phase(rotation, *block)


def matches_left(db: Database, ladder: Ladder, phase: Phase) -> int:
    """Count the matches of an open phase that are still to be played."""
    (matches,) = db.execute(
        "SELECT count(*) FROM matches WHERE ladder = ? AND status = 'scheduled' AND rotation = ? AND seq >= ?",
        [ladder.id, phase.rotation, phase.begin],
    ).fetchone()
    return int(matches)


def close_block(db: Database, ladder: Ladder, begin: int, end: int) -> None:
    """Store that a block ends before seq `end`, or later if matches after that were tried already."""
    with write(db):
        if (end := behind_tried(db, ladder, end)) > begin:  # otherwise the whole block was dropped meanwhile
            db.execute("INSERT INTO blocks (ladder, begin, end) VALUES (?, ?, ?)", [ladder.id, begin, end])


def behind_tried(db: Database, ladder: Ladder, seq: int) -> int:
    """Return the first seq, from this one on, of a group of which nothing was tried, nor of any group behind it."""
    (behind,) = db.execute(
        "SELECT max(seq - rotation + ?) FROM matches WHERE ladder = ? AND seq >= ?"
        " AND (status IN ('done', 'annulled') OR voids != '[]')",
        [ladder.key.seats, ladder.id, seq],
    ).fetchone()
    return max(seq, behind or 0)
