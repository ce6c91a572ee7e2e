"""Locks of a data directory ("home"): only one process plays a ladder, and only one at a time writes.

The kernel releases a lock when the process that holds it, and all forked from it, have ended, however they ended.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 30.0
"""Seconds that a write waits for other writes: many times what any of ours takes.

Then its command ends with a one-line error.
"""
_LONGEST_PAUSE = 0.01
"""Seconds between two tries of a write that waits, at most. Any would do that is short beside `PATIENCE`."""


class LockTaken(Exception):
    """Error if another process has the lock; the message is its process id, or "unknown"."""


@contextmanager
def for_the_run(path: Path) -> Iterator[None]:
    """Hold a lock file and write this process's id into it. Raises LockTaken at once if another process holds it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockTaken(os.read(lock, 20).decode().partition("\n")[0] or "unknown") from None
        os.truncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        yield
    finally:
        os.close(lock)


def say_of_the_run(path: Path, text: str) -> None:
    """Write into the lock file of a run, behind its process id, what others may want to know of it."""
    lock = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(lock, f"{os.getpid()}\n{text}\n".encode(), 0)
    finally:
        os.close(lock)


def said_of_the_run(path: Path) -> str | None:
    """Return what `say_of_the_run` wrote; None if nothing was, or no run holds the lock file."""
    if not is_held(path):
        return None
    try:
        return path.read_text("utf-8").splitlines()[1]
    except (OSError, ValueError, IndexError):
        return None


def is_held(path: Path) -> bool:
    """Tell whether a process holds a lock file.

    It is read from the kernel's list of locks: trying the lock would be in the way of a process that begins just now.
    """
    try:
        file = path.stat()
        held = Path("/proc/locks").read_text("ascii")
    except OSError:
        return False
    name = f" {os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino} "
    return any(name in line and "FLOCK" in line and "->" not in line for line in held.splitlines())


@contextmanager
def turn(database: Path) -> Iterator[int]:
    """Hold the short lock that every write to a database needs; yields it for `note_holder`. Raises TimeoutError."""
    lock = os.open(_beside(database), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(lock)
        yield lock
    finally:
        os.close(lock)


def let_others_in() -> None:
    """Pause between two of many long writes, for longer than others pause who wait: else they never had a turn."""
    time.sleep(1.5 * _LONGEST_PAUSE)


def _wait_for(lock: int) -> None:
    deadline, pause = time.monotonic() + PATIENCE, 0.001
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError from None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def note_holder(lock: int, stored: int) -> None:
    """Write into the lock file how much the database holds after a commit.

    SQLite does not notice a lost write-ahead log; with this number the loss shows when the database is opened next. The
    number is never more than is safely stored: where it grows, the commit comes first. On a full disk it can be less.
    """
    with suppress(OSError):
        os.pwrite(lock, b"%-20d" % stored, 0)


def noted(database: Path) -> int:
    """Return the number that `note_holder` wrote last; 0 if there is none."""
    try:
        return int(_beside(database).read_bytes() or b"0")
    except (OSError, ValueError):
        return 0


def _beside(database: Path) -> Path:
    return database.with_name(f"{database.name}-lock")
