"""Functions with which tests run the `arena` command: in this process if no bot is started, or as a new process."""

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
PATIENCE = 300  # seconds; a command that takes longer has failed, even on a slow machine

RUN_BOTS = {"match", "play", "ladder", "compare", "check", "submit", "debug"}
"""The commands that run bots in a sandbox, and print a caution if it is weak."""


class Ran(NamedTuple):
    """Exit code and output of a command. `caution`, of a weak sandbox, is separate: it depends on the machine."""

    code: int
    out: str
    err: str
    caution: str = ""

    @classmethod
    def of(cls, code: int, out: str, err: str) -> Ran:
        """Create a result from a command's stderr, of which the caution, if any, is the first line."""
        caution = re.match(r"(sandbox grade [CD]: .*\n)?", err)
        assert caution is not None
        return cls(code, out, err[caution.end() :], caution[0])


def typed(*words: str | Path) -> Ran:
    """Run a command that starts no bot, in this process."""
    result = CliRunner().invoke(main, [str(word) for word in words], prog_name="arena")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran.of(result.exit_code, result.stdout, result.stderr)


def arena(*words: str | Path, cwd: Path, patience: float = PATIENCE) -> Ran:
    """Run a command as a new process and wait for its end, for `patience` seconds at most."""
    done = subprocess.run(
        [ARENA, *words], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=patience, check=False
    )
    return Ran.of(done.returncode, done.stdout, done.stderr)


def environment() -> dict[str, str]:
    """The environment of this process, without the variables that change what commands print or do."""
    said = {"ARENA_HOME", "ARENA_MAX_MEMORY", "ARENA_MAX_TASKS", "FORCE_COLOR", "COLUMNS"}
    return {name: value for name, value in os.environ.items() if name not in said}


def everything_in(folder: Path) -> dict[str, str]:
    """Everything in a folder by path, each with its kind or a digest of its content, to compare it with later."""
    kept = (path for path in sorted(folder.rglob("*")) if not _is_bookkeeping(path))
    return {str(path.relative_to(folder)): _content(path) for path in kept}


def _is_bookkeeping(path: Path) -> bool:
    """Whether a file may change although data is only read: those of SQLite beside the database, and the lock."""
    return path.name in {"arena.db-shm", "arena.db-lock", "arena.lock"} or (
        path.name == "arena.db-wal" and not path.stat().st_size
    )


def _content(path: Path) -> str:
    if path.is_file() and not path.is_symlink():
        return sha256(path.read_bytes()).hexdigest()
    return "folder" if path.is_dir() else f"mode {path.lstat().st_mode}"
