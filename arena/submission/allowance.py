"""What a build may use up: time of the processors and of people, output, and room on the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from arena.sandbox import cpu_usage
from arena.sandbox.cgroups import Group
from arena.sandbox.confine import BUILD
from arena.sandbox.grades import MIB
from arena.sandbox.watchdog import LEVELS, hold_more

CPU = 600.0
"""Seconds of processor time that all commands of a build may use, all their processes counted together."""
WALL = 3600.0
"""Seconds that they may take, however busy the machine is."""
IDLE = 300.0
"""Seconds without work or output after which a build counts as stuck."""
MAX_LOG = 16 * MIB
MAX_ENTRIES = 500_000
"""Files that a build may have at a time, temporary ones and its home included."""
LEFT_FREE = 256 * MIB
"""Of the disk, whoever fills it."""
LOOK = 0.5
"""Seconds between two counts of processor time, for which many files are read."""
_COUNTING = 0.1
"""The part of its time for which what it has written is counted."""


class Running(NamedTuple):
    """A command of a build that runs."""

    process: subprocess.Popen[bytes]
    group: Group | None

    def cpu(self) -> float:
        """Seconds of processor time that it and all it started have used; less, once they have ended."""
        counted = None if self.group is None else self.group.cpu()
        return cpu_usage.look(cpu_usage.family(self.process.pid), None).cpu if counted is None else counted


class Allowance:
    """What all commands of a build together may use up."""

    def __init__(self, folders: Sequence[Path], log: IO[bytes]) -> None:
        self._folders = folders
        self._log = log
        self._time = _Time()
        self._count_at = 0.0

    def exceeded(self, running: Running) -> str | None:
        """What the build used too much of, in words."""
        printed = os.fstat(self._log.fileno()).st_size
        return self._time.exceeded(running, printed) or self._filled(printed, counted=False)

    def exceeded_at_end(self) -> str | None:
        """The same once a command has ended, when what it has written is counted for certain."""
        self._time.end()
        return self._filled(os.fstat(self._log.fileno()).st_size, counted=True)

    def _filled(self, printed: int, *, counted: bool) -> str | None:
        if printed > MAX_LOG:
            return f"may print {MAX_LOG // MIB} MiB"
        if shutil.disk_usage(self._folders[0]).free < LEFT_FREE:
            return f"has to leave {LEFT_FREE // MIB} MiB of the disk free"
        most = f"{BUILD.disk_mib} MiB and {MAX_ENTRIES:,} files, {LEVELS} folders deep"
        return f"may write {most}" if self._wrote_too_much(counted=counted) else None

    def _wrote_too_much(self, *, counted: bool) -> bool:
        """Whether it did when that was counted, which takes a while and so is done now and then."""
        begun = time.monotonic()
        if begun < self._count_at and not counted:
            return False
        found = hold_more(self._folders, BUILD.disk_mib * MIB, MAX_ENTRIES)
        self._count_at = begun + (time.monotonic() - begun) / _COUNTING
        return found


class _Time:
    """How long all commands of a build together take, and whether they get on."""

    def __init__(self) -> None:
        self._begun = self._moved = time.monotonic()
        self._look_at = 0.0
        self._ended = 0.0
        """Processor time of the commands before this one."""
        self._cpu = 0.0
        self._printed = 0

    def end(self) -> None:
        """Begin another command."""
        self._ended = self._cpu

    def exceeded(self, running: Running, printed: int) -> str | None:
        """What is too much, in words."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK
            self._look(self._ended + running.cpu(), printed, now)
        if self._cpu > CPU:
            return f"may use {CPU / 60:g} minutes of processor time"
        if now - self._begun > WALL:
            return f"may take {WALL / 60:g} minutes"
        return f"may do nothing, and print nothing, for {IDLE / 60:g} minutes" if now - self._moved > IDLE else None

    def _look(self, cpu: float, printed: int, now: float) -> None:
        if cpu > self._cpu or printed != self._printed:
            self._moved = now
        self._cpu = max(self._cpu, cpu)  # what nobody waited for is missing from a family once it has ended
        self._printed = printed
