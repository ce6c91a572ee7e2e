"""What a run leaves that could not clean up is removed by the next, and nothing else is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, suppress
from pathlib import Path

import psutil
import pytest

from arena.sandbox.contents import raise_limit
from arena.sandbox.run_folder import run_folder

RUN = """
import subprocess, sys
from arena.sandbox.run_folder import run_folder
with run_folder() as folder:
    (folder / "0").mkdir()
    (folder / "0" / "s").touch()
    told = {"ARENA_ADDR": f"unix:{folder}/0/s"}
    bot = subprocess.Popen(["sleep", "600"], env=told, stdout=subprocess.DEVNULL, start_new_session=True)
    print(folder, bot.pid, flush=True)
    sys.stdin.read()
"""
"""A run with a bot that outlives it."""

Start = Callable[[], tuple[subprocess.Popen[str], Path, psutil.Process]]


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory that nobody else uses, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def end(bot: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        bot.kill()


@pytest.fixture
def start(temporary: Path) -> Iterator[Start]:
    """Starts runs, and ends them."""
    with ExitStack() as ends:

        def started() -> tuple[subprocess.Popen[str], Path, psutil.Process]:
            run = ends.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=temporary
                )
            )
            ends.callback(run.kill)
            assert run.stdout is not None
            folder, pid = run.stdout.readline().split()
            bot = psutil.Process(int(pid))
            ends.callback(end, bot)
            return run, Path(folder), bot

        yield started


def test_a_dead_run_is_swept_and_a_living_one_is_not(start: Start, temporary: Path) -> None:
    """Its sockets and its bots alike; whether a run lives the kernel knows, whatever became of its process id."""
    dead, its_folder, its_bot = start()
    living, folder, bot = start()
    others = temporary / "arena-of-somebody-else"
    others.mkdir()
    dead.kill()
    dead.communicate()
    assert its_folder.is_dir()
    assert its_bot.is_running()
    with run_folder() as own:
        assert sorted(temporary.iterdir()) == sorted([own, folder, others])
    assert not its_bot.is_running() or its_bot.status() == psutil.STATUS_ZOMBIE
    assert (folder / "0" / "s").exists()
    assert bot.is_running()
    living.communicate("")
    assert sorted(temporary.iterdir()) == [others]


def test_a_folder_is_gone_however_its_run_ends(temporary: Path) -> None:
    """As long as anything of ours can still do something about it."""

    def interrupted() -> None:
        with run_folder() as folder:
            (folder / "socket").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(temporary.iterdir()) == []


def test_folders_may_be_nested_without_end(temporary: Path) -> None:
    """Deeper than Python recurses and than a path may be long: seen to be too much, and gone in the end."""
    with run_folder() as folder:
        with chdir(folder):
            for _ in range(2500):
                os.mkdir("a")
                os.chdir("a")
        assert raise_limit([folder], 2**40, 10_000)
    assert list(temporary.iterdir()) == []


def test_what_a_run_left_that_died_as_it_began_or_ended_is_swept(temporary: Path) -> None:
    """Before it had its lock, or after it had removed it; what another is making or removing just now stays."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, others = [temporary / f".arena-run-{number}-a_b1c2d3" for number in (dead.pid, os.getpid())]
    for folder in (left, others):
        (folder / "trial" / "machine").mkdir(parents=True)
    with run_folder() as folder:
        assert set(temporary.iterdir()) == {folder, others}
    assert list(temporary.iterdir()) == [others]


STOPPED = """
import os, signal
from pathlib import Path
from arena.sandbox import run_folder
run_folder.remove = lambda folder: (os.unlink(folder / "lock"), os.kill(os.getpid(), signal.SIGKILL))
with run_folder.run_folder() as folder:
    (folder / "0").mkdir()
"""


def test_a_run_that_is_killed_as_it_removes_its_folder_leaves_it_to_the_next(temporary: Path) -> None:
    """Its lock may be gone by then."""
    subprocess.run([sys.executable, "-c", STOPPED], check=False)
    assert len(list(temporary.iterdir())) == 1
    with run_folder() as folder:
        assert list(temporary.iterdir()) == [folder]


@pytest.mark.parametrize(("length", "fits"), [(59, True), (100, False)])
def test_sockets_find_room_wherever_temporary_files_lie(
    length: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of a socket has 107 bytes at most; a folder where it has room is not passed over."""
    with tempfile.TemporaryDirectory(prefix="t" * (length - len("/tmp/") - 8), dir="/tmp") as name:
        assert len(name) == length
        monkeypatch.setattr(tempfile, "tempdir", name)
        with run_folder() as folder, socket.socket(socket.AF_UNIX) as of_a_bot:
            assert (folder.parent == Path(name)) is fits
            worker = folder / "wabcdefgh/12345"
            worker.mkdir(parents=True)
            of_a_bot.bind(str(worker / "s"))


def test_a_home_kept_in_the_same_folder_stays(temporary: Path) -> None:
    """A copy of it may be called nearly as what a dead run leaves half made."""
    names = [".arena", ".arena-2025-06-01", ".arena-999999999-old", ".arena-run-notes-999999999", "arena-2025-06-01"]
    left = temporary / ".arena-run-999999999-a_b1c2d3"  # more than any process's number
    for folder in [*(temporary / name for name in names), left]:
        folder.mkdir()
        (folder / "arena.db").touch()
    with run_folder():
        assert {folder.name for folder in temporary.glob("*arena*") if (folder / "arena.db").exists()} == set(names)
