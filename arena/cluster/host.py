"""The process of a run on one host: it starts workers, and keeps what they deliver until the coordinator has it."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import time
import traceback
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from arena.cluster import programs
from arena.cluster.messages import (
    EXPIRES,
    Bug,
    Card,
    Ended,
    Hear,
    HostNews,
    HostOrder,
    HostRequest,
    Join,
    Parcel,
    Tell,
    Terms,
)
from arena.cluster.self_check import package_versions
from arena.core.compilation import prepare_core
from arena.sandbox import NoSandbox, Sandbox, probe
from arena.sandbox.launching import prepare_launcher
from arena.sandbox.process import die_with_parent
from arena.worker.capacity import NoRoom, check_memory
from arena.worker.hosts import WorkerEnded
from arena.worker.jobs import Delivery, Entrant, StartCommand, Task
from arena.worker.local_host import LocalHost, WorkerProcess

GATHERING = 0.2
"""Seconds between two answers with deliveries, at least, unless the coordinator waits for one of them.

Each answer costs the coordinator time, whatever is in it; docs/cluster.md says how much, for five a second.
"""
_TOOLCHAINS = ("node", "java", "go", "cargo", "gcc", "dotnet", "awk")
"""Programs that bots may need, as they are named to organisers."""


def main(descriptor: int) -> None:
    """Serve the run whose requests come over the link of this file descriptor, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the engine, which closes the link
    die_with_parent(os.getppid())
    link: Connection[bytes, bytes] = Connection(descriptor)
    with suppress(Closed):
        number, request = _received(link)
        assert isinstance(request, Join)
        try:
            _play(link, number, request)
        except Closed:
            raise
        except Exception as error:
            traceback.print_exc()
            _answer(link, number, _in_words(error))  # an answer that comes too late is not read


class Closed(Exception):
    """Error for a link at whose other end nobody is any more."""


def _play(link: Connection[bytes, bytes], number: int, join: Join) -> None:
    sandbox = _sandbox(join.terms)
    for prepare in (prepare_core, prepare_launcher):
        prepare(lambda _line: None)
    terms = join.terms
    if terms.memory is not None:
        check_memory(terms.memory, join.jobs)
    own = LocalHost(join.jobs, in_flight=terms.in_flight, memory=terms.memory, sandbox=sandbox, logs=terms.logs)
    with own as host:
        _answer(link, number, _card(sandbox))
        _Serving(link, host).serve()


def _in_words(error: Exception) -> str:
    """Return an error as one line for people."""
    lines = str(error).splitlines()
    said = lines[0] if lines else ""
    return said if isinstance(error, (NoSandbox, NoRoom, programs.Unfit)) else f"{type(error).__name__}: {said}"


def _sandbox(terms: Terms) -> Sandbox:
    hidden = str(programs.program_folder().parent)
    return probe(terms.wanted)._replace(allowed=terms.allowed).hide(hidden)


def _card(sandbox: Sandbox) -> Card:
    """Return what this host says of itself."""
    toolchains = {tool: path for tool in _TOOLCHAINS if (path := shutil.which(tool)) is not None}
    return Card(
        sandbox.grade,
        package_versions(),
        _machine_id(),
        programs.stored_digests(programs.program_folder()),
        toolchains,
        time.time(),
    )


