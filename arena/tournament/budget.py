"""How much a run may play, in matches or in time; it ends between two blocks, so that every group is complete."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

GROWTH = 16
"""How many times as many groups the next block may have: how long one takes is known from a few groups only."""

_SPARED = 0.2
"""Part of the time left that a run which must not be late leaves unplanned each time: its blocks grow smaller."""

_TINY = 1e-6
"""Seconds that a group takes at least, so that nothing is divided by 0; any size below a real one would do."""


class Budget:
    """What is left of the matches and of the time that a run was given; without either there is no end.

    Blocks are planned by how long the one before took. A block of few groups takes hardly longer than it takes to start
    the bots; so what the bots thought tells how much of it was play.
    """

    def __init__(
        self,
        matches: int | None = None,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        is_hard: bool = False,
    ) -> None:
        """Begin now. If `is_hard`, the run stops when the time is over, even if groups are incomplete."""
        self.matches = matches
        self.seconds = seconds
        self.is_hard = is_hard
        self._clock = clock
        self._begun = clock()
        self._groups = 0
        """Number of groups of the last block."""
        self._seconds_each = 0.0
        """Seconds that a group takes when all workers play."""
        self._start: float | None = None
        """Seconds that a block takes besides, to start and end bots; None before the first block."""
        self.is_spent = False
        """Whether there was no room for another group."""

    @property
    def is_limited(self) -> bool:
        """Whether the run ends before everything is played."""
        return self.matches is not None or self.seconds is not None

    @property
    def is_over(self) -> bool:
        """Whether there was a time to end, and it has come."""
        return self.seconds_left is not None and self.seconds_left <= 0

    @property
    def seconds_left(self) -> float | None:
        """How many seconds are left; None if the run may take as long as it takes."""
        return None if self.seconds is None else self.seconds - self._elapsed

    def groups_left(self, so_far: int, seats: int) -> int:
        """Return how many groups there is room for after so many matches, by their number."""
        if self.matches is None:
            return sys.maxsize
        left = max(0, (self.matches - so_far) // seats)
        self.is_spent = not left
        return left

    def room(self, so_far: int, seats: int, bots: int) -> int:
        """Return how many groups the next block may have at most, after so many matches of so many bots."""
        room = max(0, min(self.groups_left(so_far, seats), self._by_time(first=-(-bots // seats))))
        self.is_spent = not room
        return room

    def _by_time(self, first: int) -> int:
        """Return for how many groups there is time; for the first block, `first` if there is any time."""
        if (seconds := self.seconds_left) is None:
            return sys.maxsize
        if self._start is None:
            return first if seconds > 0 else 0
        if self.is_hard:
            seconds *= 1 - _SPARED
        return int(min(GROWTH * self._groups, (seconds - self._start) / max(self._seconds_each, _TINY)))

    def learn(self, groups: int, seconds: float, thought: float, workers: int) -> None:
        """Take in that a block took so many seconds, in which its bots thought for so many in all."""
        if not groups:
            return
        start = max(0.0, seconds - thought / min(groups, workers))
        self._start = start if self._start is None else min(self._start, start)
        self._seconds_each = max(thought / workers, seconds - self._start) / groups
        self._groups = groups

    def total(self, so_far: int, total: int) -> int:
        """Return about how many matches the run will have had in the end, where without a budget it had `total`."""
        if self.matches is not None:
            total = min(total, self.matches)
        if self.seconds is not None and so_far:
            total = min(total, int(so_far * self.seconds / self._elapsed))
        return max(so_far, total)

    @property
    def _elapsed(self) -> float:
        return self._clock() - self._begun
