"""Users of the kernel's that bots and builds run as: each process gets one that no other has meanwhile.

The kernel counts many things by user, whatever namespaces its processes are in: what epoll watches, pipes, queued
signals, open files on their way through sockets. A bot that used up what its user may have would take it from all
others with the same user. Only root can give users away. They come from a range of ids that no account has.

A user is taken by a lock on a byte of a file that all arenas of the machine share; the byte's number is that of the id.
The kernel releases it when the arena's process dies. What such an arena left running is ended by the launcher before
the next process gets the same id.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import struct
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

LOCKS = Path("/run/arena-users"), Path("/tmp/arena-users")
"""Files to lock, of which the first that can be opened is used: at the place of an id's number, in an empty file."""
SUBORDINATE = Path("/etc/subuid")
"""File in which ranges of ids are given to accounts: `NAME:FIRST:COUNT`."""
ENTRY = re.compile("([^:]+):([0-9]+):([0-9]+)")
OURS = "arena"
"""Name in that file whose range is used in place of the usual ones."""
USUAL = (range(2_100_000_000, 2_100_065_536), range(60_578, 61_184))
"""Ranges of ids that Linux distributions, systemd and directory services leave alone.

The second one is for containers, in which there often are no ids from 65,536 on.
"""


LEAST = 65_536
"""Smallest id of a range that somebody names: those below belong to accounts and the system."""


class NoUser(OSError):
    """Error if there is no user to give away; the message is one line that says why."""


class User:
    """A user that one process runs as, with all that it starts; `give_back` when all of them have ended."""

    def __init__(self, uid: int, taken: Taken) -> None:
        self.uid = uid
        self._taken = taken

    def own(self, path: Path) -> None:
        """Give a file or a folder to this user; a link is not followed."""
        os.chown(path, self.uid, -1, follow_symlinks=False)

    def give_back(self) -> None:
        """Let others have this user."""
        self._taken.release(self.uid)


class Taken:
    """The users that this process has taken, of those in a range."""

    def __init__(self, ids: range, locks: Sequence[Path]) -> None:
        self._ids = ids
        self._now: set[int] = set()
        self._locks = _opened(locks)

    def take(self) -> User:
        """Take a user that nobody has. Raises NoUser.

        The search begins anywhere: the id tells a bot nothing of who started before it, and the arena of another
        container, whose locks are not seen here, hardly has the same ones.
        """
        first = secrets.randbelow(len(self._ids))
        for uid in chain(self._ids[first:], self._ids[:first]):
            if uid not in self._now and self._lock(uid, fcntl.F_WRLCK):
                self._now.add(uid)
                return User(uid, self)
        raise NoUser(f"all {len(self._ids):,} users for bots are taken ({in_words(self._ids)})")

    def release(self, uid: int) -> None:
        """Let others have a user that was taken."""
        if uid in self._now:
            self._now.remove(uid)
            self._lock(uid, fcntl.F_UNLCK)

    def _lock(self, uid: int, how: int) -> bool:
        """Lock or unlock the byte of an id; False if another process has it.

        These locks belong to the open file: closing another one that this process may have of it releases none.
        """
        wanted = struct.pack("hhqqi4x", how, os.SEEK_SET, uid, 1, 0)
        try:
            fcntl.fcntl(self._locks, fcntl.F_OFD_SETLK, wanted)
        except (BlockingIOError, PermissionError):
            return False
        return True


def _opened(files: Sequence[Path]) -> int:
    """Open the first of these files that is ours, made if need be. Raises NoUser if none can be opened."""
    why = ""
    for file in files:
        try:
            opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            why = str(error)
            continue
        if os.fstat(opened).st_uid == os.geteuid():
            return opened
        os.close(opened)
        why = f"{file} belongs to somebody else"
    raise NoUser(f"users for bots cannot be told from those of other arenas: {why}")


def take() -> User:
    """Take a user for one process. Raises NoUser if there is none."""
    return _taken(os.getpid()).take()


@cache
def _taken(pid: int) -> Taken:  # noqa: ARG001 - a process that was forked has locks of its own
    return Taken(ids(), LOCKS)


@cache
def ids() -> range:
    """Return the ids that are given away on this machine. Raises NoUser if there are none."""
    given = subordinate()
    for name, ours in given:
        if name == OURS:
            if ours.start < LEAST or not _exist(ours):
                raise NoUser(f"{SUBORDINATE}: {OURS!r} needs ids from {LEAST} on that exist here, not {in_words(ours)}")
            return ours
    for usual in USUAL:
        if _exist(usual) and not any(usual.start < other.stop and other.start < usual.stop for _, other in given):
            return usual
    raise NoUser(f"no user ids are free for bots: add a line '{OURS}:FIRST:COUNT' to {SUBORDINATE}")


def subordinate() -> list[tuple[str, range]]:
    """Return the ranges in /etc/subuid, each with the account that has it; unreadable lines are passed over."""
    try:
        lines = SUBORDINATE.read_text(errors="replace").splitlines()
    except OSError:
        return []
    entries = [entry for line in lines if (entry := ENTRY.fullmatch(line))]
    ranges = [(name, int(first), int(count)) for name, first, count in map(re.Match.groups, entries)]
    return [(name, range(first, first + count)) for name, first, count in ranges if count]


def _exist(wanted: range) -> bool:
    """Tell whether all these ids exist here: a container may have fewer."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    there = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    return any(first <= wanted.start and wanted.stop <= first + count for first, count in there)


def in_words(of: range) -> str:
    """Return a range as people read it."""
    return f"{of.start} to {of.stop - 1}"
