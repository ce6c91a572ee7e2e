"""Matches outside any ladder: nothing is stored and nobody is rated."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeAlias

from arena.games.rules import Game, Options
from arena.referee.limits import Limits
from arena.sandbox import UNCONFINED, Sandbox
from arena.sandbox.run_folder import run_folder
from arena.worker.bot_output import Logged, Sink
from arena.worker.jobs import Entrant, Played, Task
from arena.worker.progress import ProgressReport
from arena.worker.worker import Worker

WaitingTasks: TypeAlias = Callable[[str, str, str], None]
"""Called with the label, address and token of an external bot, which somebody else is to start."""
_REPORT_SECONDS = 0.5
"""About how many seconds a batch lasts, and so the time between two reports of progress."""


@contextmanager
def own_worker(
    *,
    in_flight: int | None = None,
    waiting: WaitingTasks | None = None,
    sandbox: Sandbox = UNCONFINED,
    logs: Sink | None = None,
) -> Iterator[Worker]:
    """Keep a worker in this process for as long as the block lasts.

    What bots print is gathered in `logs`, if there is such a list; it is complete after the block.
    """
    with run_folder() as scratch:
        worker = Worker(
            scratch, in_flight=in_flight, waiting=waiting, sandbox=sandbox, logs=logs, sorts_logs=logs is not None
        )
        try:
            yield worker
        finally:
            worker.close()


def tasks(
    game: Game[Any], lineup: Sequence[Entrant], *, options: Options, limits: Limits, seed: bytes, count: int
) -> list[Task]:
    """Make `count` matches of one line-up. The first has the seed itself, the others seeds derived from it."""
    return [
        Task(
            f"{number + 1}",
            game.name,
            options,
            seed if number == 0 else hmac.digest(seed, f"match/{number}".encode(), "sha256"),
            tuple(lineup),
            limits,
        )
        for number in range(count)
    ]


def play_unrated(
    worker: Worker, wanted: Sequence[Task], *, stop: Callable[[], bool], report: ProgressReport, logged: int = 0
) -> list[Played]:
    """Play all matches, or until `stop` returns True; return the finished ones in the order of `wanted`.

    Of what the worker gathers of logs, that of the last `logged` matches at least is kept.
    """
    report(0, len(wanted))
    results_by_id: dict[str, Played] = {}
    waiting, size = iter(wanted), 1
    while not stop() and (batch := list(islice(waiting, size))):
        begun = time.monotonic()
        results = worker.play(batch, stop=stop)
        size = max(1, min(2 * size, int(size * _REPORT_SECONDS / (time.monotonic() - begun))))
        results_by_id |= {result.id: result for result in results}
        report(len(results_by_id), len(wanted))
        if worker.logs:
            last = set(list(results_by_id)[-logged:])
            worker.logs[:] = [line for line in worker.logs if isinstance(line, Logged) and line.match in last]
    return [results_by_id[task.id] for task in wanted if task.id in results_by_id]
