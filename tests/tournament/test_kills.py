"""After SIGKILL at any moment no stored result is lost, no process is left, and the ladder ends the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from arena.tournament.verification import CHUNK
from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import playing, programs
from tests.tournament.conftest import still_running

KILLS = 20
STARTS = 20
ROUNDS = 500
FORGIVEN = ("--forgive", "slow", "--forgive", "random")
"""Options that give second chances back. A bot that is killed, without the sandbox around it, looks like one that
killed itself, and so uses its second chance."""
LADDER = ("ladder", "--game", "birth", "--seed", "same", "--bots", "slow,random", "-j", "2", "--rounds", str(ROUNDS))


class Ladder:
    """A ladder that runs in a folder until the test kills it."""

    def __init__(self, cwd: Path) -> None:
        self._home = cwd / ".arena"
        self._process = subprocess.Popen(
            [ARENA, *LADDER, *FORGIVEN], cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE
        )

    def done(self) -> int:
        """Number of matches whose results are stored."""
        with store.open_read(self._home) as db:
            return sum(store.ladders.counts(db, ladder).done for ladder in store.ladders.all(db))

    def play(self, matches: int) -> None:
        """Wait until at least so many more matches are stored."""
        wanted, deadline = self.done() + matches, time.monotonic() + PATIENCE
        while self.done() < wanted:
            assert self._process.poll() is None, "the ladder was over before all the kills"
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def workers(self) -> Iterator[psutil.Process]:
        """Yield the worker processes."""
        for child in psutil.Process(self._process.pid).children():
            with suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(child.cmdline()):
                    yield child

    def bots(self) -> Iterator[psutil.Process]:
        """Yield the processes of the bots, without the sandboxes: three kills of those make a match unplayable."""
        for worker in self.workers():
            with suppress(psutil.NoSuchProcess):
                for process in worker.children(recursive=True):
                    if "bwrap" not in " ".join(process.cmdline()):
                        yield process

    def kill(self) -> None:
        """Kill the arena's process, as the kernel does for want of memory; fails if stored results are lost."""
        before = self.done()
        self._process.kill()
        self._process.communicate()
        assert self.done() >= before


def kill_one(luck: random.Random, victims: Callable[[], Iterator[psutil.Process]]) -> None:
    """Send SIGKILL to one of these processes that is alive."""
    while True:
        with suppress(psutil.NoSuchProcess, IndexError):
            return luck.choice(list(victims())).kill()
        time.sleep(0.01)


def finish(cwd: Path) -> str:
    """Play the rest of the ladder; return its hash."""
    ran = arena(*LADDER, *FORGIVEN, "--json", cwd=cwd)
    assert ran.code == 0, ran.err
    board = json.loads(ran.out)
    counted = {"to_play": 0, "done": 2 * ROUNDS, "rated": 2 * ROUNDS, "unplayable": 0, "dropped": 0, "annulled": 0}
    assert board["matches"] == counted
    return str(board["hash"])


STARTING = """
import os, signal, sys
from multiprocessing import util

spawn = util.spawnv_passfds

def spawn_and_die(*words):
    started = spawn(*words)
    if "--multiprocessing-fork" in words[1]:
        os.kill(os.getpid(), signal.SIGKILL)
    return started

util.spawnv_passfds = spawn_and_die
"""
START = """
from arena.sandbox import UNCONFINED
from arena.worker.local_host import WorkerProcess
WorkerProcess(sys.argv[1], 1, UNCONFINED, 2**30, logs=True)
"""


def test_a_worker_that_starts_as_the_arena_is_killed_ends_without_a_word(cwd: Path) -> None:
    """A worker whose parent dies before it has sent anything ends silently."""
    words = [sys.executable, "-c", STARTING + START, str(cwd)]
    killed = subprocess.run(words, cwd=cwd, env=environment(), capture_output=True, timeout=PATIENCE, check=False)
    assert (killed.returncode, killed.stdout, killed.stderr) == (-signal.SIGKILL, b"", b"")
    assert still_running(cwd) == []


def ended_as_it_begins(*words: str, cwd: Path, after: float, how: signal.Signals) -> str:
    """Run a command, and send it a signal `after` seconds after its first child process appears; return its stderr.

    SIGKILL is sent to the command alone, any other signal to all of its processes.
    """
    process = subprocess.Popen(
        [ARENA, *words], cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True, start_new_session=True
    )
    ends = time.monotonic() + PATIENCE
    while process.poll() is None and not psutil.Process(process.pid).children():
        assert time.monotonic() < ends
        time.sleep(0.001)
    time.sleep(after)
    if process.poll() is None:
        (process.kill if how is signal.SIGKILL else partial(os.killpg, process.pid, how))()
    return process.communicate(timeout=PATIENCE)[1]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_kills_while_workers_start_leave_no_traceback(cwd: Path) -> None:
    """The arena is killed at random moments of the time that a ladder takes to begin."""
    seed = random.randrange(1 << 32)
    luck = random.Random(seed)
    for _ in range(STARTS):
        words = ("ladder", "--game", "birth", "--bots", "random,greedy", "-j", "4", "--rounds", "50")
        said = ended_as_it_begins(*words, cwd=cwd, after=luck.uniform(0, 0.6), how=signal.SIGKILL)
        assert "Traceback" not in said, (seed, said)
    arena("ladder", "--game", "birth", "--bots", "random,greedy", "--rounds", "1", cwd=cwd)
    assert still_running(cwd) == []


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_check_of_everything_ends_without_a_word_at_any_moment(cwd: Path, how: signal.Signals) -> None:
    """`arena verify` prints nothing when it is killed, or interrupted by a terminal, which signals all processes."""
    playing.make(cwd / ".arena", "birth", ["ann", "bob"], 2 * CHUNK)
    for moment in range(STARTS):
        said = ended_as_it_begins("verify", "-j", "3", cwd=cwd, after=moment / STARTS, how=how)
        assert [line for line in said.splitlines() if "verifying" not in line] == [], moment
    assert still_running(cwd) == []
    assert arena("verify", cwd=cwd).out.startswith(f"{4 * CHUNK:,} matches")


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_twenty_kills_change_nothing(cwd: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The arena, its workers and its bots are killed at moments that a seed chooses: starting, playing, storing."""
    programs.write(cwd, slow=programs.SLOW)
    assert arena("submit", "slow.py", "--game", "birth", cwd=cwd).code == 0
    undisturbed = Path(shutil.copytree(cwd, tmp_path_factory.mktemp("undisturbed"), dirs_exist_ok=True))
    luck, kills = random.Random(1), 0
    while kills < KILLS:
        ladder = Ladder(cwd)
        if kills % 10 < 2:
            time.sleep(luck.uniform(0, 1))
        else:
            ladder.play(luck.randrange(1, 5))
            kill_one(luck, ladder.bots if kills % 4 else ladder.workers)
            ladder.play(luck.randrange(1, 5))
            kills += 1
        ladder.kill()
        kills += 1
    assert finish(cwd) == finish(undisturbed)
    checked = arena("verify", "--json", cwd=cwd)
    assert (checked.code, json.loads(checked.out)["matches"]) == (0, 2 * ROUNDS)
    assert still_running(cwd) == []
    assert list(Path(os.environ["TMPDIR"]).iterdir()) == []
