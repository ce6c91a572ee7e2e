"""This machine as a host: each worker is a process of its own, and ends when the process that started it ends."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Collection, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from arena.base.garbage import collect_rarely
from arena.sandbox import UNCONFINED, Sandbox
from arena.sandbox.process import adopt_orphans, end_orphans, ended_in_words
from arena.sandbox.run_folder import run_folder
from arena.worker.bot_output import Sink
from arena.worker.capacity import Share, share_for_each
from arena.worker.hosts import RunningWorker, WorkerEnded
from arena.worker.jobs import Delivery, Link, StartCommand
from arena.worker.worker import Worker
from arena.worker.worker_process import start_process

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess


class WorkerProcess:
    """A worker in a process of its own, and the arena's end of the link to it."""

    def __init__(self, scratch: str, in_flight: int | None, sandbox: Sandbox, share: Share, *, logs: bool) -> None:
        self.process: BaseProcess
        self.link: Connection[StartCommand | None, Delivery | str | OSError]
        self.process, self.link = start_process(run_worker, scratch, in_flight, sandbox, share, logs)

    def send(self, order: StartCommand | None) -> None:
        """Send an order; one that has ended does not hear it."""
        with contextlib.suppress(OSError):
            self.link.send(order)

    def receive(self) -> Delivery:
        """Receive a delivery, or raise how the process ended, or what this machine lacks for a worker."""
        try:
            delivery = self.link.recv()
        except (EOFError, OSError):
            self.process.join()
            raise WorkerEnded(ended_in_words(self.process.exitcode or 0)) from None
        if isinstance(delivery, OSError):
            raise delivery
        if isinstance(delivery, str):
            raise RuntimeError(f"a worker failed:\n{delivery}")
        return delivery

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self.process.exitcode is not None

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()

    def close(self) -> None:
        """Wait until the process has ended, close the link, and end what bots left behind."""
        self.process.join()
        self.link.close()
        end_orphans()


class LocalHost:
    """This machine, alone: it is the only host."""

    name = "this machine"

    def __init__(
        self,
        jobs: int,
        *,
        in_flight: int | None = None,
        memory: int | None = None,
        sandbox: Sandbox = UNCONFINED,
        logs: bool = False,
    ) -> None:
        """Allow up to `jobs` workers, whose bots hold up to `in_flight` matches each; None: as many as are fastest.

        With `logs` they gather what bots print. Their bots share so many bytes of `memory`; None: half of what is free
        now.
        """
        self.jobs = jobs
        self._share = share_for_each(jobs, memory)
        self.sandbox = sandbox
        self._in_flight = in_flight
        self._keeps_logs = logs
        self._resources = contextlib.ExitStack()

    def __enter__(self) -> Self:
        adopt_orphans()
        self._scratch = self._resources.enter_context(run_folder())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._resources:
            end_orphans()

    def present(self) -> Sequence[LocalHost]:
        """Return this host, which is always there."""
        return (self,)

    def start(self) -> WorkerProcess:
        """Start a process with a worker."""
        return WorkerProcess(str(self._scratch), self._in_flight, self.sandbox, self._share, logs=self._keeps_logs)

    def wait(self, workers: Sequence[RunningWorker], seconds: float) -> Collection[RunningWorker]:
        """Wait until a link has something to receive, or its process has ended."""
        of_link = {worker.link: worker for worker in workers if isinstance(worker, WorkerProcess)}
        return [of_link[link] for link in wait(list(of_link), seconds) if link in of_link]


def run_worker(link: Link, scratch: str, in_flight: int | None, sandbox: Sandbox, share: Share, logs: bool) -> None:
    """Run a worker in its own process until the arena sends None, closes the link or ends."""
    collect_rarely()
    try:
        kept: Sink | None = [] if logs else None
        worker = Worker(Path(scratch), in_flight=in_flight, share=share, sandbox=sandbox, logs=kept)
    except OSError as error:
        return link.send(error)
    try:
        worker.serve(link)
    except Exception:
        link.send(traceback.format_exc())
    finally:
        worker.close()
