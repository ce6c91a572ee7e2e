"""The `arena` command as a test types it: inside this process, where no bot is started, or as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from arena.cli import main

ARENA = Path(sys.executable).with_name("arena")
PATIENCE = 120  # seconds; a command that needs them has failed, slow machine or not

RUN_BOTS = {"match", "ladder", "compare", "check", "submit", "debug"}
"""The commands that have a sandbox for them, and say so if it is weak."""


class Ran(NamedTuple):
    """What a command came to. Whether it began with a caution of a weak sandbox depends on the machine."""

    code: int
    out: str
    err: str
    caution: str = ""

    @classmethod
    def of(cls, code: int, out: str, err: str) -> Ran:
        """The same, with the caution told from what else was said."""
        caution = re.match(r"(sandbox grade [CD]: .*\n)?", err)
        assert caution is not None
        return cls(code, out, err[caution.end() :], caution[0])


def typed(*words: str | Path) -> Ran:
    """Run a command that starts no bot, inside this process."""
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="arena")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran.of(result.exit_code, result.stdout, result.stderr)


def arena(*words: str | Path, cwd: Path, patience: float = PATIENCE) -> Ran:
    """Run a command to its end as a process of its own."""
    done = subprocess.run(
        [ARENA, *words], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=patience, check=False
    )
    return Ran.of(done.returncode, done.stdout, done.stderr)


def environment() -> dict[str, str]:
    """A plain terminal's, whoever runs the tests."""
    said = {"ARENA_HOME", "ARENA_MAX_MEMORY", "ARENA_MAX_TASKS", "FORCE_COLOR", "COLUMNS"}
    return {name: value for name, value in os.environ.items() if name not in said}


def everything_in(folder: Path) -> dict[str, str]:
    """What a folder holds, to be compared with what it holds later: kind and content of everything in it."""
    kept = (path for path in sorted(folder.rglob("*")) if not _is_bookkeeping(path))
    return {str(path.relative_to(folder)): _content(path) for path in kept}


def _is_bookkeeping(path: Path) -> bool:
    """What SQLite leaves beside a database that was read, and the lock, which says who had it last."""
    return path.name in {"arena.db-shm", "arena.db-lock", "arena.lock"} or (
        path.name == "arena.db-wal" and not path.stat().st_size
    )


def _content(path: Path) -> str:
    if path.is_file() and not path.is_symlink():
        return sha256(path.read_bytes()).hexdigest()
    return "folder" if path.is_dir() else f"mode {path.lstat().st_mode}"
