"""Matches that wait for the same processes wait in one queue: which queues may go on, and in what order."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice

from arena.worker.jobs import Key, Task


class Queue:
    """Matches that need the same processes."""

    def __init__(self, task: Task) -> None:
        self.keys = task.keys
        self.lineup = task.lineup
        self.start_limit = task.limits.start
        self.tasks: deque[tuple[int, Task]] = deque()
        """What waits, each with the number under which it came, counted over the worker's life."""

    def age(self) -> float:
        """Return the number of the task that has waited longest; infinity if none waits."""
        return self.tasks[0][0] if self.tasks else math.inf

    def take(self) -> Task:
        """Remove and return the task that has waited longest."""
        return self.tasks.popleft()[1]


class Queues:
    """All queues of a worker. Which of them may go on is remembered, so that nobody looks through the others."""

    def __init__(self) -> None:
        self._numbers = count()
        self._queues: dict[tuple[Key, ...], Queue] = {}
        self._of: dict[Key, dict[Queue, None]] = {}
        self._ready: dict[Queue, None] = {}
        self._crowded_out: dict[Queue, None] = {}
        """Those for whose processes there is no room; first come, first served."""

    def add(self, task: Task) -> None:
        """Put a task into the queue of its processes, and mark that queue as ready."""
        keys = task.keys
        if (queue := self._queues.get(keys)) is None:
            queue = self._queues[keys] = Queue(task)
            for key in keys:
                self._of.setdefault(key, {})[queue] = None
        queue.tasks.append((next(self._numbers), task))
        self._ready[queue] = None

    def ready(self) -> list[Queue]:
        """Return the queues that may go on, and forget that they may: each is returned once.

        Oldest first, so that ratings, which follow the schedule, are not far behind results.
        """
        queues, self._ready = sorted(self._ready, key=Queue.age), {}
        return queues

    def wake(self, key: Key) -> None:
        """Mark the queues of a process as ready: it has room again, or it is gone and can be replaced."""
        for queue in self.waiting_for(key):
            self._ready[queue] = None
        self._call_next()

    def waiting_for(self, key: Key) -> Iterator[Queue]:
        """Find the queues with tasks that need a process."""
        return (queue for queue in self._of.get(key, ()) if queue.tasks)

    def are_waiting_for(self, key: Key) -> bool:
        """Whether any queue has tasks that need a process."""
        return any(self.waiting_for(key))

    def crowd_out(self, queue: Queue) -> None:
        """Note that there is no room for a queue's processes."""
        self._crowded_out[queue] = None

    def let_in(self, queue: Queue) -> None:
        """Note that a queue has its processes, and mark the one that has waited longest for room as ready."""
        if queue in self._crowded_out:
            del self._crowded_out[queue]
            self._call_next()

    def _call_next(self) -> None:
        for queue in islice(self._crowded_out, 1):
            self._ready[queue] = None

    def forget(self, queue: Queue) -> None:
        """Line-ups of many seats are as many as matches: one that has nothing to play would only be looked through."""
        if self._queues.get(queue.keys) is not queue:
            return
        del self._queues[queue.keys]
        self.let_in(queue)
        for key in queue.keys:
            del self._of[key][queue]
            if not self._of[key]:
                del self._of[key]

    def spare(self) -> list[Task]:
        """Take out half of what waits in each queue, a lone match too: what would be played last."""
        tasks = []
        for queue in list(self._queues.values()):
            tasks += [queue.tasks.pop()[1] for _ in range((len(queue.tasks) + 1) // 2)]
            if not queue.tasks:
                self.forget(queue)
        return tasks

    def remove(self, is_out: Callable[[Task], bool]) -> list[Task]:
        """Take out some of what waits, wherever it is."""
        tasks = []
        for queue in list(self._queues.values()):
            tasks += [task for _, task in queue.tasks if is_out(task)]
            queue.tasks = deque((number, task) for number, task in queue.tasks if not is_out(task))
            if not queue.tasks:
                self.forget(queue)
        return tasks

    def clear(self) -> None:
        """Remove all tasks."""
        for waiting in (self._queues, self._of, self._ready, self._crowded_out):
            waiting.clear()
