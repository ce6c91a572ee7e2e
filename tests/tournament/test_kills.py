"""SIGKILL at any moment: nothing that was stored is lost, nothing is left behind, and the ladder ends the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import programs
from tests.tournament.conftest import eventually_gone

KILLS = 50
ROUNDS = 500
LADDER = ("ladder", "--game", "birth", "--seed", "same", "--bots", "slow,random", "-j", "2", "--rounds", str(ROUNDS))


class Ladder:
    """A ladder that runs in a folder, until somebody kills it."""

    def __init__(self, cwd: Path) -> None:
        self._home = cwd / ".arena"
        self._process = subprocess.Popen([ARENA, *LADDER], cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE)

    def done(self) -> int:
        """Matches that are stored."""
        with store.open_read(self._home) as db:
            return sum(store.counts(db, ladder).done for ladder in store.ladders(db))

    def play(self, matches: int) -> None:
        """Until at least so many more are stored."""
        wanted, deadline = self.done() + matches, time.monotonic() + PATIENCE
        while self.done() < wanted:
            assert self._process.poll() is None, "the ladder was over before all the kills"
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def workers(self) -> Iterator[psutil.Process]:
        """Its worker processes."""
        for child in psutil.Process(self._process.pid).children():
            with suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(child.cmdline()):
                    yield child

    def bots(self) -> Iterator[psutil.Process]:
        """The processes of its bots, and what is around them."""
        for worker in self.workers():
            with suppress(psutil.NoSuchProcess):
                yield from worker.children(recursive=True)

    def kill(self) -> None:
        """As for want of memory, or by a user who has lost patience; all that was stored is stored."""
        before = self.done()
        self._process.kill()
        self._process.communicate()
        assert self.done() >= before


def kill_one(luck: random.Random, victims: Callable[[], Iterator[psutil.Process]]) -> None:
    """SIGKILL for one of them that is alive."""
    while True:
        with suppress(psutil.NoSuchProcess, IndexError):
            return luck.choice(list(victims())).kill()
        time.sleep(0.01)


def finish(cwd: Path) -> str:
    """Play what is left; gives the hash."""
    ran = arena(*LADDER, "--json", cwd=cwd)
    assert ran.code == 0, ran.err
    board = json.loads(ran.out)
    assert board["matches"] == {"to_play": 0, "done": 2 * ROUNDS, "rated": 2 * ROUNDS, "unplayable": 0}
    return str(board["hash"])


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_fifty_kills_change_nothing(cwd: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The arena, and in turn workers and bots, at moments that a seed chooses: starting, playing, storing."""
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
    assert eventually_gone(cwd) == []
    assert list(Path(os.environ["TMPDIR"]).iterdir()) == []
