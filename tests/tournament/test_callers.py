"""Workers that call functions: each part is done once, unless its host is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

import pytest

from arena.sandbox import UNCONFINED, Sandbox
from arena.tournament import WorkersDied
from arena.tournament.callers import Callers
from arena.worker.hosts import Host, HostLost, RunningWorker, WorkerEnded
from arena.worker.jobs import Delivery, StartCommand, Trouble
from arena.worker.local_host import LocalHost, WorkerProcess

PARTS = tuple(range(10))


def twice(part: int) -> Callable[[], object]:
    return partial(int.__mul__, part, 2)


class Ends:
    """A worker that makes no call: it ends."""

    has_ended = False

    def __init__(self, how: WorkerEnded) -> None:
        self.how = how

    def send(self, order: StartCommand | None) -> None:
        """Hear it."""

    def receive(self) -> Delivery:
        raise self.how

    def kill(self) -> None:
        """Be gone already."""

    def close(self) -> None:
        """Be gone already."""


class Calls(Ends):
    """A worker that makes each call at once."""

    def __init__(self) -> None:
        super().__init__(WorkerEnded("was never asked"))
        self.returned: list[object] = []

    def send(self, order: StartCommand | None) -> None:
        assert order is not None
        assert order.call is not None
        self.returned.append(order.call())

    def receive(self) -> Delivery:
        return Delivery((), Trouble(), returned=self.returned.pop())


class Machine:
    """A host whose workers are of one kind."""

    name = "machine"

    def __init__(self, jobs: int, start: Callable[[], RunningWorker]) -> None:
        self.jobs = jobs
        self.start = start


class Machines:
    """Hosts of which one ends when it is first heard."""

    sandbox: Sandbox = UNCONFINED

    def __init__(self, how: WorkerEnded) -> None:
        self._failing, self._other = Machine(2, lambda: Ends(how)), Machine(1, Calls)
        self._hosts: list[Host] = [self._failing]

    def present(self) -> Sequence[Host]:
        return self._hosts

    def wait(self, workers: Sequence[RunningWorker], _seconds: float) -> Collection[RunningWorker]:
        self._hosts = [self._other]
        return workers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End nothing."""


def test_processes_make_calls() -> None:
    """Each part comes back once with what was returned for it, in any order."""
    with Callers(LocalHost(2), PARTS, twice) as callers:
        done: list[tuple[int, object]] = []
        while some := [*callers.step(30)]:
            done += some
    assert sorted(done) == [(part, 2 * part) for part in PARTS]


def test_what_a_lost_host_was_to_do_another_does() -> None:
    """A host that is lost costs no part."""
    with Callers(Machines(HostLost("was lost")), PARTS, twice) as callers:
        done = [each for _ in range(len(PARTS) + 1) for each in callers.step(1)]
    assert sorted(done) == [(part, 2 * part) for part in PARTS]


class Kept(LocalHost):
    """A host that remembers its workers."""

    def __init__(self) -> None:
        super().__init__(1)
        self.workers: list[WorkerProcess] = []

    def start(self) -> WorkerProcess:
        self.workers.append(super().start())
        return self.workers[-1]


def test_a_worker_that_ends_while_it_has_nothing_to_do_is_replaced() -> None:
    """Else nobody would be left for the next part."""
    host = Kept()
    with Callers(host, PARTS, twice) as callers:
        done = list(callers.step(30))
        host.workers[0].process.kill()
        host.workers[0].process.join()
        while some := [*callers.step(30)]:
            done += some
    assert sorted(done) == [(part, 2 * part) for part in PARTS]
    assert len(host.workers) == 2


def test_nobody_is_left_after_an_error() -> None:
    """The worker in which the error was ends, too."""
    host = Kept()
    with suppress(RuntimeError), Callers(host, [0], lambda _: broken) as callers:
        list(callers.step(30))
        pytest.fail("the bug is not told")
    (worker,) = host.workers
    assert worker.has_ended
    assert worker.link.closed


def test_a_worker_that_ends_otherwise_is_an_error() -> None:
    """It says how the worker ended, and what mostly helps."""
    said = r"^a process was killed by SIGKILL, perhaps for want of memory: try a smaller -j$"
    with (
        Callers(Machines(WorkerEnded("was killed by SIGKILL")), PARTS, twice) as callers,
        pytest.raises(WorkersDied, match=said),
    ):
        list(callers.step(1))


def broken() -> object:
    raise LookupError("of the arena's own")


def test_a_bug_in_a_call_is_shown_whole() -> None:
    """With the traceback of the process in which it is."""
    with (
        Callers(LocalHost(1), [0], lambda _: broken) as callers,
        pytest.raises(RuntimeError, match=r"(?s)Traceback.*LookupError: of the arena's own"),
    ):
        list(callers.step(30))
