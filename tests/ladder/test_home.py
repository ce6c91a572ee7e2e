"""A home is closed to other users of the machine: who reads an event seed foresees all dice of its ladder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder import store
from ladder.store.export import copy_database
from tests.ladder.fakes import enter


@pytest.fixture(params=[0o000, 0o022])
def careless(request: pytest.FixtureRequest) -> Iterator[None]:
    """A umask that leaves what is made open to others."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def opened(folder: Path) -> list[str]:
    """What of a folder, itself included, others may use in any way."""
    return [path.name for path in (folder, *folder.iterdir()) if path.stat().st_mode & 0o077]


def make_open(home: Path) -> None:
    """As an arena of before left it."""
    store.open(home).close()
    home.chmod(0o755)
    for path in home.iterdir():
        path.chmod(0o644)


def refuse(*_: object, **__: object) -> None:
    raise PermissionError


@pytest.mark.usefixtures("careless")
def test_a_new_home_is_made_closed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file of it from its first moment on, so there is nothing to be closed afterwards."""
    monkeypatch.setattr(os, "chmod", refuse)
    with store.database.exclusive(home), store.open(home, checkpoints=True) as db:
        enter(db, "greedy")
        assert {path.name for path in home.iterdir()} >= {"arena.db", "arena.db-wal", "arena.db-shm", "arena.lock"}
        assert opened(home) == []


@pytest.mark.usefixtures("careless")
def test_a_backup_is_closed(home: Path, tmp_path: Path) -> None:
    """It has the same seeds in it, also while it is being written."""
    store.open(home).close()
    (backups := tmp_path / "backups").mkdir(mode=0o700)
    seen = []
    with store.open_read(home) as db:
        copy_database(db, backups / "monday.db", lambda *_: seen.append(opened(backups)))
    assert seen
    assert [*seen, opened(backups)] == [[]] * (len(seen) + 1)


def test_an_open_home_is_closed_by_who_writes_next(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Once, with one line; who may do what else in it stays as it was."""
    make_open(home)
    with store.open(home) as db:
        enter(db, "greedy")
        assert opened(home) == []
    store.open(home).close()
    assert caplog.messages == [
        f"other users could look into {str(home)!r}, also at the seeds of dice: now it is closed to them"
    ]
    assert stat.S_IMODE((home / "arena.db").stat().st_mode) == 0o600


def test_who_only_looks_closes_nothing(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """To look is not to change."""
    make_open(home)
    store.open_read(home).close()
    assert set(opened(home)) >= {"home", "arena.db"}
    assert caplog.messages == []


def test_a_home_that_one_may_not_close_can_be_written(
    home: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is somebody else's, who is to know."""
    make_open(home)
    monkeypatch.setattr(os, "chmod", refuse)
    with store.open(home) as db:
        assert enter(db, "greedy") == ["greedy@1"]
    assert caplog.messages == [
        f"other users can look into {str(home)!r}, also at the seeds of dice: let its owner chmod it to 700"
    ]


def test_a_folder_that_all_share_is_not_closed(home: Path) -> None:
    """As /tmp is; the files in it are."""
    make_open(home)
    home.chmod(0o1777)
    store.open(home).close()
    assert opened(home) == ["home"]


def test_a_folder_with_other_things_in_it_is_not_closed(home: Path) -> None:
    """Whoever keeps a home in a folder of a website does not mean to close that; seeds and programs are."""
    make_open(home)
    (home / "index.html").touch()
    (home / "bots").mkdir(mode=0o755)
    store.open(home).close()
    assert set(opened(home)) == {"home", "index.html"}


def test_files_in_a_closed_folder_are_closed_without_a_word(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody could look into them."""
    make_open(home)
    home.chmod(0o700)
    store.open(home).close()
    assert (opened(home), caplog.messages) == ([], [])
