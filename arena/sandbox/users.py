"""Users of the kernel's that bots and builds run as: each process gets one that no other has meanwhile.

The kernel counts many things by user, whatever namespaces its processes are in: what epoll watches, pipes, queued
signals, open files on their way through sockets. A bot that used up what its user may have would take it from all
others with the same user. Root gives away users of a range of ids that no account has; an account gives away its
subordinate ids, where it has some.

A user is taken by a lock on a byte of a file that all arenas of the machine share; the byte's number is that of the id.
The kernel releases it when the arena's process dies. What such an arena left running is ended by the launcher before
the next process gets the same id.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import secrets
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from arena.sandbox import contents, namespace
from arena.sandbox.namespace import Namespace

BOTS_GROUP = 65534
"""Group of bots, and of their builds, where they have users of their own."""
_LOCKS = Path("/run/arena-users"), Path("/tmp/arena-users")
"""Files to lock, of which the first that can be opened is used: at the place of an id's number, in an empty file."""
SUBORDINATE, _SUBORDINATE_GROUPS = Path("/etc/subuid"), Path("/etc/subgid")
"""Files in which ranges of ids are given to accounts: `NAME:FIRST:COUNT`."""
SPARE = slice(50_000, 60_000)
"""Part of an account's subordinate ids that bots get: its containers, which have the same ids, hardly use those.

About any part would do that is not at the beginning. What runs as one of them before a bot starts is ended.
"""
_ENTRY = re.compile("([^:]+):([0-9]+):([0-9]+)")
"""A line of such a file: name, first id, number of ids."""
_OURS = "arena"
"""Name in that file whose range is used in place of the usual ones."""
USUAL = (range(2_100_000_000, 2_100_065_536), range(60_578, 61_184))
"""Ranges of ids that Linux distributions, systemd and directory services leave alone.

The second one is for containers, in which there often are no ids from 65,536 on. In such a range, a few hundred ids
are enough: each running bot or build has one.
"""


_LEAST = 65_536
"""Smallest id of a range that somebody names: those below belong to accounts and the system."""


class NoUser(OSError):
    """Error if there is no user to give away, or nothing can be given to one; the message is one line that says why."""


class User:
    """A user that one process runs as, with all that it starts; `give_back` when all of them have ended."""

    def __init__(self, uid: int, pool: TakenUser) -> None:
        self.uid = uid
        self._pool = pool

    @property
    def namespace(self) -> Namespace | None:
        """The namespace that one must enter to become this user; None for root."""
        return self._pool.namespace

    @property
    def inside(self) -> tuple[int, int]:
        """The numbers of this user and its group there."""
        return (self.uid, BOTS_GROUP) if self.namespace is None else (self.namespace.inside(self.uid), namespace.GROUP)

    def let_use(self, path: Path) -> None:
        """Let this user use a folder, or a file that is no link: root gives it away, an account opens it to all.

        Nobody else gets that far, since the folder of a run is closed.
        """
        if self.namespace is None:
            os.chown(path, self.uid, -1, follow_symlinks=False)
        else:
            path.chmod(0o777)

    def hand_over(self, folders: Sequence[Path]) -> None:
        """Give this user folders with all that is in them, until `take_back`. Raises NoUser."""
        _give(folders, *self.inside)

    def give_back(self) -> None:
        """Let others have this user."""
        self._pool.release(self.uid)


class TakenUser:
    """The users that this process has taken, of those in a range."""

    def __init__(self, ids: range, locks: Sequence[Path], namespace: Namespace | None = None) -> None:
        self.namespace = namespace
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


def take_back(folders: Sequence[Path]) -> None:
    """Let folders, with all that is in them, belong to this account again. Raises NoUser."""
    if os.geteuid() == 0 or _own_namespace() is not None:
        _give(folders, 0, 0)


def hold_more(folders: Sequence[Path], size: int, entries: int) -> bool:
    """Tell of folders that a user may have closed whether they hold more than this. Raises NoUser."""
    if _own_namespace() is None:
        return contents.raise_limit(folders, size, entries)
    counted = [sys.executable, "-I", "-S", contents.__file__, str(size), str(entries), *map(str, folders)]
    return _as_root(counted) == str(True)