def _machine_id() -> str:
    """Return what tells this machine, or container, from all others: two workers on it would share its cores."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.stat('/proc/self/ns/net').st_ino}"


def _received(link: Connection[bytes, bytes]) -> tuple[int, HostRequest]:
    try:
        frame = link.recv_bytes()
    except (EOFError, OSError):
        raise Closed from None
    return int.from_bytes(frame[:8]), pickle.loads(frame[8:])


def _answer(link: Connection[bytes, bytes], number: int, answer: object) -> None:
    try:
        link.send_bytes(number.to_bytes(8) + pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
    except OSError:
        raise Closed from None


class _Serving:
    """The workers of this host, their orders and their deliveries."""

    def __init__(self, link: Connection[bytes, bytes], host: LocalHost) -> None:
        self._link = link
        self._host = host
        self._workers: dict[int, WorkerProcess] = {}
        self._programs = programs.program_folder()
        self._local_entrants: dict[tuple[str, str], Entrant] = {}
        """Entrants as they are started here, once their programs were checked, by label and digest."""
        self._last_order = 0
        """Number of the last order that has come."""
        self._orders: deque[HostOrder | Parcel] = deque()
        self._ended: set[int] = set()
        """Numbers of workers that have ended: an order for one of them comes too late."""
        self._first = 1
        """Number of the first delivery in `_deliveries`."""
        self._deliveries: deque[tuple[int, Delivery | Ended | Bug]] = deque()
        self._refusal: str | None = None
        self._hear: tuple[int, float] | None = None
        """A request that waits for deliveries: its number, and when it is to be answered in any case."""
        self._asked_at = time.monotonic()
        self._answered = 0.0

    def serve(self) -> None:
        """Serve until the link is closed or nothing comes over it any more."""
        try:
            while time.monotonic() - self._asked_at < EXPIRES:
                try:
                    self._step()
                except Closed:
                    raise
                except Exception as error:  # a host that cannot do what it is told is of no use
                    if not isinstance(error, programs.Unfit):
                        traceback.print_exc()
                    self._refuse(_in_words(error))
        finally:
            self._end()

    def _step(self) -> None:
        of_link: dict[Any, int] = {worker.link: number for number, worker in self._workers.items()}
        for ready in wait([self._link, *of_link], self._patience()):
            if ready is self._link:
                self._handle(*_received(self._link))
            else:
                self._collect(of_link[ready])
        if self._orders and self._refusal is None:  # one at a time, as a large program may take long
            self._carry_out(self._orders.popleft())
        self._answer_hear()

    def _refuse(self, why: str) -> None:
        """Play no more, and say why with the next answer."""
        self._refusal = why
        self._end()

    def _end(self) -> None:
        """End all workers at once: nobody waits for what they have."""
        for worker in self._workers.values():
            worker.kill()
            worker.close()
        self._workers.clear()

    def _handle(self, number: int, request: HostRequest) -> None:
        self._asked_at = time.monotonic()
        if isinstance(request, Hear):
            while self._deliveries and self._first <= request.after:
                self._deliveries.popleft()
                self._first += 1
            if self._hear is not None:  # its answer was given up
                _answer(self._link, self._hear[0], HostNews(self._first, ()))
            self._hear = number, self._asked_at + request.patience
        elif isinstance(request, Tell):
            new = request.orders[max(0, self._last_order + 1 - request.first) :]
            self._orders += new
            self._last_order += len(new)
            _answer(self._link, number, None)

    def _carry_out(self, order: HostOrder | Parcel) -> None:
        if isinstance(order, Parcel):
            programs.keep_program(order, self._programs)
            return
        if order.worker in self._ended:
            return
        if order.worker not in self._workers:
            if order.command is None:
                self._deliveries.append((order.worker, Ended("has ended")))
                self._ended.add(order.worker)
                return
            self._workers[order.worker] = self._host.start()
        self._workers[order.worker].send(None if order.command is None else self._placed(order.command))

    def _placed(self, command: StartCommand) -> StartCommand:
        return command._replace(tasks=tuple(map(self._placed_task, command.tasks)))

    def _placed_task(self, task: Task) -> Task:
        return task._replace(lineup=tuple(map(self._placed_entrant, task.lineup)))

    def _placed_entrant(self, entrant: Entrant) -> Entrant:
        program_key = entrant.label, entrant.digest
        if program_key not in self._local_entrants:
            programs.check_program_files(entrant.cwd, self._programs)
            local = programs.placed(entrant, self._programs)
            if (tool := programs.missing_tool(local)) is not None:
                raise programs.Unfit(f"there is no {tool}, which {entrant.label} needs")
            self._local_entrants[program_key] = local
        return self._local_entrants[program_key]

    def _collect(self, number: int) -> None:
        worker = self._workers[number]
        what: Delivery | Ended | Bug
        try:
            what = worker.receive()
        except WorkerEnded as end:
            what = Ended(str(end))
        except RuntimeError as error:
            what = Bug(str(error))
        self._deliveries.append((number, what))
        if not isinstance(what, Delivery) or what.last:
            del self._workers[number]
            self._ended.add(number)
            worker.close()

    def _patience(self) -> float:
        """Return for how many seconds nothing has to be done unless something comes."""
        now = time.monotonic()
        if self._orders and self._refusal is None:
            return 0.0
        due = self._asked_at + EXPIRES
        if self._hear is not None:
            due = min(due, self._answer_due(self._hear[1]))
        return max(0.0, due - now)

    def _answer_due(self, latest: float) -> float:
        """Return when to answer: at once if the coordinator waits for it, else after what comes meanwhile, if any."""
        if self._refusal is not None or any(is_urgent(what) for _, what in self._deliveries):
            return 0.0
        return self._answered + GATHERING if self._deliveries else latest

    def _answer_hear(self) -> None:
        now = time.monotonic()
        if self._hear is None or now < self._answer_due(self._hear[1]):
            return
        number, _ = self._hear
        self._hear, self._answered = None, now
        _answer(self._link, number, HostNews(self._first, tuple(self._deliveries), self._refusal))


def is_urgent(what: Delivery | Ended | Bug) -> bool:
    """Tell whether the coordinator waits for it: the answer to a question, or how a worker ended."""
    if not isinstance(what, Delivery):
        return True
    return what.rested or what.last or what.spared is not None or what.returned is not None
