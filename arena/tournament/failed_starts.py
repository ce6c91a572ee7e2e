"""Starts that fail: a machine that starts nothing any more would use up a whole schedule in seconds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from arena.referee.match import Void, VoidReason
from arena.tournament import NothingStarts
from arena.worker.jobs import Played, Task

_STARTLESS = frozenset({VoidReason.NO_STARTS, VoidReason.SANDBOX})
"""Reasons for which a match is void that did not even begin."""
MANY_STARTLESS = 8
"""Deliveries in a row of which no match began, after which a run stops.

A short trouble is over by then; a long one would make match after match unplayable.
"""


class _InARow(NamedTuple):
    """Deliveries in a row of which no match began."""

    times: int
    bots: frozenset[str]
    """Labels of the bots that were in all of these matches."""
    reasons: frozenset[VoidReason]
    last: Void


class FailedStarts:
    """The deliveries in a row, up to the latest, of which no match began.

    They count by deliveries, since one failed start may keep many matches from beginning.
    """

    def __init__(self) -> None:
        self._in_a_row: _InARow | None = None
        """None if a match of the latest delivery began."""

    def note(self, tasks: Collection[Task], results: Sequence[Played]) -> None:
        """Count a delivery: the matches that were dealt, and what became of them."""
        voids = [result.void for result in results if result.void is not None and result.void.reason in _STARTLESS]
        if len(voids) < len(results):
            self._in_a_row = None
        elif voids:
            bots = frozenset.intersection(*(frozenset(entrant.label for entrant in task.lineup) for task in tasks))
            before = self._in_a_row or _InARow(0, bots, frozenset(), voids[-1])
            reasons = before.reasons | {void.reason for void in voids}
            self._in_a_row = _InARow(before.times + 1, before.bots & bots, reasons, voids[-1])

    def check(self) -> None:
        """Raise NothingStarts if starts failed again and again, and one bot in all those matches is not the reason."""
        starts = self._in_a_row
        if starts is None or starts.times < MANY_STARTLESS:
            return
        if starts.reasons == {VoidReason.NO_STARTS} or not starts.bots:
            why = " ".join(str(starts.last).split())
            again = "run the command again when that is mended, and it goes on"
            raise NothingStarts(f"{why} (nothing began {starts.times} times in a row); {again}")
