"""Which bots of a leaderboard are shown, where it has too many to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.store.records import Row

AROUND = 11
"""Bots that are shown around one, itself included, if nobody says how many: five on either side."""


class Chosen(NamedTuple):
    """Some bots of a leaderboard; without anything said, all. The names are labels, or names for newest versions."""

    most: int | None = None
    """The best so many or, with `around`, so many around that bot."""
    around: str | None = None
    bots: Sequence[str] = ()

    def of(self, db: Database, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of these bots, in their order. Raises NotFound for a bot that has none."""
        if not rows:
            return rows
        if self.bots:
            places = {_place(db, rows, name) for name in self.bots}
            return [rows[place] for place in sorted(places)]
        if self.around is None:
            return rows[: self.most]
        most = self.most or AROUND
        begin = max(0, min(_place(db, rows, self.around) - most // 2, len(rows) - most))
        return rows[begin : begin + most]


def _place(db: Database, rows: Sequence[Row], name: str) -> int:
    label = store.bots.find(db, name).label
    for place, row in enumerate(rows):
        if row.label == label:
            return place
    there = [row.label for row in rows if row.name == label.partition("@")[0]]
    instead = f"name {there[-1]} instead" if there else "`arena leaderboard` without it lists those that have"
    raise store.NotFound(f"{label} has no rated match in this ladder: {instead}")
