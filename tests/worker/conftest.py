"""What the tests of the worker share: bots and tasks of a small game, and a check that no process is left behind."""

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
from ladder.store.records import ATTEMPTS_UNTIL_UNPLAYABLE
from tests.referee.conftest import scratch as scratch
from tests.referee.conftest import toy_game as toy_game
from tests.referee.toy import Toy

HOSTILE = Path(__file__).parent.parent / "hostile/bot.py"
PATIENT = Limits(decision=5.0, bank=10.0)
"""Limits for tests in which no bot may be late, however busy the machine is."""
BUSY = 10.0
"""Percentage of time in which something waits for a processor, above which the machine counts as overloaded."""


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fails if the tests of a module leave a process behind, even a zombie."""
    before = children()
    yield
    assert children() <= before


def children() -> set[str]:
    """The child processes of the test run, each as its id, name and state.

    Processes in the session of the test run are left out: Python's helper processes are in it, bots are not.
    """
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, name, state, parent = status.read_text().replace(") ", " ").replace("(", "").split()[:4]
        except (OSError, ValueError):
            continue  # it ended meanwhile, or its name has a space: no child of ours has such a name
        with contextlib.suppress(ProcessLookupError):
            if parent == str(os.getpid()) and os.getsid(int(pid)) != os.getsid(0):
                found.add(f"{pid} {name} {state}")
    return found


def bot(*arguments: str, name: str = "") -> Entrant:
    """A version that runs the hostile program with these arguments; if they name no misdeed, it is honest."""
    label = name or " ".join(arguments) or "honest"
    return Entrant(label, label, (sys.executable, str(HOSTILE), *arguments), "/tmp")


def inside(*arguments: str) -> Entrant:
    """The hostile program as a version that a sandbox of any grade can run: with its own folder and little else."""
    command = (sys.executable, HOSTILE.name, *arguments)
    return Entrant(" ".join(arguments), " ".join(arguments), command, str(HOSTILE.parent), {"PATH": os.environ["PATH"]})


def task(name: str, *lineup: Entrant, limits: Limits = PATIENT, seed: str = "", **options: Any) -> Task:
    """A task for a match of the toy game; its seed follows from `seed` or, without one, from `name`."""
    merged = dict(Toy().options(options))
    digest = sha256((seed or name).encode()).digest()
    return Task(name, "toy", merged, digest, lineup, limits)


def judged(worker: Worker, tasks: Sequence[Task]) -> dict[str, Played]:
    """Play tasks and return the results by id; matches void for overload are played again, as in a ladder.

    Fails if a match is void for overload although the machine is not busy.
    """
    results: dict[str, Played] = {}
    for _ in range(ATTEMPTS_UNTIL_UNPLAYABLE):
        finished = worker.play(tasks)
        results |= {played.id: played for played in finished}
        void = {id for id, played in results.items() if played.is_void_by(VoidReason.OVERLOAD)}
        tasks = [task for task in tasks if task.id in void]
        if not tasks:
            break
        assert busy(finished), f"nothing kept the judge of {void} from judging"
    return results


def busy(results: Sequence[Played]) -> bool:
    """Whether the machine is overloaded now, or was while these matches were played."""
    felt = [pressure() or 0.0, *(played.conditions.get("pressure") or 0.0 for played in results)]
    return max(felt) > BUSY or os.getloadavg()[0] > (os.cpu_count() or 1)
