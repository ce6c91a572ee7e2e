"""When the disk is full a ladder stops with one line and loses nothing; it goes on when there is room."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder import store
from tests.cli.commands import Ran, arena

LADDER = ("ladder", "--game", "birth", "--seed", "same", "--bots", "random,greedy", "-j", "1")
ROUNDS = 250
SIZE = 8 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, of 8 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "arena-test", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def ladder(cwd: Path, rounds: int) -> Ran:
    return arena(*LADDER, "--rounds", str(rounds), "--json", cwd=cwd)


def fill(disk: Path, but: int) -> Path:
    """Fill a disk until `but` bytes are free; return the file that takes the room."""
    ballast = disk / "ballast"
    space = os.statvfs(disk)
    ballast.write_bytes(bytes(space.f_bavail * space.f_frsize - but))
    return ballast


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The hash of the same ladder on a disk with enough room."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert ladder(folder, 1).code == 0
    return str(json.loads(ladder(folder, ROUNDS).out)["hash"])


@pytest.mark.long
@pytest.mark.needs("mounting")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("floor", "free"), [(512 << 10, 768 << 10), (0, 384 << 10), (0, 0)])
@pytest.mark.usefixtures("cwd")
def test_a_full_disk_stops_the_ladder_and_loses_nothing(
    floor: int, free: int, disk: Path, undisturbed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arena stops in time if it keeps some space free, but also if the disk fills up between two writes."""
    monkeypatch.setenv("ARENA_FREE_SPACE", str(floor))
    assert ladder(disk, 1).code == 0
    ballast = fill(disk, but=free)
    stopped = ladder(disk, ROUNDS)
    assert (stopped.code, stopped.out) == (1, "")
    *_, said = stopped.err.splitlines()
    assert said.startswith("Error: ")
    assert "the disk is full: make room and run the command again; what was stored is safe" in said
    with store.open_read(disk / ".arena") as db:
        kept = sum(store.ladders.counts(db, each).done for each in store.ladders.all(db))
    assert 2 <= kept < 2 * ROUNDS
    assert arena("verify", cwd=disk).code == 0
    ballast.unlink()
    finished = json.loads(ladder(disk, ROUNDS).out)
    assert (finished["played"], finished["hash"]) == (2 * ROUNDS - kept, undisturbed)
