"""What the workers' tests share: bots that play a small game, and a look at what is left behind."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena.referee.limits import Limits
from arena.referee.match import VoidReason
from arena.sandbox.cpu_usage import pressure
from arena.worker.jobs import Entrant, Played, Task
from arena.worker.worker import Worker
from ladder.store.results import ATTEMPTS
from tests.referee.conftest import scratch as scratch
from tests.referee.conftest import toy_game as toy_game
from tests.referee.toy import Toy

HOSTILE = Path(__file__).parent.parent / "hostile/bot.py"
PATIENT = Limits(decision=5.0, bank=10.0)
"""For tests in which nobody is to be late, however busy the machine is."""
BUSY = 10.0
"""Per cent of the time in which something waits for a processor, less than which excuses no judge."""


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No test may leave a process, not even a zombie."""
    before = children()
    yield
    assert children() <= before


def children() -> set[str]:
    """The processes whose parent we are, by id, name and state.

    Those of our own session are left out: bots have sessions of their own, Python's helper processes have not.
    """
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, name, state, parent = status.read_text().replace(") ", " ").replace("(", "").split()[:4]
        except (OSError, ValueError):
            continue  # it ended while we looked, or its name has a space: none of ours
        with contextlib.suppress(ProcessLookupError):
            if parent == str(os.getpid()) and os.getsid(int(pid)) != os.getsid(0):
                found.add(f"{pid} {name} {state}")
    return found


def bot(*arguments: str, name: str = "") -> Entrant:
    """A version that is the hostile program with these arguments; honest without a misdeed."""
    label = name or " ".join(arguments) or "honest"
    return Entrant(label, label, (sys.executable, str(HOSTILE), *arguments), "/tmp")


def inside(*arguments: str) -> Entrant:
    """The hostile program as it is found inside a sandbox."""
    command = (sys.executable, HOSTILE.name, *arguments)
    return Entrant(" ".join(arguments), " ".join(arguments), command, str(HOSTILE.parent), {"PATH": os.environ["PATH"]})


def task(name: str, *lineup: Entrant, limits: Limits = PATIENT, seed: str = "", **options: Any) -> Task:
    """A match of the toy game; its seed comes from its name."""
    merged = dict(Toy().options(options))
    digest = sha256((seed or name).encode()).digest()
    return Task(name, "toy", merged, digest, lineup, limits)


def judged(worker: Worker, tasks: Sequence[Task]) -> dict[str, Played]:
    """Results by id; a match for which the machine was too busy is played again by fresh processes, as in a ladder.

    Only where it was: a judge that gives up on a quiet machine is at fault.
    """
    results: dict[str, Played] = {}
    for _ in range(ATTEMPTS):
        finished = worker.play(tasks)
        results |= {played.id: played for played in finished}
        void = {id for id, played in results.items() if played.is_void_by(VoidReason.OVERLOAD)}
        tasks = [task for task in tasks if task.id in void]
        if not tasks:
            break
        assert busy(finished), f"nothing kept the judge of {void} from judging"
    return results


def busy(results: Sequence[Played]) -> bool:
    """Whether the machine had more to do than it can, now or while these were played."""
    felt = [pressure() or 0.0, *(played.conditions.get("pressure") or 0.0 for played in results)]
    return max(felt) > BUSY or os.getloadavg()[0] > (os.cpu_count() or 1)
