"""The limit on processor time: what a bot burns is seen, whatever it answers; waiting costs nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.referee.frames import bot_seed
from arena.referee.limits import Limits
from arena.referee.match import Forfeit
from arena.worker.worker import Worker
from tests.worker.conftest import PATIENT, bot, task


@pytest.fixture
def worker(scratch: Path) -> Iterator[Worker]:
    """A worker whose bots play one match at a time."""
    worker = Worker(scratch, in_flight=1)
    yield worker
    worker.close()


def allowed(seconds: float) -> Limits:
    """Limits of so much processor time for a match, and time enough to use it up."""
    return PATIENT._replace(decision=60.0, cpu=seconds)


@pytest.mark.parametrize("doing", ["works --seconds 0.4", "burns_with_threads"])
def test_who_uses_too_much_processor_time_forfeits(worker: Worker, doing: str) -> None:
    """Each answer of the one comes in time, and the threads of the other need not wait for an answer to be seen."""
    begun = time.monotonic()
    (played,) = worker.play([task(doing, bot(*doing.split()), bot(), limits=allowed(0.7))])
    assert time.monotonic() - begun < 30
    assert played.outcome is not None
    (forfeit,) = played.outcome.forfeits
    assert (forfeit.seat, forfeit.reason) == (0, Forfeit.TIMEOUT)
    used = re.fullmatch(r"used (\d+\.\d{3}) s of processor time in a match; 0\.700 s are allowed", forfeit.detail)
    assert used, forfeit.detail
    assert float(used[1]) > 0.7


@pytest.mark.long
def test_each_match_has_its_own_allowance(worker: Worker) -> None:
    """What one match used is no burden for the next: three need more than a single one may."""
    works = bot("works", "--seconds", "0.1")
    tasks = [task(f"match {number}", works, bot(), limits=allowed(0.9)) for number in range(3)]
    assert [played.outcome and played.outcome.forfeits for played in worker.play(tasks)] == [()] * 3


@pytest.mark.long
def test_waiting_uses_no_processor_time(worker: Worker) -> None:
    """A bot that sleeps, or waits for a processor, pays by the clock alone."""
    (played,) = worker.play([task("sleeps", bot("thinks", "--seconds", "0.4"), bot(), limits=allowed(0.7))])
    assert played.outcome is not None
    assert played.outcome.forfeits == ()


@pytest.mark.long
def test_among_several_matches_it_is_forgiven_once(scratch: Path) -> None:
    """Nobody can tell which match the time went into: they are played again one at a time, and each pays for itself."""
    worker = Worker(scratch)
    works = bot("works", "--seconds", "0.9", "--at", "8", "--one-in", "2")  # by then all matches are in play
    try:
        tasks = [task(f"a {number}", works, bot(), limits=allowed(0.5), steps=10) for number in range(6)]
        played = {result.id: result.outcome for result in worker.play(tasks)}
    finally:
        worker.close()
    lost = {id for id, outcome in played.items() if outcome and outcome.forfeits}
    assert lost == {task.id for task in tasks if bot_seed(task.seed, 0)[0] % 2 == 0}  # as the bot chooses them
    assert len(lost) == 4
    (chance,) = worker.trouble.chances.values()
    assert re.fullmatch(r"used .* s of processor time in [2-6] matches; \d\.\d00 s are allowed", str(chance["detail"]))
