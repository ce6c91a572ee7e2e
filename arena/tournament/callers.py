"""Workers that call functions instead of playing, such as checks; they may be on this machine or on many."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from arena.tournament import WorkersDied
from arena.worker.hosts import Host, HostLost, Hosts, RunningWorker, WorkerEnded
from arena.worker.jobs import StartCommand

CallPart = TypeVar("CallPart")


class Callers(Generic[CallPart]):
    """Workers that each do one part of some work at a time. A context manager, with which hosts and workers end."""

    def __init__(
        self, hosts: Hosts, parts: Iterable[CallPart], call: Callable[[CallPart], Callable[[], object]]
    ) -> None:
        """Prepare to do the parts; `call` says what a worker is to call for one, and is asked just before."""
        self._hosts = hosts
        self._waiting = deque(parts)
        self._call = call
        self._host: dict[RunningWorker, Host] = {}
        """The host of each worker."""
        self._idle: list[RunningWorker] = []
        self._busy: dict[RunningWorker, CallPart] = {}

    def __enter__(self) -> Self:
        self._hosts.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for worker in self._host:
                worker.kill()
            for worker in self._host:
                worker.close()
        finally:
            self._hosts.__exit__(kind, error, trace)

    def step(self, seconds: float) -> Iterator[tuple[CallPart, Any]]:
        """Yield parts that are done, with what was returned, waiting for so many seconds at most while any is left.

        A part whose host is lost is done again. Raises WorkersDied if a worker ended otherwise.
        """
        if not (self._waiting or self._busy):
            return
        self._begin()
        for worker in self._hosts.wait(list(self._busy), seconds):
            try:
                delivery = worker.receive()
            except HostLost:
                self._waiting.appendleft(self._busy.pop(worker))
                self._remove(worker)
            except WorkerEnded as end:
                raise WorkersDied(f"a process {end}, perhaps for want of memory: try a smaller -j") from None
            else:
                self._idle.append(worker)
                yield self._busy.pop(worker), delivery.returned

    def _begin(self) -> None:
        """Give each worker that has nothing to do a part, and start workers where there are more parts than those."""
        while self._waiting and (worker := self._free()) is not None:
            self._busy[worker] = self._waiting.popleft()
            worker.send(StartCommand(call=self._call(self._busy[worker])))

    def _free(self) -> RunningWorker | None:
        """Return a worker that has nothing to do, a new one on the host with the fewest if there is none."""
        while self._idle:
            worker = self._idle.pop()
            if not worker.has_ended:
                return worker
            self._remove(worker)
        started = Counter(self._host.values())
        able = [host for host in self._hosts.present() if started[host] < host.jobs]
        if not able:
            return None
        host = min(able, key=lambda host: started[host])
        worker = host.start()
        self._host[worker] = host
        return worker

    def _remove(self, worker: RunningWorker) -> None:
        worker.close()
        del self._host[worker]
