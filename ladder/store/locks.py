"""Who may write to a home: one ladder at a time, and of all that write, one at a time.

The kernel lets go of a lock when the process that holds it and those forked from it have ended, however they ended.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 30.0
"""Seconds that a write waits for others'."""


class Taken(Exception):
    """Somebody else has the lock; the message is the holder's process id, or "unknown"."""


@contextmanager
def for_the_run(path: Path) -> Iterator[None]:
    """Hold a lock file, and say in it who does. Raises Taken at once."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Taken(os.read(lock, 20).decode() or "unknown") from None
        os.truncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        yield
    finally:
        os.close(lock)


@contextmanager
def turn(database: Path) -> Iterator[int]:
    """Hold the short lock under which a database is written; gives it for `note`. Raises TimeoutError."""
    lock = os.open(_beside(database), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(lock)
        yield lock
    finally:
        os.close(lock)


def _wait_for(lock: int) -> None:
    deadline, pause = time.monotonic() + PATIENCE, 0.001
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError from None
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def note(lock: int, stored: int) -> None:
    """Write down how much the database holds after a commit: so a lost write-ahead log, which SQLite would not miss,
    shows when it is opened next.

    Never more than is safely stored, since the commit was first; on a full disk, less.
    """
    with suppress(OSError):
        os.pwrite(lock, b"%-20d" % stored, 0)


def noted(database: Path) -> int:
    """What was noted last; 0 if nothing was."""
    try:
        return int(_beside(database).read_bytes() or b"0")
    except (OSError, ValueError):
        return 0


def _beside(database: Path) -> Path:
    return database.with_name(f"{database.name}-lock")
