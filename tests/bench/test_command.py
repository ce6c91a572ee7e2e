"""Where `arena bench` is a command: in a clone, for whoever works on the arena.

`tests/submission/test_templates.py` looks into a wheel.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import environment

INSTALLED = "import sys; sys.modules['arena.bench'] = None; from arena.cli import main; main()"
"""The `arena` command where this package is not there."""


def arena(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", INSTALLED, *words]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["bench"], ["bench", "--only", "ladder"], ["bench", "--help"]])
def test_it_takes_a_clone(words: list[str], tmp_path: Path) -> None:
    """Whoever read of it is told in one line what to do, which "unknown command" would not."""
    done = arena(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: `arena bench` takes a clone of the arena: what is installed lacks it; see `")


def test_an_installed_arena_does_not_list_it(tmp_path: Path) -> None:
    """The help has what works."""
    shown = arena(tmp_path, "--help").stdout
    assert "\n  doctor " in shown
    assert "\n  bench " not in shown