def _own_namespace() -> Namespace | None:
    """Return the namespace in which this account is root; None if it is root already, or there is none."""
    space = None if os.geteuid() == 0 else _namespace(os.getpid())
    return None if isinstance(space, str) else space


def _give(folders: Sequence[Path], uid: int, gid: int) -> None:
    """Change the owner and the group of everything in some folders, of a link those of the link itself.

    By a program that finds its way also where folders are nested more deeply than a path may be long.
    """
    _as_root(["chown", "-hR", f"{uid}:{gid}", "--", *map(str, folders)])


def _as_root(command: Sequence[str]) -> str:
    """Run a command with rights over all users that are given away; return what it prints. Raises NoUser.

    Ctrl-C does not reach it.
    """
    space = _own_namespace()
    completion = subprocess.run(
        command if space is None else space.as_root(command),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        process_group=0,
        check=False,
    )
    if completion.returncode:
        lines = completion.stderr.strip().splitlines() or [f"{command[0]} ended with exit code {completion.returncode}"]
        raise NoUser(f"users of their own cannot be used here: {lines[-1]}")
    return completion.stdout


def take_user() -> User:
    """Take a user for one process. Raises NoUser if there is none."""
    return _pool(os.getpid()).take()


@cache
def _pool(pid: int) -> TakenUser:  # a process that was forked has locks of its own
    if os.geteuid() == 0:
        return TakenUser(ids(), _LOCKS)
    space = _namespace(pid)
    if isinstance(space, str):
        raise NoUser(space)
    locks = [Path(f"/run/user/{os.geteuid()}/arena-users"), Path(f"/tmp/arena-users-{os.geteuid()}")]
    return TakenUser(ids(), locks, space)


@cache
def _namespace(pid: int) -> Namespace | str:  # noqa: ARG001 - a process that was forked has a namespace of its own
    """Make the namespace of this account; return why there is none if that fails, which is tried once."""
    try:
        (group, *_) = _of_account(_SUBORDINATE_GROUPS)
        return namespace.make_namespace(ids(), group)
    except OSError as error:
        return str(error)


@cache
def ids() -> range:
    """Return the ids that are given away on this machine. Raises NoUser if there are none."""
    if os.geteuid() != 0:
        return _of_account(SUBORDINATE)
    subordinates = _subordinate(SUBORDINATE)
    for name, ours in subordinates:
        if name == _OURS:
            if ours.start < _LEAST or not _exist(ours):
                raise NoUser(
                    f"{SUBORDINATE}: {_OURS!r} needs ids from {_LEAST} on that exist here, not {in_words(ours)}"
                )
            return ours
    for usual in USUAL:
        if _exist(usual) and not any(
            usual.start < reserved.stop and reserved.start < usual.stop for _, reserved in subordinates
        ):
            return usual
    raise NoUser(f"no user ids are free for bots: add a line '{_OURS}:FIRST:COUNT' to {SUBORDINATE}")


def _of_account(file: Path) -> range:
    """Return the ids subordinate to this account that bots get. Raises NoUser if it has none."""
    try:
        account = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        account = str(os.geteuid())
    for name, subordinates in _subordinate(file):
        if name in {account, str(os.geteuid())}:
            return subordinates[SPARE] or subordinates[len(subordinates) // 2 :]
    how = "usermod --add-subuids 100000-165535 --add-subgids 100000-165535"
    raise NoUser(f"{file} gives {account} no ids (as root: {how} {account})")


def _subordinate(file: Path) -> list[tuple[str, range]]:
    """Return the ranges in such a file, each with the account that has it; unreadable lines are passed over."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return []
    entries = [entry for line in lines if (entry := _ENTRY.fullmatch(line))]
    ranges = [(name, int(first), int(count)) for name, first, count in map(re.Match.groups, entries)]
    return [(name, range(first, first + count)) for name, first, count in ranges if count]


def _exist(wanted: range) -> bool:
    """Tell whether all these ids exist here: a container may have fewer."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    return any(first <= wanted.start and wanted.stop <= first + count for first, count in ranges)


def in_words(of: range) -> str:
    """Return a range as people read it."""
    return f"{of.start} to {of.stop - 1}"
