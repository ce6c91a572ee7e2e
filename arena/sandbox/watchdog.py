"""Checks how much memory, disk and how many tasks a bot uses, where no control group enforces these limits.

The more memory the bot's processes use, the more often they are checked.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.contents import raise_limit
from arena.sandbox.grades import MIB, SANDBOX_TASKS, Bounds

_RELAXED, _ALERT, ALARMED = 0.5, 0.1, 0.03
"""Seconds until the next check if less than a quarter of the allowed memory is in use, less than half, or more.

A check of a bot with thirty threads takes 0.4 ms of the worker's time, so a few times more or less would do as well.
"""
ENTRIES = 10_000
"""Largest number of files and folders in a bot's temporary folder, whatever their size.

To count as many takes about 30 ms of the worker's time, so there should not be more; a few times fewer would do.
"""


class Excess(NamedTuple):
    """How a bot exceeded a limit. `what` is a phrase that follows the bot's name, as in "wrote more than 64 MiB"."""

    what: str
    is_memory: bool = False


def out_of_memory(bounds: Bounds) -> Excess:
    """Return the excess of a bot that was ended because it ran out of memory."""
    return Excess(f"ran out of memory: {bounds.memory_mib} MiB are allowed", is_memory=True)


def look_once(processes: Sequence[int], bounds: Bounds, scratch: Path | None) -> tuple[Excess | None, float]:
    """Return which limit the processes exceed, None if they exceed none, and the seconds until the next check.

    `scratch` is their temporary folder if it is on disk, else None.
    """
    limit = bounds.memory_mib * MIB
    resident = sum(map(_resident, processes))
    if resident > limit and memory_of(processes) > limit:
        return out_of_memory(bounds), 0.0
    if sum(map(_tasks, processes)) > bounds.tasks + SANDBOX_TASKS:
        return Excess(f"had more than {bounds.tasks} processes and threads"), 0.0
    if scratch is not None and raise_limit([scratch], bounds.disk_mib * MIB, ENTRIES):
        return Excess(f"wrote more than {bounds.disk_mib} MiB or {ENTRIES:,} temporary files, or hid some"), 0.0
    return None, _RELAXED if resident < limit / 4 else _ALERT if resident < limit / 2 else ALARMED


def memory_of(processes: Sequence[int]) -> int:
    """Measure how many bytes of memory processes use together; what copies of a program share is divided among them."""
    return sum(map(_proportional, processes))


def _resident(process: int) -> int:
    """Return the resident memory of a process in bytes, including shared memory."""
    fields = _content(f"/proc/{process}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _proportional(process: int) -> int:
    """Return the memory of a process in bytes, with shared memory divided among those who share it.

    Shared memory counts in full if the process does not allow reading the shares.
    """
    for line in _content(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(process)


def _tasks(process: int) -> int:
    try:
        return len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return 0


def _content(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
