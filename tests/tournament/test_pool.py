"""Worker processes that do not do what they should."""

from __future__ import annotations

import pytest

from arena.clock import Limits
from arena.tournament import WorkersDied
from arena.tournament.pool import DEATHS, WorkerProcess, Workers
from arena.worker import Task


class Doomed(Workers):
    """Every process is killed as soon as it is there."""

    hired = 0

    def _hire(self) -> WorkerProcess:
        self.hired += 1
        process = super()._hire()
        process._process.kill()
        return process


def test_workers_that_die_again_and_again_are_not_replaced_for_ever() -> None:
    """Something is wrong with the machine then; the line says what mostly helps."""
    task = Task("m", "birth", {}, bytes(32), (), (), Limits())
    workers = Doomed(jobs=1)
    with workers, pytest.raises(WorkersDied, match="a smaller -j"):
        list(workers.play(iter([task])))
    assert workers.hired == 1 + DEATHS


def test_nobody_is_hired_for_nothing() -> None:
    """A ladder that lacks nothing, or little, is over at once."""
    workers = Doomed(jobs=64)
    with workers:
        assert list(workers.play(iter([]))) == []
    assert workers.hired == 0
