"""Worker processes: matches out, results in, whatever becomes of a worker on the way."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

from arena import worker
from arena.launch import adopt_orphans, die_with_parent, end_orphans, ended_in_words
from arena.match import Void
from arena.sandbox import UNCONFINED, Sandbox
from arena.scratch import run_folder
from arena.task import Delivery, Link, Order, Played, Task, Trouble
from arena.tournament import WorkersDied
from arena.tournament.stock import Stock
from arena.worker import Worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

CHUNK = 4
"""Matches dealt to a worker at a time, round and round until each has enough."""
FIRST_BACKLOG = 128
BACKLOG_SECONDS = 5.0
"""How long the matches a worker holds should last: enough in play for full frames, and none idle at the end."""
DEATHS = 8
"""Matches that may each kill a worker, without a result between, before it is an error."""

GARBAGE = 10_000
"""Objects that a worker makes before it looks for garbage: it has hardly any, since a match that ends leaves none, and
looking after every 700, as is usual, takes it one part in twenty of its time."""

# spawn: gRPC and fork do not go together
_CONTEXT = multiprocessing.get_context("spawn")


class WorkerProcess:
    """One worker process and the matches it holds."""

    def __init__(self, scratch: str, in_flight: int, sandbox: Sandbox) -> None:
        self.link: Connection[Order | None, Delivery | str]
        self.link, other = _CONTEXT.Pipe()
        self.holds: dict[str, Task] = {}
        self.slots: tuple[int, ...] = ()
        """Of the match it was given last."""
        self.backlog = FIRST_BACKLOG
        self.is_suspicious = False
        """Whether it plays matches one of which may have killed its predecessor: then it gets no others."""
        self._heard: float | None = None
        arguments = (other, os.getpid(), scratch, in_flight, sandbox)
        self._process = _CONTEXT.Process(target=_work, args=arguments, daemon=True)
        with _no_interrupts():
            self._process.start()
        other.close()

    def deal(self, tasks: list[Task], trouble: Trouble) -> None:
        """Give it matches; a worker that has died says so when it is listened to."""
        self.slots = tasks[-1].slots
        self.holds.update((task.id, task) for task in tasks)
        with contextlib.suppress(OSError):
            self.link.send(Order(tasks, trouble))

    def finish(self) -> None:
        """Tell it to leave what is in play and to end its bots."""
        with contextlib.suppress(OSError):
            self.link.send(None)

    def hear(self) -> Delivery:
        """What it delivers next. Raises EOFError if it died and RuntimeError if it failed by a bug of ours."""
        try:
            delivery = self.link.recv()
        except OSError as error:
            raise EOFError from error
        if isinstance(delivery, str):
            raise RuntimeError(f"a worker failed:\n{delivery}")
        for played in delivery.played:
            self.holds.pop(played.id, None)
        self._pace(len(delivery.played))
        return delivery

    def _pace(self, played: int) -> None:
        """Follow the worker's speed; the time to the first delivery is its start and says nothing."""
        now = time.monotonic()
        if self._heard is not None and now > self._heard:
            wanted = BACKLOG_SECONDS * played / (now - self._heard)
            self.backlog = int(min(2000, max(CHUNK, 0.7 * self.backlog + 0.3 * wanted)))
        self._heard = now

    @property
    def is_hungry(self) -> bool:
        """Whether it should be dealt more."""
        return not self.is_suspicious and len(self.holds) < self.backlog

    def exit_in_words(self) -> str:
        """How it ended, once it has: "was killed by SIGKILL"."""
        return ended_in_words(self._process.exitcode or 0)

    def end(self) -> None:
        """Wait until it is gone."""
        self._process.join()
        self.link.close()


