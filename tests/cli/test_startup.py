"""How soon the arena answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.command_list import COMMANDS
from tests.cli.commands import environment

HEAVY = {"grpc", "trueskill", "asyncio", "numpy", "pandas"}


@pytest.mark.parametrize("words", [["--help"], ["leaderboard", "-g", "birth"], ["bots"], ["show", "random"], ["games"]])
def test_looking_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    """What starts no bot needs no gRPC, which alone costs more time than all the rest."""
    for name in ("numpy", "pandas"):  # which sqlite_utils loads where they are
        (tmp_path / f"{name}.py").touch()
    program = f"import sys; from arena.cli import main; main({words!r}, standalone_mode=False); print(*sys.modules)"
    there = environment() | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=there, capture_output=True, text=True, check=True
    )
    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["nothing"]])
def test_help_loads_no_command(words: list[str], tmp_path: Path) -> None:
    """What each is for stands in one list, so that people and completion need not wait for all of them.

    Nor are the rooms loaded whose errors are said in one line: ending after help is none of them.
    """
    program = f"import sys; from arena.cli import main; main({words!r}, standalone_mode=False)"
    shown = f"import atexit, sys; atexit.register(lambda: print(*sys.modules)); {program}"
    done = subprocess.run(
        [sys.executable, "-c", shown], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "arena.cli" in loaded
    assert {command.module for command in COMMANDS.values()} & loaded == set()
    assert {"rich", "ladder"} & loaded == set()
    assert {name.split(".")[1] for name in loaded if name.startswith("arena.")} <= {"base", "cli", "terminal"}
