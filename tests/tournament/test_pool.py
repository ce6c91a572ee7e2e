"""Worker processes that do not do what they should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.clock import Limits
from arena.match import Outcome
from arena.task import Delivery, Link, Played, Task, Trouble
from arena.tournament import WorkersDied, pool
from arena.tournament.pool import DEATHS, WorkerProcess, Workers
from tests.tournament.playing import in_phases


class Doomed(Workers):
    """Every process is killed as soon as it is there."""

    hired = 0

    def _hire(self) -> WorkerProcess:
        self.hired += 1
        process = super()._hire()
        process._process.kill()
        return process


def tasks(*ids: str) -> Iterator[Task]:
    return (Task(id, "birth", {}, bytes(32), (), Limits()) for id in ids)


def test_workers_that_die_again_and_again_are_not_replaced_for_ever() -> None:
    """Something is wrong with the machine then; the line says what mostly helps."""
    workers = Doomed(jobs=1)
    with workers, pytest.raises(WorkersDied, match="a smaller -j"):
        list(in_phases(workers, list(tasks(*map(str, range(2 * DEATHS))))))
    assert workers.hired < 6 * DEATHS


def test_a_worker_that_starts_hears_no_ctrl_c() -> None:
    """Nor does the first one of a process, with which the tracker of multiprocessing starts too."""
    code = """
import signal
import subprocess
import sys
from arena.tournament import pool
process = pool._CONTEXT.Process(target=signal.raise_signal, args=(signal.SIGINT,))
with pool._no_interrupts():
    process.start()
process.join()
raise SystemExit(process.exitcode)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def fragile(link: Link, *_: object) -> None:
    """A worker that plays without bots and referee, and is killed by some matches."""
    while (order := link.recv()) is not None:
        for task in order.tasks:
            if task.id.startswith("killer"):
                os.kill(os.getpid(), signal.SIGKILL)
            link.send(Delivery([Played(task.id, Outcome((0, 0), (0, 0)))], Trouble()))
        if order.spare or order.rest:
            link.send(Delivery([], Trouble(), spared=() if order.spare else None, rested=order.rest))
    link.send(Delivery([], Trouble(), last=True))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_match_that_kills_its_worker_is_void_and_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else the worker held is played, and once each; so a ladder goes on, and three voids are enough."""
    monkeypatch.setattr(pool, "_work", fragile)
    ids = [f"killer {number}" if number in (7, 30) else f"{number}" for number in range(40)]
    with Workers(2) as workers:
        results = list(in_phases(workers, list(tasks(*ids))))
    assert sorted(played.id for played in results) == sorted(ids)
    voids = {played.id: played.void for played in results if played.outcome is None}
    assert voids == dict.fromkeys(
        ["killer 7", "killer 30"],
        "interrupted: the worker process was killed by SIGKILL, and it played nothing else",
    )


def test_nobody_is_hired_for_nothing() -> None:
    """A ladder that lacks nothing, or little, is over at once."""
    workers = Doomed(jobs=64)
    with workers:
        assert list(workers.play(iter([]))) == []
    assert workers.hired == 0
