"""Play what a ladder's schedule still lacks: matches out to workers, results in to the store.

Workers finish in any order; results are stored as they come and folded into ratings in the schedule's order. Only
this side writes.
"""

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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import replay, roster, worker
from arena.clock import Limits
from arena.games.rules import Game
from arena.match import SeatForfeit
from arena.seated import Entrant
from arena.worker import Played, Task, Trouble, Worker
from ladder import store
from ladder.schedule import TooFewBots

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from sqlite_utils import Database

FIRST_BATCH = 16
BATCH_SECONDS = 1.0
"""How long a batch should last: long enough to be worth its way, short enough to lose little."""
MAX_BATCH = 2000
BREAKS = 3
"""Workers that may die in a row, without a batch finished between, before it is an error."""
MAX_REPEATS = 8
"""More than a match is ever played again inside a worker: each seat's version falls back to one at a time once."""


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

        A worker that dies takes all workers' batches with it; they are played again by new ones.
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
                    breaks += 1
                    if breaks > BREAKS:
                        raise
                    running = self._again(list(running.values()))
                    break
                del running[future]
                breaks = 0
                self._trouble = self._trouble.and_also(done.trouble)
                if done.seconds > 0:
                    size = int(min(MAX_BATCH, max(4, len(done.played) * BATCH_SECONDS / done.seconds)))
                yield done.played

    def _submit(self, batch: list[Task]) -> Future[Batch]:
        return self._pool.submit(_play, batch, self._trouble)

    def _again(self, batches: list[list[Task]]) -> dict[Future[Batch], list[Task]]:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._new_pool()
        return {self._submit(batch): batch for batch in batches}

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs,
            mp_context=self._context,
            initializer=_begin_worker,
            initargs=(os.getpid(), self._stop, self._in_flight, self._scratch),
        )


_worker: Worker | None = None
_stop: Event | None = None


def _begin_worker(parent: int, stop: Event, in_flight: int, scratch: str) -> None:
    """Set up a worker process: it ends with the arena, and Ctrl-C in the terminal is the arena's to handle."""
    global _worker, _stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    _worker = Worker(Path(scratch), in_flight=in_flight)
    _stop = stop
    atexit.register(_worker.close)


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


class Progress(NamedTuple):
    """How far a ladder's run is."""

    done: int
    total: int
    decisions: int


Report = Callable[[Progress], None]


def check_field(home: Path, game: Game[Any], seats: int, wanted: Sequence[str] | None) -> list[str]:
    """The names of a ladder's field, looked up without writing anything.

    Raises BadSubmission for a name that cannot be in it and TooFewBots.
    """
    with store.open_read(home) as db:
        field = roster.names(db, game) if wanted is None else roster.check_names(db, game, wanted)
    if len(field) < seats:
        raise TooFewBots(f"{seats} players need {seats} bots, the field has {len(field)}: {', '.join(field)}")
    return field


def run_ladder(
    db: Database,
    home: Path,
    ladder: store.Ladder,
    field: Sequence[str],
    rounds: int,
    *,
    workers: Workers,
    report: Report,
    retry: bool = False,
) -> int:
    """Finish an interrupted leg, then play what the rounds of the field still lack; gives how many matches count."""
    entrant = roster.starter(db, home)
    played = play_scheduled(db, ladder, workers, entrant, report=report, retry=retry)
    if not workers.stopped and store.plan(db, ladder, field, rounds):
        played += play_scheduled(db, ladder, workers, entrant, report=report)
    return played


def play_scheduled(
    db: Database,
    ladder: store.Ladder,
    workers: Workers,
    entrant: Callable[[str], Entrant],
    *,
    report: Report,
    retry: bool = False,
) -> int:
    """Play every match that is scheduled; gives how many count. A void one comes again until it is unplayable."""
    played = decisions = 0
    while not workers.stopped:
        total = played + store.counts(db, ladder).scheduled
        tasks = (task(ladder, match, entrant) for match in store.scheduled(db, ladder, retry=retry))
        came = False
        for results in workers.play(tasks):
            came = came or bool(results)
            store.record(db, ladder, [finished(result) for result in results])
            store.fold(db, ladder)
            played += sum(result.outcome is not None for result in results)
            decisions += sum(len(result.choices) for result in results)
            report(Progress(played, total, decisions))
        retry = False
        if not came:
            break
    return played


def task(ladder: store.Ladder, match: store.ScheduledMatch, entrant: Callable[[str], Entrant]) -> Task:
    """A scheduled match as a worker gets it."""
    seats = len(match.line_up)
    return Task(
        match.id,
        ladder.key.game,
        ladder.key.options,
        match.seed,
        tuple(entrant(label) for label in match.line_up),
        (match.rotation,) * seats,
        Limits(**ladder.key.limits),
        match.attempts * MAX_REPEATS,
    )


def finished(played: Played) -> store.FinishedMatch | store.VoidMatch:
    """A result as the store takes it."""
    if played.outcome is None:
        return store.VoidMatch(played.id, played.void or "")
    forfeits = {forfeit.seat: forfeit for forfeit in played.outcome.forfeits}
    seats = tuple(
        seat_outcome(rank, score, record, forfeits.get(seat))
        for seat, (rank, score, record) in enumerate(
            zip(played.outcome.ranks, played.outcome.scores, played.seats, strict=True)
        )
    )
    return store.FinishedMatch(played.id, seats, replay.choices(played), replay.pack(played))


def seat_outcome(rank: int, score: int, record: worker.SeatRecord, forfeit: SeatForfeit | None) -> store.SeatOutcome:
    """How a match ended for one seat."""
    reason = None if forfeit is None else forfeit.reason.value
    evidence = None if forfeit is None else {"detail": forfeit.detail, **(record.evidence or {})}
    times = record.times
    return store.SeatOutcome(rank, score, reason, evidence, len(times), sum(times), max(times, default=0.0))
