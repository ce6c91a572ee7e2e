"""Whatever interrupts a ladder, the next run continues it, and the final result is as if nothing had happened."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from arena.referee.match import VoidReason
from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import programs
from tests.tournament.conftest import processes_in, still_running

ROUNDS = 60
MATCHES = 2 * ROUNDS
BIRTH = ("--game", "birth")
LADDER = ("ladder", *BIRTH, "--seed", "same", "--rounds", str(ROUNDS), "--bots", "slow,random", "-j", "2")


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in whose home a bot is entered that plays slowly enough to be interrupted."""
    folder = tmp_path_factory.mktemp("entered")
    programs.enter(folder, slow=programs.SLOW)
    return folder


@pytest.fixture
def cwd(cwd: Path, entered: Path) -> Path:
    """A copy of the folder `entered`."""
    return Path(shutil.copytree(entered, cwd, dirs_exist_ok=True))


@pytest.fixture(scope="module")
def undisturbed(entered: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of a ladder that nobody interrupted."""
    folder = shutil.copytree(entered, tmp_path_factory.mktemp("undisturbed"), dirs_exist_ok=True)
    return finish(folder)


def finish(cwd: Path) -> str:
    """Play the rest of the ladder; return its hash."""
    ran = arena(*LADDER, "--json", cwd=cwd)
    assert ran.code == 0, ran.err
    board = json.loads(ran.out)
    counted = {"to_play": 0, "done": MATCHES, "rated": MATCHES, "unplayable": 0, "dropped": 0, "annulled": 0}
    assert board["matches"] == counted
    return str(board["hash"])


@contextmanager
def in_the_middle(cwd: Path, *before: str, rounds: int = ROUNDS) -> Iterator[subprocess.Popen[str]]:
    """A running ladder that has stored some results, but not all; `before` are words in front of the command."""
    words = [*before, str(ARENA), *LADDER, "--rounds", str(rounds)]
    process = subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True)
    try:
        deadline = time.monotonic() + PATIENCE
        while not 0 < done(cwd) < 2 * rounds:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def done(cwd: Path) -> int:
    with store.open_read(cwd / ".arena") as db:
        return sum(store.ladders.counts(db, ladder).done for ladder in store.ladders.all(db))


long = (pytest.mark.long, pytest.mark.timeout(300))
others = (pytest.param(number, marks=long) for number in (signal.SIGTERM, signal.SIGHUP))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, *others])
def test_an_interrupted_ladder_goes_on(number: signal.Signals, cwd: Path, undisturbed: str) -> None:
    """It soon ends with a leaderboard, says how many matches are left, and leaves no process behind.

    The next run plays only those matches.
    """
    with in_the_middle(cwd) as process:
        process.send_signal(number)
        board, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert still_running(cwd) == []
    kept = done(cwd)
    told = f"interrupted after {kept} matches; the same command plays the other {MATCHES - kept}"
    assert told in said.splitlines()
    assert f"{kept} matches" in board.splitlines()[0]
    assert finish(cwd) == undisturbed


@pytest.mark.long
@pytest.mark.timeout(300)
def test_nohup_is_respected(cwd: Path) -> None:
    """Under nohup a ladder plays to its end although the terminal is closed."""
    with in_the_middle(cwd, "nohup") as process:
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=PATIENCE)
    assert (process.returncode, done(cwd)) == (0, MATCHES)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_ctrl_c_in_a_terminal_reaches_every_process_and_is_the_same(cwd: Path, undisturbed: str) -> None:
    """A terminal sends SIGINT to the workers, too; they must not print anything."""
    with in_the_middle(cwd) as process:
        for each in [psutil.Process(process.pid), *psutil.Process(process.pid).children()]:
            each.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert len([line for line in said.splitlines() if " matches to go" not in line]) == 3
    assert finish(cwd) == undisturbed


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_worker_that_is_killed_is_replaced(cwd: Path, undisturbed: str) -> None:
    """The kernel may kill a worker for want of memory; the matches that it held are played again."""
    with in_the_middle(cwd) as process:
        workers(process.pid)[0].kill()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert finish(cwd) == undisturbed


def workers(ladder: int) -> list[psutil.Process]:
    """The worker processes of a ladder."""
    return [child for child in psutil.Process(ladder).children() if "spawn_main" in " ".join(child.cmdline())]


def interrupted(cwd: Path) -> set[str]:
    """The reasons of void attempts that were recorded because a process was killed."""
    with store.open_read(cwd / ".arena") as db:
        told = [reason for (voids,) in db.execute("SELECT voids FROM matches") for reason in json.loads(voids)]
    return {reason for reason in told if reason.startswith(VoidReason.INTERRUPTED)}


def kill_a_sandbox(ladder: int, cwd: Path) -> None:
    """Kill sandboxes of bots until the store has recorded that a match was interrupted.

    One kill may not be enough: between two phases there is no bot, or none that plays.
    """
    deadline = time.monotonic() + PATIENCE
    while not interrupted(cwd):
        with suppress(psutil.NoSuchProcess):
            for sandbox in [sandbox for worker in workers(ladder) for sandbox in worker.children()][:1]:
                sandbox.kill()
        told = time.monotonic() + 2
        while not interrupted(cwd) and time.monotonic() < told:
            time.sleep(0.01)
        assert time.monotonic() < deadline


@pytest.mark.long
@pytest.mark.needs("grade B")
def test_a_bot_whose_sandbox_is_killed_pays_nothing(cwd: Path, undisturbed: str) -> None:
    """The bot cannot have done that itself: its matches are played again, and it keeps its second chance."""
    with in_the_middle(cwd) as process:
        kill_a_sandbox(process.pid, cwd)
        _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "several matches" in said) == (0, False), said
    ours = re.compile("interrupted: the sandbox around (slow|random)@1 was killed by SIGKILL")
    assert all(map(ours.fullmatch, interrupted(cwd)))
    assert finish(cwd) == undisturbed


@pytest.mark.long
@pytest.mark.timeout(300)
def test_an_arena_that_is_killed_takes_its_bots_along(cwd: Path, undisturbed: str) -> None:
    """No process is left to end the bots, so the kernel does. Stored results count, and the next run goes on."""
    with in_the_middle(cwd) as process:
        assert len(processes_in(cwd)) > 3
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
    assert still_running(cwd) == []
    kept = done(cwd)
    assert 0 < kept < MATCHES
    assert finish(cwd) == undisturbed


def remove(home: Path) -> None:
    (home / "arena.db").unlink()


def move(home: Path) -> None:
    (home / "arena.db").rename(home / "moved.db")


def restore(home: Path) -> None:
    shutil.copyfile(home.with_name("older.db"), home / "arena.db")


def remove_all(home: Path) -> None:
    shutil.rmtree(home)


@pytest.mark.long
@pytest.mark.parametrize(
    ("displace", "line", "afterwards"),
    [
        (remove, "arena.db was taken away while it was in use: put it or a backup", "arena.db is gone, and"),
        pytest.param(move, "arena.db was taken away while it was in use", "arena.db is gone, and", marks=long),
        pytest.param(restore, "arena.db (was overwritten|is damaged)", "damaged|less than was", marks=long),
        pytest.param(remove_all, "(removed|taken away) while it was in use", "unknown bot 'slow'", marks=long),
    ],
)
def test_a_ladder_whose_database_is_displaced_stops(
    displace: Callable[[Path], None], line: str, afterwards: str, cwd: Path
) -> None:
    """It stops soon, with one line. The next run is refused, too, and does not silently begin a new ladder."""
    shutil.copyfile(cwd / ".arena/arena.db", cwd / "older.db")
    with in_the_middle(cwd, rounds=10_000) as process:
        displace(cwd / ".arena")
        board, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, board) == (1, "")
    *_, error = said.splitlines()
    assert error.startswith("Error: ")
    assert re.search(line, error)
    assert "Traceback" not in said
    assert still_running(cwd) == []
    again = arena(*LADDER, cwd=cwd)
    assert (again.code, again.out) == (1, "")
    assert re.search(afterwards, again.err)


@pytest.mark.long
def test_a_second_ladder_is_refused_and_a_submission_is_not(cwd: Path) -> None:
    """Only one ladder can run in a home. Bots can be submitted meanwhile, and play in the next run."""
    programs.write(cwd, late=programs.FIRST)
    with in_the_middle(cwd, rounds=10_000) as process:
        second = arena(*LADDER, cwd=cwd)
        submitted = arena("submit", "late.py", *BIRTH, cwd=cwd)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert (second.code, second.out) == (1, "")
    assert f"process {process.pid}" in second.err
    assert submitted.out.startswith("accepted as late@1")
    next_one = arena("ladder", *BIRTH, "--limit", "2s", "--rounds", "1", "--bots", "late,random", cwd=cwd)
    assert "late@1" in next_one.out
