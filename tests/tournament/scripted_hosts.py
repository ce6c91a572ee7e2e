"""Hosts in this process, whose workers play what a test says: no processes, no time, the same order every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeAlias

from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome
from arena.sandbox import UNCONFINED
from arena.worker.hosts import RunningWorker
from arena.worker.jobs import Delivery, Entrant, Played, StartCommand, Task, Trouble

Script: TypeAlias = Callable[["ScriptedWorker", Task], Played]
"""Plays a match at a worker. What it raises ends the worker, as that of `RunningWorker.receive`."""


def tie(worker: ScriptedWorker, task: Task) -> Played:
    """Play a match that ends in a tie; its conditions say which worker played it."""
    return Played(task.id, MatchOutcome((0, 0), (0, 0)), conditions={"worker": worker.number})


PAIR = (Entrant("ann@1", "ann", ("bot",)), Entrant("bob@1", "bob", ("bot",)))
"""Two bots."""


def matches(count: int, name: str = "", lineup: tuple[Entrant, ...] = PAIR) -> list[Task]:
    """Matches to be played, whose ids are numbers, after a name if there is one."""
    return [Task(f"{name} {number}".strip(), "birth", {}, bytes(32), lineup, Limits()) for number in range(count)]


class ScriptedWorker:
    """A worker that plays one match, in the order dealt, each time that it is heard."""

    def __init__(self, number: int, script: Script) -> None:
        self.number = number
        """How many workers of the host were started before it."""
        self.orders: list[StartCommand | None] = []
        self.waiting: deque[Task] = deque()
        """Matches that have not begun."""
        self.end: Exception | None = None
        """What ended it."""
        self._script = script
        self._deliveries: deque[Delivery] = deque()

    @property
    def has_ended(self) -> bool:
        return self.end is not None

    @property
    def is_ready(self) -> bool:
        return bool(self.has_ended or self.waiting or self._deliveries)

    def send(self, order: StartCommand | None) -> None:
        self.orders.append(order)
        if order is None:
            self.waiting.clear()
            return self._deliveries.append(Delivery([], Trouble(), last=True))
        self.waiting += order.tasks
        if order.spare:
            spared = [self.waiting.pop().id for _ in range((len(self.waiting) + 1) // 2)]
            self._deliveries.append(Delivery([], Trouble(), spared=spared))
        if order.rest:
            self._deliveries.append(Delivery([], Trouble(), rested=True))
        return None

    def receive(self) -> Delivery:
        if self.end is None and self._deliveries:
            return self._deliveries.popleft()
        try:
            if self.end is not None:
                raise self.end
            return Delivery([self._script(self, self.waiting.popleft())], Trouble())
        except Exception as end:
            self.end = end
            raise

    def kill(self) -> None:
        raise AssertionError("nobody kills a worker that is dealt matches")

    def close(self) -> None:
        pass


class ScriptedHosts:
    """A host, and the only one, that runs up to `jobs` workers at a time."""

    name = "scripted"
    sandbox = UNCONFINED

    def __init__(self, jobs: int, script: Script = tie) -> None:
        self.jobs = jobs
        self.started: list[ScriptedWorker] = []
        self._script = script

    def start(self) -> ScriptedWorker:
        self.started.append(ScriptedWorker(len(self.started), self._script))
        return self.started[-1]

    def present(self) -> Sequence[ScriptedHosts]:
        return (self,)

    def wait(
        self,
        workers: Sequence[RunningWorker],
        seconds: float,  # noqa: ARG002 - nothing here takes time
    ) -> list[RunningWorker]:
        return [worker for worker in workers if isinstance(worker, ScriptedWorker) and worker.is_ready]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass
