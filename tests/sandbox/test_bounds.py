"""What a bot may have of the machine is what it was told: neither much more, nor less because of the sandbox."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.sandbox import WEAKEST, Bounds, Grade, confine, probe
from arena.sandbox.cpu_usage import family
from arena.sandbox.run_folder import run_folder
from arena.sandbox.watchdog import look_once
from tests.needs import grades

THREADS = """
import mmap, sys, threading
hold = threading.Event()
threading.stack_size(8 << 20)
for _ in range({} - 1):
    threading.Thread(target=hold.wait, daemon=True).start()
"""
"""Has so many threads, each with a stack as large as most systems make them."""
HOARD = """
try:
    mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE)
except OSError:
    print("refused", flush=True)
"""
HELD = "print('ready', flush=True)\nhold.wait()\n"


@contextmanager
def running(grade: Grade, bounds: Bounds, script: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script as a bot in a sandbox without control groups, and end it after the block."""
    with run_folder() as folder:
        places = {name: folder / name for name in ("bot", "door", "tmp")}
        for place in places.values():
            place.mkdir()
        confined = confine(
            probe(grade)._replace(groups={}), [sys.executable, "-S", "-c", script],
            root=places["bot"], socket_folder=places["door"], scratch=places["tmp"],
            env={"PATH": "/usr/bin:/bin"}, bounds=bounds,
        )  # fmt: skip
        process = subprocess.Popen(
            confined.argv,
            env=confined.env,
            cwd=confined.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
            confined.release()


def printed(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("grade", grades("BCD"))
def test_all_threads_of_a_bot_start_and_memory_without_end_does_not(grade: Grade) -> None:
    """Stacks are reserved and hardly used; what is reserved has a bound, since the watchdog looks only now and then."""
    with running(grade, WEAKEST, THREADS.format(WEAKEST.tasks) + HOARD) as bot:
        assert printed(bot) == "refused"


@pytest.mark.parametrize("grade", grades("BCD"))
def test_a_bot_is_not_blamed_for_the_tasks_of_its_sandbox(grade: Grade) -> None:
    """It has all that it may have."""
    with running(grade, Bounds(tasks=8), THREADS.format(8) + HELD) as bot:
        assert printed(bot) == "ready"
        assert look_once(family(bot.pid), Bounds(tasks=8), None)[0] is None


@pytest.mark.needs("grade B")
def test_a_task_too_many_is_refused() -> None:
    """Where bubblewrap counts them, at once: a bot that begins others without end fills no table of the machine."""
    with running(Grade.B, Bounds(tasks=8), THREADS.format(9) + HELD) as bot:
        assert printed(bot) == ""


def test_a_bot_with_twice_its_tasks_has_gone_too_far() -> None:
    """Where nothing else holds it."""
    with running(Grade.D, Bounds(tasks=8), THREADS.format(16) + HELD) as bot:
        assert printed(bot) == "ready"
        excess, _ = look_once(family(bot.pid), Bounds(tasks=8), None)
    assert excess is not None
    assert excess.what == "had more than 8 processes and threads"
