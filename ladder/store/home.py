"""The data directory ("home"), closed to all but its owner: whoever reads its event seeds can foresee the dice.

Files are created with closed permissions, whatever the umask: if they were closed afterwards, others could open them in
between.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

_FILES = ("arena.db", "arena.db-wal", "arena.db-shm", "arena.db-lock", "arena.lock")
"""Files that the arena makes in a home."""
UNRATED = "unrated"
"""Name of the folder of the matches that `arena match` played."""
_FOLDERS = ("bots", "builds", "built", "caches", "sources", UNRATED)
"""Folders that the arena makes in a home."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a file allows to others than its owner."""

_log = logging.getLogger(__name__)


def make_home(home: Path) -> None:
    """Make the data directory, and folders above it, where they are missing; one that exists stays as it is."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file that only its owner can read. Raises FileExistsError."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def close_home(home: Path) -> None:
    """Close a data directory that other users can look into, and log that it was open; never raises OSError.

    A folder that also holds other things is not closed, only the arena's files in it.
    """
    folder = home.resolve()
    was_open = _is_open(folder)
    opened = [
        path for path in (*_arena_folder(folder), *(home / name for name in (*_FILES, *_FOLDERS))) if _is_open(path)
    ]
    for path in opened:
        with suppress(OSError):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_OTHERS)
    access = f"look into {str(home)!r}, also at the seeds of dice"
    if any(map(_is_open, opened)):
        _log.warning("other users can %s: let its owner chmod it to 700", access)
    elif opened and was_open:
        _log.warning("other users could %s: now it is closed to them", access)


def _arena_folder(folder: Path) -> list[Path]:
    """Return the folder in a list, or an empty list if it contains anything that the arena did not put there."""
    try:
        foreign = [
            name for name in os.listdir(folder) if not (name in _FOLDERS or name.lstrip(".").startswith("arena"))
        ]
    except OSError:
        return [folder]
    return [] if foreign else [folder]


def _is_open(path: Path) -> bool:
    """Tell whether others may use a folder or file.

    False for links and for folders that all share on purpose, as /tmp.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    shared = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
    return bool(mode & _OTHERS) and not (shared or stat.S_ISLNK(mode))
