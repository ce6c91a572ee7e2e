"""What a decision costs a bot in processor time, seen from outside, while others want the processors, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.worker.effort_meter import EffortMeter
from arena.worker.jobs import Effort
from arena.worker.worker import Worker
from tests.worker.conftest import PATIENT, bot, task

SECONDS = 0.02
"""For which the bot in question works, or sleeps, at each decision."""


@pytest.fixture
def worker(scratch: Path) -> Iterator[Worker]:
    """A worker whose bots play many matches at a time."""
    worker = Worker(scratch)
    yield worker
    worker.close()


def efforts(worker: Worker, doing: str) -> list[Effort]:
    """What was seen of a bot that does something at each decision, by looks ten times a second at its matches."""
    meter, seen = EffortMeter(), list[Effort]()

    def look() -> bool:
        seen.append(meter.look([playing.bots[0] for playing in worker.in_play()]))
        return False

    doer = bot(doing, "--seconds", str(SECONDS))
    worker.play([task(f"{doing} {number}", doer, bot(), limits=PATIENT) for number in range(20)], stop=look)
    return [effort for effort in seen if effort.decisions]


def test_a_look_tells_work_from_waiting(worker: Worker) -> None:
    """A bot that sleeps thinks as long by the clock, and costs hardly anything."""
    work, sleep = efforts(worker, "works"), efforts(worker, "thinks")
    assert work
    assert sleep
    for effort in work:
        assert effort.cpu / effort.decisions >= 0.7 * SECONDS, "some of them may not be made yet"
    for effort in sleep:
        assert effort.cpu / effort.decisions < 0.5 * SECONDS


def test_of_nobody_nothing_is_seen() -> None:
    """As before the first match."""
    assert EffortMeter().look([]) == Effort()
