"""A bot pays nothing when the sandbox around it is killed, which it cannot have done; it pays for its own end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.check import Unjudged
from arena.check.examined import examined
from arena.referee.match import Forfeit, Void, VoidReason
from arena.sandbox import Grade, NoSandbox, probe
from arena.worker.bot_process import Bot
from arena.worker.faults import FAILED_STARTS
from arena.worker.jobs import Played, Trouble
from arena.worker.worker import Worker
from tests.needs import grades
from tests.worker.conftest import inside, task

STALLS = inside("stalls", "--at", "2")
"""A bot that stops answering in its matches, so that there is time to kill it."""
HONEST = inside("--play", "last")


def kill(bot: Bot, number: int = signal.SIGKILL) -> None:
    """Send a signal to the process that the arena started: the sandbox around the bot, if there is one."""
    assert bot.pid is not None
    os.kill(bot.pid, number)


def killer(worker: Worker, number: int = signal.SIGKILL) -> Callable[[], bool]:
    """A `stop` callback that never stops a batch, but kills each process of `STALLS` once it is in a match."""
    killed: list[Bot] = []

    def look() -> bool:
        for bot in worker._pool:
            if bot.entrant == STALLS and bot.stream is not None and bot.stream.held and bot not in killed:
                kill(bot, number)
                killed.append(bot)
        return False

    return look


def forfeits(result: Played) -> list[tuple[int, Forfeit]]:
    """The forfeits of a match: seat and reason of each."""
    assert result.outcome is not None, result.void
    return [(forfeit.seat, forfeit.reason) for forfeit in result.outcome.forfeits]


@pytest.mark.long
@pytest.mark.parametrize(("number", "matches"), [(signal.SIGKILL, 1), (signal.SIGKILL, 6), (signal.SIGTERM, 1)])
@pytest.mark.parametrize("grade", grades("AB"))
def test_whose_sandbox_is_killed_loses_nothing(scratch: Path, grade: Grade, number: int, matches: int) -> None:
    """Its matches are void, to be played again. It keeps its second chance, and other matches go on."""
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        tasks = [task(f"{match}", STALLS, HONEST) for match in range(matches)]
        played = worker.play([*tasks, task("other", HONEST, HONEST)], stop=killer(worker, number))
        assert worker.trouble == Trouble()
    results = {result.id: result for result in played}
    assert forfeits(results.pop("other")) == []
    why = f"the sandbox around stalls --at 2 was killed by {signal.Signals(number).name}"
    assert {id: (result.outcome, result.void) for id, result in results.items()} == {
        each.id: (None, Void(VoidReason.INTERRUPTED, why)) for each in tasks
    }


@pytest.mark.parametrize("grade", grades("CD"))
def test_without_bubblewrap_it_cannot_be_told_who_killed(scratch: Path, grade: Grade) -> None:
    """There the bot itself is the process that the arena started, so it uses its second chance and then loses."""
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        (result,) = worker.play([task("one", STALLS, HONEST)], stop=killer(worker))
        assert worker.trouble.chances.keys() == {STALLS.digest}
    assert forfeits(result) == [(0, Forfeit.CRASH)]


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_who_kills_itself_uses_its_second_chance_and_then_loses(scratch: Path, grade: Grade) -> None:
    """When the bot inside is killed, bubblewrap is not: it exits and reports the signal, so the bot is to blame."""
    suicide = inside("is_killed", "--code", "9", "--at", "2")
    with closing(Worker(scratch, sandbox=probe(grade))) as worker:
        (result,) = worker.play([task("one", suicide, HONEST)])
        assert worker.trouble.chances[suicide.digest]["exit"] == "was killed by SIGKILL"
    assert forfeits(result) == [(0, Forfeit.CRASH)]


@pytest.mark.parametrize("grade", grades("AB"))
def test_who_takes_too_much_memory_loses_whatever_was_killed_for_it(scratch: Path, grade: Grade) -> None:
    """The kernel kills the bot in its control group, the arena kills the sandbox: both ways the bot is to blame."""
    greedy = inside("hogs_memory", "--at", "2")
    with closing(Worker(scratch, in_flight=1, sandbox=probe(grade))) as worker:
        (result,) = worker.play([task("one", greedy, HONEST)])
    assert forfeits(result) == [(0, Forfeit.OOM)]


def kill_all_at_once(patch: pytest.MonkeyPatch) -> None:
    """From now on every process that is started is killed at once, and the sandbox around a bot is not even set up."""
    start = subprocess.Popen.__init__

    def start_and_kill(process: subprocess.Popen[bytes], *arguments: Any, **options: Any) -> None:
        start(process, *arguments, **options)
        process.kill()

    patch.setattr(subprocess.Popen, "__init__", start_and_kill)


@pytest.mark.parametrize("grade", grades("AB"))
def test_a_sandbox_that_is_killed_as_it_starts_is_no_start_that_failed(
    scratch: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such starts are not counted, however many there are; else the bot would soon be disabled and forfeit."""
    sandbox = probe(grade)
    kill_all_at_once(monkeypatch)
    with closing(Worker(scratch, sandbox=sandbox)) as worker:
        results = [worker.play([task(f"{time}", HONEST, HONEST)])[0] for time in range(2 * FAILED_STARTS)]
        assert worker.trouble == Trouble()
    assert {result.void for result in results} == {
        Void(VoidReason.INTERRUPTED, "the sandbox around --play last was killed by SIGKILL")
    }


async def examine_and_kill() -> None:
    """Start examining a bot, kill its sandbox, and wait for a frame, which an honest bot does not send unasked."""
    async with examined(HONEST, 60, probe()) as bot:
        kill(bot)
        await bot.hear(60)


@pytest.mark.needs("grade B")
async def test_nothing_is_said_of_a_bot_whose_sandbox_is_killed_while_it_is_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed during the examination or at its start, the bot is not judged: the examination has to be repeated."""
    with pytest.raises(Unjudged, match="the sandbox around --play last was killed by SIGKILL"):
        await examine_and_kill()
    kill_all_at_once(monkeypatch)
    with pytest.raises(NoSandbox, match="the sandbox around --play last was killed by SIGKILL"):
        await examine_and_kill()
