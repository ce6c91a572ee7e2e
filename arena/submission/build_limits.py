"""Limits of a build: processor time, real time, output, and space on the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from arena.sandbox import cpu_usage, users
from arena.sandbox.cgroups import ControlGroup
from arena.sandbox.confine import BUILD
from arena.sandbox.contents import LEVELS
from arena.sandbox.grades import MIB

CPU = 600.0
"""Seconds of processor time that all commands of a build may use, with all their processes; a page promises it."""
WALL = 3600.0
"""Seconds of real time that all commands of a build may take, however busy the machine is; a page promises it."""
IDLE = 300.0
"""Seconds without work or output after which a build counts as stuck; a page promises it."""
MAX_LOG = 16 * MIB
"""Bytes that all commands of a build may print; about any size that a home has room for would do."""
MAX_ENTRIES = 500_000
"""Files that a build may have at any time, including temporary ones and those in its home.

About any number would do that does not exhaust the disk.
"""
LEFT_FREE = 256 * MIB
"""Bytes of the disk that must stay free, whoever fills it; a page promises it.

That is more than the 64 MiB without which a ladder stops.
"""
LOOK = 0.5
"""Seconds between two measurements of processor time, for which many files are read; a few times more would do."""
_COUNTING = 0.1
"""Largest part of the time that is spent on counting what a build has written; about any small part would do."""


class Running(NamedTuple):
    """A running command of a build."""

    process: subprocess.Popen[bytes]
    group: ControlGroup | None

    def cpu(self) -> float:
        """Return the seconds of processor time that it and its descendants have used.

        Less, once some of them have ended.
        """
        counted = None if self.group is None else self.group.cpu()
        return cpu_usage.look(cpu_usage.family(self.process.pid), None).cpu if counted is None else counted


class BuildLimits:
    """The limits for all commands of a build together."""

    def __init__(self, folders: Sequence[Path], log: IO[bytes]) -> None:
        self._folders = folders
        self._log = log
        self._time = _Time()
        self._count_at = 0.0

    def exceeded(self, running: Running) -> str | None:
        """Return the limit that the build has exceeded, in words; None if none."""
        printed = os.fstat(self._log.fileno()).st_size
        return self._time.exceeded(running, printed) or self._filled(printed, counted=False)

    def exceeded_at_end(self) -> str | None:
        """Return the limit that a build has exceeded when a command has ended, after counting all it has written."""
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
        """Tell whether the build has written too much.

        Counting takes a while, so it is done only now and then, unless `counted` asks for it.
        """
        begun = time.monotonic()
        if begun < self._count_at and not counted:
            return False
        too_much = users.hold_more(self._folders, BUILD.disk_mib * MIB, MAX_ENTRIES)
        self._count_at = begun + (time.monotonic() - begun) / _COUNTING
        return too_much


class _Time:
    """Processor time and real time of all commands of a build together, and whether the build makes progress."""

    def __init__(self) -> None:
        self._begun = self._moved = time.monotonic()
        self._look_at = 0.0
        self._ended = 0.0
        """Processor time of the commands before this one, in seconds."""
        self._cpu = 0.0
        self._printed = 0

    def end(self) -> None:
        """End a command, so that the next one is counted in addition."""
        self._ended = self._cpu

    def exceeded(self, running: Running, printed: int) -> str | None:
        """Return the time limit that is exceeded, in words; None if none."""
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
        self._cpu = max(self._cpu, cpu)  # ended processes that no parent waited for are no longer counted
        self._printed = printed
