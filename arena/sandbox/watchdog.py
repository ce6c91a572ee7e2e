"""Looks at what a bot's processes use where no control group bounds them, often if it is much."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.sandbox.grades import MIB, Bounds

RELAXED, ALERT, ALARMED = 0.5, 0.1, 0.03
"""Seconds to the next look: with less than a quarter of the memory in use, less than half, or more."""
ENTRIES = 10_000
"""Files in its temporary folder that are counted; more is too much whatever they hold."""
LEVELS = 100
"""Of folders within one another that are looked at; more is too much, too."""
OF_SANDBOX = 4
"""Tasks around the bot that are not its own."""


class Excess(NamedTuple):
    """Something a bot used more of than it may, in words that follow its name."""

    what: str
    is_memory: bool = False


def out_of_memory(bounds: Bounds) -> Excess:
    """It was ended for want of memory."""
    return Excess(f"ran out of memory: {bounds.memory_mib} MiB are allowed", is_memory=True)


def look(processes: Sequence[int], bounds: Bounds, scratch: Path | None) -> tuple[Excess | None, float]:
    """What they use too much of, and seconds to the next look. `scratch` is their folder if it lies on the disk."""
    limit = bounds.memory_mib * MIB
    resident = sum(map(_resident, processes))
    if resident > limit and sum(map(_proportional, processes)) > limit:
        return out_of_memory(bounds), 0.0
    if sum(map(_tasks, processes)) > bounds.tasks + OF_SANDBOX:
        return Excess(f"had more than {bounds.tasks} processes and threads"), 0.0
    if scratch is not None and hold_more([scratch], bounds.disk_mib * MIB, ENTRIES):
        return Excess(f"wrote more than {bounds.disk_mib} MiB or {ENTRIES:,} temporary files, or hid some"), 0.0
    return None, RELAXED if resident < limit / 4 else ALERT if resident < limit / 2 else ALARMED


def _resident(process: int) -> int:
    """Bytes, those that are shared with others too."""
    fields = _read(f"/proc/{process}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _proportional(process: int) -> int:
    """Bytes, those that are shared in equal parts, or in full where the process lets nobody look."""
    for line in _read(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(process)


def _tasks(process: int) -> int:
    try:
        return len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return 0


def hold_more(folders: Sequence[Path], size: int, entries: int, *, copied: bool = False) -> bool:
    """Whether the files in some folders take more than so many bytes of the disk, or are more than so many.

    If they are to be `copied`, holes in them count, too: on another disk they may be none.
    So do folders that nobody can look into, or that lie too deep: there would be room for more.
    """
    left = [(str(folder), 0) for folder in folders]
    while left:
        at, depth = left.pop()
        try:
            with os.scandir(at) as found:
                for entry in found:
                    entries -= 1
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        size -= max(status.st_blocks * 512, status.st_size if copied else 0)
                    if entry.is_dir(follow_symlinks=False):
                        left.append((entry.path, depth + 1))
                    if entries < 0 or size < 0 or depth > LEVELS:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            continue  # it is gone meanwhile
        except OSError:
            return True
    return False


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
