"""Matches that are worth a look: which are kept for a ladder and for a bot is decided in `ladder.store.sums`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder.schedule import line_up
from ladder.store.records import Ladder
from ladder.store.sums import FORFEIT, LOST, NARROW, WON

if TYPE_CHECKING:
    from sqlite_utils import Database

NOTABLE_KINDS = (FORFEIT, LOST, WON, NARROW)
"""Kinds of notable matches, in the order in which they are returned."""


class Notable(NamedTuple):
    """A match of a version that is worth looking at first; `value` and `other` are explained in `ladder.store.sums`."""

    kind: str
    value: float
    other: str | None
    id: str
    line_up: tuple[str, ...]
    seat: int
    rank: int
    score: int
    forfeit: str | None


def of_version(db: Database, ladder: Ladder, label: str) -> list[Notable]:
    """Return the matches of a version to look at first: by kind, and of each kind the most notable first."""
    return _selected(db, "n.ladder = ? AND n.version = ? ORDER BY n.value DESC, n.seq DESC", [ladder.id, label])


def of_ladder(db: Database, ladder: Ladder, most: int) -> list[Notable]:
    """Return so many matches of each kind to look at first, of all versions; upsets as seen by whoever lost."""
    return [
        match
        for kind in (FORFEIT, LOST, NARROW)
        for match in _selected(
            db, "n.ladder = ? AND n.kind = ? ORDER BY n.value DESC, n.seq DESC LIMIT ?", [ladder.id, kind, most]
        )
    ]


def _selected(db: Database, where: str, values: Sequence[object]) -> list[Notable]:
    rows = db.execute(
        "SELECT n.kind, n.value, n.other, m.id, g.bots, m.rotation, s.seat, s.rank, s.score, s.forfeit FROM notable n"
        " JOIN matches m ON m.ladder = n.ladder AND m.seq = n.seq JOIN groups g ON g.id = m.group_id"
        f" JOIN seats s ON s.match = m.id AND s.version = n.version WHERE {where}",
        values,
    ).fetchall()
    rows.sort(key=lambda row: NOTABLE_KINDS.index(row[0]))
    return [
        Notable(kind, value, rival, match, line_up(bots, rotation), seat, rank, int(score), forfeit)
        for kind, value, rival, match, bots, rotation, seat, rank, score, forfeit in rows
    ]
