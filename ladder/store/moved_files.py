"""Checks whether the files behind a database connection are still those at their path.

SQLite silently goes on writing into a file that was removed or replaced, and all that it writes there is lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_LOG = "-wal"
"""How the name of the write-ahead log ends."""
_INDEX = "-shm"
"""How the name of the log's index ends."""


class _Id(NamedTuple):
    """Identity of a file, whatever its name."""

    device: int
    number: int


class Files(NamedTuple):
    """Files found at the path of a database; None for a file that did not exist."""

    database: _Id | None
    log: _Id | None
    log_index: _Id | None
    content: tuple[int, int] | None
    """Size and time of last change of the database file itself; None without a write-ahead log beside it."""

    @classmethod
    def at(cls, path: Path) -> Files:
        """Return the files that exist now. Raises OSError where looking is not allowed."""
        (database, content), (log, _), (index, _) = map(_look, (path, _beside(path, _LOG), _beside(path, _INDEX)))
        return cls(database, log, index, content if log else None)

    def change(self, path: Path, *, writes_alone: bool) -> Change | None:
        """Return what happened to the files since, or None.

        `writes_alone` says that only the caller moves the write-ahead log into the database.
        """
        now = Files.at(path)
        if now.database is None:
            return Change(f"{path} was taken away while it was in use: {go_on(path)}", is_elsewhere=True)
        if now.database != self.database:
            back = f"put back the file that was there, {_or_not(path)}"
            return Change(f"{path} was replaced while it was in use: {back}", is_elsewhere=True)
        for name, current, before in ((_LOG, now.log, self.log), (_INDEX, now.log_index, self.log_index)):
            if current != before:
                advice = "run the command again, which says if anything was lost"
                return Change(f"{_beside(path, name)} was taken away while it was in use: {advice}")
        if writes_alone and now.content != self.content:
            without = f"without {path.name}{_LOG}, {path.name}{_INDEX} and {path.name}-lock"
            said = f"{path} was overwritten while it was in use: put a backup in its place, {without}, {_or_not(path)}"
            return Change(said, is_mixed=True)
        return None


class Change(NamedTuple):
    """What happened to a database while it was in use."""

    what: str
    """What happened and what to do, in one line."""
    is_elsewhere: bool = False
    """Whether writes now go to a file that is not at the path any more, if to any."""
    is_mixed: bool = False
    """Whether parts of two databases may be mixed in the file."""


def go_on(path: Path) -> str:
    """Return advice for when a database is missing."""
    return f"put it or a backup in its place, or remove {path.name}-lock to begin anew"


def _or_not(path: Path) -> str:
    return f"or remove {path.name}-lock to go on with what there is"


def _look(path: Path) -> tuple[_Id | None, tuple[int, int] | None]:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    return _Id(status.st_dev, status.st_ino), (status.st_size, status.st_mtime_ns)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