class Workers:
    """Worker processes, each with a referee and bots of its own. A context manager."""

    def __init__(self, jobs: int, *, in_flight: int = worker.IN_FLIGHT, sandbox: Sandbox = UNCONFINED) -> None:
        self._jobs = jobs
        self._in_flight = in_flight
        self.sandbox = sandbox
        self._trouble = Trouble()
        self._stopped = False
        self._suspects: deque[list[Task]] = deque()
        """What workers held that died, to be played apart from the rest."""
        self._killers: set[str] = set()
        self._resources = contextlib.ExitStack()
        self._processes: list[WorkerProcess] = []

    def __enter__(self) -> Workers:
        adopt_orphans()
        self._scratch = self._resources.enter_context(run_folder())
        return self

    def __exit__(self, *error: object) -> None:
        with self._resources:
            for process in self._processes:
                process.finish()
            for process in self._processes:
                with contextlib.suppress(EOFError, RuntimeError):
                    while not process.hear().last:
                        pass
                process.end()
            end_orphans()

    def stop(self) -> None:
        """Begin no more matches; `play` ends once the workers have given back what is finished."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def play(self, tasks: Iterator[Task]) -> Iterator[list[Played]]:
        """Play them all; gives results as they come, in any order.

        The matches of a worker that dies are played again, in ever smaller hands; one that kills a worker alone is
        void. Raises WorkersDied if too many do.
        """
        stock = Stock(tasks)
        while not self._stopped:
            self._deal(stock)
            busy = [process for process in self._processes if process.holds]
            if not busy:
                return
            ready = wait([process.link for process in busy], timeout=0.1)
            for process in busy:
                if process.link in ready:
                    yield self._hear(process)
        yield from self._last_results()

    def _last_results(self) -> Iterator[list[Played]]:
        for process in self._processes:
            process.finish()
        for process in self._processes:
            last = False
            with contextlib.suppress(EOFError):
                while not last:
                    delivery = process.hear()
                    last = delivery.last
                    yield list(delivery.played)

    def _deal(self, stock: Stock) -> None:
        self._deal_suspects()
        while len(self._processes) < self._jobs and (chunk := stock.take(CHUNK, (), FIRST_BACKLOG * self._jobs)):
            self._processes.append(self._hire())
            self._processes[-1].deal(chunk, self._trouble)
        ahead = sum(process.backlog for process in self._processes)
        hungry = [process for process in self._processes[: self._jobs] if process.is_hungry]
        while hungry:
            for process in hungry:
                if not (chunk := stock.take(CHUNK, process.slots, ahead)):
                    return
                process.deal(chunk, self._trouble)
            hungry = [process for process in hungry if process.is_hungry]

    def _deal_suspects(self) -> None:
        for process in self._processes:
            if not process.holds and (process.is_suspicious or self._suspects):
                process.is_suspicious = bool(self._suspects)
                if self._suspects:
                    process.deal(self._suspects.popleft(), self._trouble)

    def _hear(self, process: WorkerProcess) -> list[Played]:
        try:
            delivery = process.hear()
        except EOFError:
            return self._replace(process)
        self._killers.clear()
        self._trouble = self._trouble.and_also(delivery.trouble)
        if any((played.void or "").startswith(Void.OVERLOAD) for played in delivery.played):
            self._jobs = max(1, self._jobs - 1)  # what was too much for the machine is played again with less
        return list(delivery.played)

    def _replace(self, dead: WorkerProcess) -> list[Played]:
        """Another worker in its place; gives the match that it died of, void, if it held no other."""
        dead.end()
        end_orphans()
        self._processes[self._processes.index(dead)] = self._hire()
        held = list(dead.holds.values())
        if len(held) > 1:
            middle = len(held) // 2
            self._suspects += (held[:middle], held[middle:])
            return []
        self._killers.add(held[0].id)
        if len(self._killers) > DEATHS:
            raise WorkersDied(
                f"worker processes died, each of another match, {len(self._killers)} times in a row,"
                " perhaps for want of memory: try a smaller -j"
            )
        why = f"{Void.INTERRUPTED}: the worker process {dead.exit_in_words()}, and it played nothing else"
        return [Played(held[0].id, None, why)]

    def _hire(self) -> WorkerProcess:
        return WorkerProcess(str(self._scratch), self._in_flight, self.sandbox)


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Processes made meanwhile do not hear a Ctrl-C, which the terminal sends to every process, while they start."""
    resource_tracker.ensure_running()  # else the first spawn begins with it, which ends by unblocking SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FOR_THE_ARENA)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_FOR_THE_ARENA = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to the whole group, and the arena's own process answers for all."""


def _work(link: Link, parent: int, scratch: str, in_flight: int, sandbox: Sandbox) -> None:
    """What a worker process does, until the arena closes the link or ends."""
    for number in _FOR_THE_ARENA:
        signal.signal(number, _ignore)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FOR_THE_ARENA)
    die_with_parent(parent)
    gc.freeze()  # what is imported stays: not to be looked through again and again
    gc.set_threshold(GARBAGE)
    own = Worker(Path(scratch), in_flight=in_flight, sandbox=sandbox)
    try:
        own.serve(link)
    except Exception:
        link.send(traceback.format_exc())
    finally:
        own.close()


def _ignore(_number: int, _frame: object) -> None:
    """Unlike SIG_IGN this is not inherited by bots."""
