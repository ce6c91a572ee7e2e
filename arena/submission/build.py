"""Make a program from its source by the commands of its manifest, and keep what came of it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from arena.launch import adopt_orphans, end_orphans, ended_in_words
from arena.scratch import run_folder
from arena.submission.kept import tree_digest
from arena.submission.manifest import BadSubmission, short
from arena.submission.program import Program, command, environment

SECONDS = 600.0
"""All commands of a build together may take so long."""
MAX_LOG = 16 * 1024 * 1024
_GLANCE = 0.05
"""Seconds between two looks at a command that runs."""

Report = Callable[[str], None]
"""Told each command as it begins."""


class BuildFailed(BadSubmission):
    """A build came to nothing; the message says which command, how, and where the log is."""


def build(program: Program, log: Path, report: Report) -> Program:
    """Run a program's build, if it has one, where it lies; gives the program with the digest of what is there then.

    What the commands print is kept in the file `log`. Raises BuildFailed.
    """
    if not program.build:
        return program
    log.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + SECONDS
    with log.open("wb") as notes, run_folder() as home:
        for words in program.build:
            report(f"building {program.name}: {shlex.join(words)}")
            notes.write(f"$ {shlex.join(words)}\n".encode())
            notes.flush()
            if problem := _problem(words, program.root, home, notes, deadline):
                what = f"{short(shlex.join(words))} {problem}"
                raise BuildFailed(f"{program.name} is not built: {what}; what was printed is in {str(log)!r}")
    return replace(program, built=tree_digest(program.root))


def _problem(words: Sequence[str], folder: Path, home: Path, log: IO[bytes], deadline: float) -> str | None:
    """Run one command to its end; gives what went wrong, in words."""
    try:
        with _running(words, folder, home, log) as process:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    return f"was stopped: a build may take {SECONDS / 60:.0f} minutes"
                if os.fstat(log.fileno()).st_size > MAX_LOG:
                    return f"was stopped: a build may print {MAX_LOG // 2**20} MiB"
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_GLANCE)
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    return ended_in_words(process.returncode) if process.returncode else None


@contextmanager
def _running(words: Sequence[str], folder: Path, home: Path, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A command of a build, for as long as the block lasts; whatever it started ends with it."""
    adopt_orphans()
    env = environment() | {"HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        command(words), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_orphans()
