"""What a bot in Python finds: its own files and packages, the SDK, and nothing else that is installed here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.confine import alone
from tests.cli.commands import arena
from tests.needs import grades

TRIES = """
import importlib, importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""
THERE = ["arena.games.birth", "arena.core.playouts", "arena_bot", "google.protobuf", "grpc.aio", "json", "sqlite3"]
NOT_THERE = ["pytest", "numpy", "rich", "click", "ladder", "pip"]
"""All of them are installed wherever tests run."""


def missed(*names: str, packages: tuple[str, ...] = (), cwd: Path, python: str = sys.executable) -> list[str]:
    env = {"PATH": os.environ["PATH"]}
    command = [python, "-c", TRIES, *names]
    done = subprocess.run(command, cwd=cwd, env=env | alone(env, *packages), check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_a_bot_finds_the_sdk_and_nothing_of_the_organisers(tmp_path: Path) -> None:
    """Otherwise it would pass here, and fail on every other machine."""
    assert missed(*THERE, cwd=tmp_path) == []
    assert missed(*NOT_THERE, cwd=tmp_path) == NOT_THERE
    assert missed("pip", "pytest", packages=("pip",), cwd=tmp_path) == ["pytest"]


def test_what_is_beside_it_comes_first(tmp_path: Path) -> None:
    """As for every program in Python; a folder without `__init__.py` adds to the SDK's."""
    (tmp_path / "numpy.py").touch()
    (tmp_path / "google/cloud").mkdir(parents=True)
    (tmp_path / "google/cloud/mine.py").touch()
    assert missed("numpy", "google.cloud.mine", "google.protobuf", cwd=tmp_path) == []


@pytest.mark.long
def test_another_python_is_left_as_it_is(tmp_path: Path) -> None:
    """An author may build an environment of his own, with what he likes."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "own"], cwd=tmp_path, check=True)
    (place,) = (tmp_path / "own/lib").glob("python3*/site-packages")
    (place / "mine.py").touch()
    assert missed("mine", cwd=tmp_path, python=str(tmp_path / "own/bin/python")) == []


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("ABCD"))
def test_that_is_so_in_every_sandbox(grade: str, tmp_path: Path) -> None:
    """And who misses a package learns where to name it."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.py").write_text("import arena_bot, numpy")
    ran = arena("check", "mine", "--quick", "--game", "birth", "--sandbox", grade, cwd=tmp_path)
    assert ran.code == 3
    assert "  | ModuleNotFoundError: No module named 'numpy'" in ran.out
    assert "requirements.txt" in ran.out
