"""What commands say where there is no room left on the disk."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import arena
from tests.cli.conftest import make_home


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own that has room for one file of 4 KB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "arena-test", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.needs("mounting")
@pytest.mark.parametrize(
    "words",
    [["new", "x", "--language", "go"], ["new", "x"], ["backup", "x"], ["publish", "x"], ["ladder", "--game", "birth"]],
)
def test_a_full_disk_is_said_in_one_line(words: list[str], tiny: Path, tmp_path: Path) -> None:
    """And no half of a new bot is left, which a second try would find in its way."""
    make_home(tmp_path / "home")
    home: list[str | Path] = (
        [] if words[0] == "new" else ["--home", tiny / "h" if words[0] == "ladder" else tmp_path / "home"]
    )
    ran = arena(*words, *home, cwd=tiny)
    assert ran.code == 1
    assert ran.err.startswith("Error: ")
    assert len(ran.err.splitlines()) == 1
    assert "No space left on device" in ran.err or "is full" in ran.err
    if words[0] == "new":
        assert not (tiny / "x").exists()
