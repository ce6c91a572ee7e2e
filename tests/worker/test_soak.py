"""All misdeeds together in long batches: every match gets a result, and no process or file descriptor leaks."""

from __future__ import annotations

import gc
import os
import random
from pathlib import Path

import pytest

from arena.worker.jobs import Entrant, Task
from arena.worker.worker import Worker
from tests.worker.conftest import PATIENT, bot, children, task
from tests.worker.test_faults import AT_DECISIONS, HARMLESS

HABITS = [doing for doing in HARMLESS if "exits" not in doing and "goodbye" not in doing]
MISDEEDS = [case.arguments for case in AT_DECISIONS if case.limits is PATIENT]


def lineup(chance: random.Random, notes: Path) -> tuple[Entrant, ...]:
    """Two to four bots, drawn from three honest ones, an odd but harmless one, and two that misbehave now and then."""
    bots = [bot("--play", play) for play in ("first", "last", "random")]
    bots += [bot(*chance.choice(MISDEEDS).split(), "--one-in", "3") for _ in range(2)]
    bots += [bot(*chance.choice(HABITS).split(), "--notes", str(notes))]
    return tuple(chance.choices(bots, k=chance.choice([2, 2, 3, 4])))


def batch(chance: random.Random, notes: Path, number: int) -> list[Task]:
    """Forty matches with different line-ups, numbers of steps, and ways to take turns."""
    return [
        task(
            f"{number}.{match}",
            *lineup(chance, notes),
            turns=chance.random() < 0.5,
            steps=chance.randrange(1, 12),
        )
        for match in range(40)
    ]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("room", [3, 64])
def test_a_long_run_of_all_misdeeds(scratch: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Bots that do not misbehave never forfeit, however few processes may run at once."""
    monkeypatch.setattr("arena.worker.capacity.MOST", room)
    chance = random.Random(room)
    open_files = []
    for number in range(3):
        tasks = {each.id: each for each in batch(chance, scratch, number)}
        worker = Worker(scratch)
        played = worker.play(list(tasks.values()))
        worker.close()
        gc.collect()  # what tests before this one have left open
        open_files.append(len(os.listdir("/proc/self/fd")))
        assert sorted(result.id for result in played) == sorted(tasks)
        for result in played:
            assert result.outcome is not None, result.void
            blamed = {tasks[result.id].lineup[forfeit.seat].label for forfeit in result.outcome.forfeits}
            assert {label for label in blamed if "--one-in" not in label} == set()
        assert children() == set()
    assert open_files[-1] <= open_files[1]
