"""Where workers run, as whoever deals them matches sees it: hosts, and workers that take orders and give deliveries.

`arena.worker.local_host` implements it on this machine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import TracebackType
from typing import Protocol, Self

from arena.sandbox import Sandbox
from arena.worker.jobs import Delivery, StartCommand


class WorkerEnded(Exception):
    """Error for a worker that ended before it was told to; the message says how, such as "was killed by SIGKILL"."""


class HostLost(WorkerEnded):
    """Error for a worker whose host is gone or out of reach, which is the fault of none of its matches."""


class RunningWorker(Protocol):
    """A worker that has been started. It plays with a referee and bots of its own."""

    def send(self, order: StartCommand | None) -> None:
        """Give an order, or None to abandon what is in play, end all bots and stop.

        If the worker has ended, `receive` raises that, not this.
        """

    def receive(self) -> Delivery:
        """Return the next delivery. Raises WorkerEnded, and RuntimeError if a bug of the arena's ended the worker."""

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""

    def kill(self) -> None:
        """End it at once, whatever it does; nobody waits for what it has."""

    def close(self) -> None:
        """Wait until it has ended, with everything that it started."""


class Host(Protocol):
    """A machine that runs workers."""

    @property
    def name(self) -> str:
        """What people know it by."""

    @property
    def jobs(self) -> int:
        """Number of workers that it runs at most."""

    def start(self) -> RunningWorker:
        """Start one more worker."""


class Hosts(Protocol):
    """All machines that run workers, a context manager; with it end all workers."""

    sandbox: Sandbox
    """What holds bots on each of them, at least."""

    def present(self) -> Sequence[Host]:
        """Return the hosts that are there now."""

    def wait(self, workers: Sequence[RunningWorker], seconds: float) -> Collection[RunningWorker]:
        """Wait until some of these workers have something to receive, for at most so long, and return them."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
