"""Make a program from its source by the commands of its manifest, and keep what came of it."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from arena.launch import adopt_orphans, end_orphans, ended_in_words
from arena.sandbox import Confined, Sandbox, confine_build, user
from arena.scratch import open_up, remove
from arena.submission.kept import tree_digest
from arena.submission.manifest import BadSubmission, short
from arena.submission.program import Program, command, environment

SECONDS = 600.0
"""All commands of a build together may take so long."""
LAST_LINES = 10
"""Of a log that are shown when a build fails."""
LAST_BYTES = 4096
"""Of a log that are looked at for them."""
MAX_LOG = 16 * 1024 * 1024
OWN_FOLDERS = (".home", ".tmp")
"""What the sandbox gives a build in its folder, and nobody needs afterwards."""
_GLANCE = 0.05
"""Seconds between two looks at a command that runs."""

Report = Callable[[str], None]
"""Told each command as it begins, and of one that fails what was printed last."""


class BuildFailed(BadSubmission):
    """A build came to nothing; the message says which command, how, and where the log is."""


def build(program: Program, log: Path, sandbox: Sandbox, report: Report) -> Program:
    """Run a program's build, if it has one, where it lies; gives the program with the digest of what is there then.

    What the commands print is kept in the file `log`. Raises BuildFailed.
    """
    if not program.build:
        return program
    log.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + SECONDS
    with log.open("wb") as notes, _nothing_left_by_ctrl_c(log):
        for words in program.build:
            report(f"building {program.name}: {shlex.join(words)}")
            notes.write(f"$ {shlex.join(words)}\n".encode())
            notes.flush()
            if problem := _problem(words, program.root, sandbox, notes, deadline):
                for line in _last_lines(log):
                    report(f"  | {line}")
                what = f"{short(shlex.join(words))} {problem}"
                raise BuildFailed(f"{program.name} is not built: {what}; what was printed is in {str(log)!r}")
    open_up(program.root)
    for name in OWN_FOLDERS:
        _remove(program.root / name)
    return replace(program, built=tree_digest(program.root))


def _last_lines(log: Path) -> list[str]:
    with log.open("rb") as printed:
        printed.seek(max(0, log.stat().st_size - LAST_BYTES))
        return printed.read().decode(errors="replace").splitlines()[-LAST_LINES:]


@contextmanager
def _nothing_left_by_ctrl_c(log: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        log.unlink()
        for folder in (log.parent, log.parent.parent):  # as far as they were made for it
            with suppress(OSError):
                folder.rmdir()
        raise


def _problem(words: Sequence[str], folder: Path, sandbox: Sandbox, log: IO[bytes], deadline: float) -> str | None:
    """Run one command to its end; gives what went wrong, in words."""
    _hand_over(folder, user(sandbox))
    made = confine_build(sandbox, command(words), root=folder, env={**environment(), "LANG": "C.UTF-8"})
    with _running(made, log) as process:
        while process.poll() is None:
            if time.monotonic() > deadline:
                return f"was stopped: a build may take {SECONDS / 60:.0f} minutes"
            if os.fstat(log.fileno()).st_size > MAX_LOG:
                return f"was stopped: a build may print {MAX_LOG // 2**20} MiB"
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GLANCE)
    return ended_in_words(process.returncode, wrapped=made.wrapped) if process.returncode else None


@contextmanager
def _running(made: Confined, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A command of a build, for as long as the block lasts; whatever it started ends with it."""
    adopt_orphans()
    process = subprocess.Popen(
        made.argv, cwd=made.cwd, env=made.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_orphans()
        if made.group is not None:
            made.group.remove()


def _hand_over(folder: Path, uid: int | None) -> None:
    """What is built must be theirs who build it, to write as well: an author's own build may have come before."""
    for path in (folder, *folder.rglob("*")):
        if uid is not None:
            os.chown(path, uid, -1, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


def _remove(folder: Path) -> None:
    """What the build had for itself; a hostile one has put a link there."""
    if folder.is_dir() and not folder.is_symlink():
        remove(folder)
    else:
        folder.unlink(missing_ok=True)
