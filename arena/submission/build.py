"""Make a program from its source by the commands of its manifest, and keep what came of it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from arena.launch import adopt_orphans, end_orphans, ended_in_words
from arena.naming import short
from arena.sandbox import Confined, Sandbox, builder, confine_build
from arena.sandbox.confine import BUILD
from arena.sandbox.grades import MIB
from arena.sandbox.watchdog import LEVELS, hold_more
from arena.scratch import open_up, remove
from arena.submission.kept import tree_digest
from arena.submission.manifest import BadSubmission
from arena.submission.program import Program, command, environment, walk

SECONDS = 600.0
"""All commands of a build together may take so long."""
LAST_LINES = 10
"""Of a log that are shown when a build fails."""
LAST_BYTES = 4096
"""Of a log that are looked at for them."""
MAX_LOG = 16 * 1024 * 1024
MAX_ENTRIES = 500_000
"""Files that a build may have at a time, temporary ones and its home included."""
LEFT_FREE = 256 * MIB
"""Of the disk, whoever fills it."""
_GLANCE = 0.05
"""Seconds between two looks at a command that runs."""
_COUNTING = 0.1
"""The part of its time for which what it has written is counted."""

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
    _make_writable(program.root)
    with log.open("wb") as notes, _nothing_left_by_ctrl_c(log), _own_folder(program.root, sandbox) as own:
        allowance = _Allowance((program.root, own), notes)
        for words in program.build:
            report(f"building {program.name}: {shlex.join(words)}")
            notes.write(f"$ {shlex.join(words)}\n".encode())
            notes.flush()
            if problem := _problem(words, program.root, own, sandbox, notes, allowance):
                for line in _last_lines(log):
                    report(f"  | {line}")
                what = f"{short(shlex.join(words))} {problem}"
                raise BuildFailed(f"{program.name} is not built: {what}; what was printed is in {str(log)!r}")
    open_up(program.root)
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


@contextmanager
def _own_folder(root: Path, sandbox: Sandbox) -> Iterator[Path]:
    """What a build has for itself, beside its folder: nothing that was handed in can be taken for it."""
    own = Path(tempfile.mkdtemp(prefix=".build-", dir=root.parent))
    try:
        for name in ("home", "tmp"):
            (own / name).mkdir()
        _hand_over(own, builder(sandbox))
        yield own
    finally:
        remove(own)


class _Allowance:
    """What all commands of a build together may use up."""

    def __init__(self, folders: Sequence[Path], log: IO[bytes]) -> None:
        self._folders = folders
        self._log = log
        self._deadline = time.monotonic() + SECONDS
        self._count_at = 0.0

    def exceeded(self, *, at_end: bool = False) -> str | None:
        """What it used too much of, in words; `at_end` of a command what it has written is counted for certain."""
        if time.monotonic() > self._deadline:
            return f"may take {SECONDS / 60:.0f} minutes"
        if os.fstat(self._log.fileno()).st_size > MAX_LOG:
            return f"may print {MAX_LOG // MIB} MiB"
        if shutil.disk_usage(self._folders[0]).free < LEFT_FREE:
            return f"has to leave {LEFT_FREE // MIB} MiB of the disk free"
        most = f"{BUILD.disk_mib} MiB and {MAX_ENTRIES:,} files, {LEVELS} folders deep"
        return f"may write {most}" if self._wrote_too_much(at_end=at_end) else None

    def _wrote_too_much(self, *, at_end: bool) -> bool:
        """Whether it did when that was counted, which takes a while and so is done now and then."""
        begun = time.monotonic()
        if begun < self._count_at and not at_end:
            return False
        found = hold_more(self._folders, BUILD.disk_mib * MIB, MAX_ENTRIES)
        self._count_at = begun + (time.monotonic() - begun) / _COUNTING
        return found


def _problem(
    words: Sequence[str], root: Path, own: Path, sandbox: Sandbox, log: IO[bytes], allowance: _Allowance
) -> str | None:
    """Run one command to its end; gives what went wrong, in words."""
    _hand_over(root, builder(sandbox))
    made = confine_build(sandbox, command(words), root=root, own=own, env={**environment(), "LANG": "C.UTF-8"})
    with _running(made, log) as process:
        while process.poll() is None:
            if what := allowance.exceeded():
                return f"was stopped: a build {what}"
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GLANCE)
    if process.returncode:
        return ended_in_words(process.returncode, wrapped=made.wrapped)
    return f"failed: a build {what}" if (what := allowance.exceeded(at_end=True)) else None


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


def _make_writable(folder: Path) -> None:
    """Compilers write over what was built at the author's desk, and handed in with the rest."""
    for path in walk(folder, without=set()):
        path.chmod(path.stat().st_mode | 0o200)


def _hand_over(folder: Path, uid: int | None) -> None:
    """What is built must be theirs who build it."""
    if uid is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, uid, -1, follow_symlinks=False)
