"""What `.ci/subjects` says of the messages of commits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WHO = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit."""
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "The first one", lines=1)
    return tmp_path


def git(where: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", where, *WHO, *words], check=True, capture_output=True, text=True).stdout


def commit(where: Path, *message: str, lines: int) -> None:
    """Change so many lines of a file."""
    with (where / "file").open("a") as file:
        file.write("a line\n" * lines)
    git(where, "add", "file")
    git(where, "commit", "--quiet", *(word for part in message for word in ("-m", part)))


def said(where: Path, base: str) -> list[str]:
    """Run the check of all commits after `base`; it fails exactly if it says something."""
    ran = subprocess.run(
        [sys.executable, ROOT / ".ci/subjects", base], cwd=where, capture_output=True, text=True, check=False
    )
    assert ran.returncode == bool(ran.stderr)
    return [line.partition(" ")[2] for line in ran.stderr.splitlines()]


def test_a_subject_fits_into_a_list(repository: Path) -> None:
    """Where it is read most often, the rest is cut off."""
    commit(repository, "a" * 72, lines=1)
    assert said(repository, "HEAD~1") == []
    commit(repository, "b" * 73, lines=1)
    assert said(repository, "HEAD~1") == [f"'{'b' * 73}': the subject has 73 characters, and lists show 72"]


def test_a_large_change_says_why(repository: Path) -> None:
    """Who finds it later sees what was done, but not what for."""
    commit(repository, "Small", lines=100)
    commit(repository, "Large, with a reason", "Because.", lines=101)
    assert said(repository, "HEAD~2") == []
    commit(repository, "Large", lines=101)
    assert said(repository, "HEAD~1") == ["'Large': 101 lines changed, and no body says why"]


def test_what_was_there_before_is_not_looked_at(repository: Path) -> None:
    """Nobody can change it any more; a clone that has not got the base has little else, and its last commit counts."""
    commit(repository, "c" * 80, lines=1)
    commit(repository, "Fine", lines=1)
    assert said(repository, "HEAD~1") == []
    assert said(repository, "0" * 40) == []
    commit(repository, "d" * 80, lines=1)
    assert len(said(repository, "0" * 40)) == 1
