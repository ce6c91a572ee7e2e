"""A folder to play ladders in, with a check that no process or file is left behind; a ladder that nobody has played."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from sqlite_utils import Database

from arena import roster, submission
from arena.referee.limits import Limits
from ladder import store
from tests.cli.commands import PATIENCE


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to run commands in; fails if they leave a file in TMPDIR, or a process that works in the folder."""
    temporary = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # short: the path of a socket has at most 107 bytes
    monkeypatch.setenv("TMPDIR", str(temporary))
    yield tmp_path
    left = still_running(tmp_path)
    for process in left:
        process.kill()
    files = list(temporary.iterdir())
    shutil.rmtree(temporary)
    assert (left, files) == ([], [])


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """A home with two bots, of which neither is ever started."""
    with store.open(tmp_path, checkpoints=True) as db:
        for name in ("ann", "bob"):
            (tmp_path / f"{name}.py").write_text(name)
            kept = submission.store(
                submission.read_program(tmp_path / f"{name}.py", plays=["birth"]), roster.folder(tmp_path)
            )
            store.bots.add(db, store.bots.NewBot(name, kept.digest, games=kept.games, run=kept.run, origin="submitted"))
        yield db


@pytest.fixture
def ladder(db: Database) -> store.Ladder:
    """A ladder in which nothing was played."""
    key = store.records.LadderKey("birth", 2, {}, Limits().plain(), 1)
    return store.ladders.find_or_make(db, key, draw_probability=0.0, seed="x")


def processes_in(folder: Path) -> list[psutil.Process]:
    """The processes whose working directory is in a folder: commands, workers, bots without bubblewrap."""
    return [process for process in psutil.process_iter() if Path(_cwd(process)).is_relative_to(folder)]


def still_running(folder: Path) -> list[psutil.Process]:
    """Wait until no process runs in a folder; return those that still run after a quarter of `PATIENCE`."""
    deadline = time.monotonic() + PATIENCE / 4
    while (left := processes_in(folder)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def _cwd(process: psutil.Process) -> str:
    try:
        return os.readlink(f"/proc/{process.pid}/cwd")
    except OSError:
        return ""
