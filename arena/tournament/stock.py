"""Matches on their way to workers, sorted by rotation.

Each rotation of a group has bot processes of its own. A worker that stays with one rotation as long as it can needs few
of them, and their frames are full.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from arena.task import Task


class Stock:
    """What a schedule still has, some of it taken ahead."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self._tasks = tasks
        self._stacks: dict[tuple[int, ...], deque[Task]] = {}

    def take(self, count: int, slots: tuple[int, ...], ahead: int) -> list[Task]:
        """Up to `count` matches of one rotation: that of `slots`, or another if it has none.

        At most `ahead` of each rotation lie here, so that no result is far behind others of the schedule.
        """
        stack = self._stacks.setdefault(slots, deque())
        while len(stack) < count and max(map(len, self._stacks.values())) < ahead:
            if (task := next(self._tasks, None)) is None:
                break
            self._stacks.setdefault(task.slots, deque()).append(task)
        stack = stack or max(self._stacks.values(), key=len)
        return [stack.popleft() for _ in range(min(count, len(stack)))]
