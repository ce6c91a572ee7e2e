"""Matches that wait for the same processes wait in one lane: which lanes may go on, and in what order."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice

from arena.worker.jobs import Key, Task


class Lane:
    """Matches that need the same processes."""

    def __init__(self, task: Task) -> None:
        self.keys = task.keys
        self.lineup = task.lineup
        self.start_limit = task.limits.start
        self.tasks: deque[tuple[int, Task]] = deque()
        """What waits, each with the number under which it came, counted over the worker's life."""

    def age(self) -> float:
        """The number of the task that has waited longest."""
        return self.tasks[0][0] if self.tasks else math.inf

    def take(self) -> Task:
        """The next task, which waits no longer."""
        return self.tasks.popleft()[1]


class Lanes:
    """All lanes of a worker. Which of them may go on is remembered, so that nobody looks through the others."""

    def __init__(self) -> None:
        self._numbers = count()
        self._lanes: dict[tuple[Key, ...], Lane] = {}
        self._of: dict[Key, dict[Lane, None]] = {}
        self._ready: dict[Lane, None] = {}
        self._crowded_out: dict[Lane, None] = {}
        """Those for whose processes there is no room; first come, first served."""

    def add(self, task: Task) -> None:
        """A task waits, in a lane that may go on."""
        keys = task.keys
        if (lane := self._lanes.get(keys)) is None:
            lane = self._lanes[keys] = Lane(task)
            for key in keys:
                self._of.setdefault(key, {})[lane] = None
        lane.tasks.append((next(self._numbers), task))
        self._ready[lane] = None

    def ready(self) -> list[Lane]:
        """The lanes that may go on, each told once.

        Oldest first, so that ratings, which follow the schedule, are not far behind results.
        """
        lanes, self._ready = sorted(self._ready, key=Lane.age), {}
        return lanes

    def wake(self, key: Key) -> None:
        """A process has room again, or there is none any more: its lanes may go on."""
        for lane in self.waiting_for(key):
            self._ready[lane] = None
        self._call_next()

    def waiting_for(self, key: Key) -> Iterator[Lane]:
        """The lanes with tasks that need a process."""
        return (lane for lane in self._of.get(key, ()) if lane.tasks)

    def crowd_out(self, lane: Lane) -> None:
        """There is no room for a lane's processes."""
        self._crowded_out[lane] = None

    def let_in(self, lane: Lane) -> None:
        """A lane has its processes; the one that has waited longest for room may try as well."""
        if lane in self._crowded_out:
            del self._crowded_out[lane]
            self._call_next()

    def _call_next(self) -> None:
        for lane in islice(self._crowded_out, 1):
            self._ready[lane] = None

    def forget(self, lane: Lane) -> None:
        """Line-ups of many seats are as many as matches: one that has nothing to play would only be looked through."""
        if self._lanes.get(lane.keys) is not lane:
            return
        del self._lanes[lane.keys]
        self.let_in(lane)
        for key in lane.keys:
            del self._of[key][lane]
            if not self._of[key]:
                del self._of[key]

    def spare(self) -> list[Task]:
        """Take out half of what waits in each lane, a lone match too: what would be played last."""
        found = []
        for lane in list(self._lanes.values()):
            found += [lane.tasks.pop()[1] for _ in range((len(lane.tasks) + 1) // 2)]
            if not lane.tasks:
                self.forget(lane)
        return found

    def remove(self, is_out: Callable[[Task], bool]) -> list[Task]:
        """Take out some of what waits, wherever it is."""
        found = []
        for lane in list(self._lanes.values()):
            found += [task for _, task in lane.tasks if is_out(task)]
            lane.tasks = deque((number, task) for number, task in lane.tasks if not is_out(task))
            if not lane.tasks:
                self.forget(lane)
        return found

    def clear(self) -> None:
        """Nothing waits any more."""
        for waiting in (self._lanes, self._of, self._ready, self._crowded_out):
            waiting.clear()
