"""Worker processes: matches out, results in, whatever becomes of a worker on the way."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import worker
from arena.tournament import WorkersDied
from arena.worker import Played, Task, Trouble, Worker

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

FIRST_BATCH = 16
BATCH_SECONDS = 1.0
"""How long a batch should last: long enough to be worth its way, short enough to lose little."""
MAX_BATCH = 2000
BREAKS = 3
"""Workers that may die in a row, without a batch finished between, before it is an error."""


class Batch(NamedTuple):
    """What a worker gives back."""

    played: list[Played]
    trouble: Trouble
    seconds: float


class Workers:
    """Worker processes, each with a referee and bots of its own. A context manager."""

    def __init__(self, jobs: int, *, in_flight: int = worker.IN_FLIGHT) -> None:
        self._jobs = jobs
        self._in_flight = in_flight
        self._trouble = Trouble()
        # spawn: gRPC and fork do not go together
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._scratch = tempfile.mkdtemp(prefix="arena-", dir=worker.short_temporary_directory())
        self._pool = self._new_pool()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._scratch, ignore_errors=True)

    def stop(self) -> None:
        """Begin no more matches; `play` ends once the workers have given back what is finished."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def play(self, tasks: Iterator[Task]) -> Iterator[list[Played]]:
        """Play them all; gives results batch by batch, in the order batches end.

        A worker that dies takes all workers' batches with it; they are played again by new ones. Raises WorkersDied.
        """
        size, breaks = FIRST_BATCH, 0
        running: dict[Future[Batch], list[Task]] = {}
        while True:
            # one batch more than workers: a worker that ends its own finds the next one waiting
            while not self.stopped and len(running) <= self._jobs and (batch := list(islice(tasks, size))):
                running[self._submit(batch)] = batch
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                try:
                    done = future.result()
                except BrokenProcessPool:
                    breaks = self._broken(breaks)
                    running = {self._submit(batch): batch for batch in running.values() if not self.stopped}
                    break
                del running[future]
                breaks = 0
                self._trouble = self._trouble.and_also(done.trouble)
                size = _next_size(done)
                yield done.played

    def _submit(self, batch: list[Task]) -> Future[Batch]:
        with _no_interrupts():
            return self._pool.submit(_play, batch, self._trouble)

    def _broken(self, breaks: int) -> int:
        if breaks == BREAKS:
            raise WorkersDied(
                f"worker processes died {BREAKS + 1} times in a row, perhaps for want of memory: try a smaller -j"
            )
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._new_pool()
        return breaks + 1

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs,
            mp_context=self._context,
            initializer=_begin_worker,
            initargs=(os.getpid(), self._stop, self._in_flight, self._scratch),
        )


def _next_size(done: Batch) -> int:
    if done.seconds <= 0:
        return MAX_BATCH
    return int(min(MAX_BATCH, max(4, len(done.played) * BATCH_SECONDS / done.seconds)))


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes made meanwhile do not hear a Ctrl-C, which the terminal sends to every process, while they start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_ARENA)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_FOR_THE_ARENA = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to the whole group, and the arena's own process answers for all."""

_worker: Worker | None = None
_stop: Event | None = None


def _begin_worker(parent: int, stop: Event, in_flight: int, scratch: str) -> None:
    """Set up a worker process, which ends with the arena."""
    global _worker, _stop
    for number in _FOR_THE_ARENA:
        signal.signal(number, _ignore)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_ARENA)
    die_with_parent(parent)
    _worker = Worker(Path(scratch), in_flight=in_flight)
    _stop = stop
    atexit.register(_worker.close)


def _ignore(_number: int, _frame: object) -> None:
    """Unlike SIG_IGN this is not inherited by bots."""


def _play(tasks: list[Task], trouble: Trouble) -> Batch:
    """Play a batch in a worker process."""
    assert _worker is not None
    assert _stop is not None
    begun = time.monotonic()
    _worker.learn(trouble)
    played = _worker.play(tasks, stop=_stop.is_set)
    return Batch(played, _worker.trouble, time.monotonic() - begun)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
