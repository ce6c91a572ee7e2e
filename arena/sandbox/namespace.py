"""The user namespace in which an ordinary user has other users to give away: the subordinate ids of that account.

Systems give each account a range of ids (subuid(5)), for containers. Only newuidmap, which is root's, makes them exist
in a namespace; who enters that is root there, with rights over these ids and the account's own files alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

GROUP = 1
"""Number of the bots' group in the namespace. There 0 is the account itself, as a user and as a group."""
_HOLD = """
import contextlib, ctypes, os, pathlib, sys
watching = [pathlib.Path("/proc/sys/user/max_inotify_" + name) for name in ("instances", "watches")]
allowed = [int(each.read_text()) if each.exists() else 0 for each in watching]
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):
    sys.exit(f"no user namespace can be made: {os.strerror(ctypes.get_errno())}")
for each, number in zip(watching, allowed):
    with contextlib.suppress(OSError):
        each.write_text(str(number // 8))
print(flush=True)
sys.stdin.read()
"""
"""Program that is in a new user namespace until its stdin ends.

What watches files by inotify counts for the account, too: each user in the namespace gets an eighth of what the account
may have. Where settings of the kernel cannot be changed, as in most containers, it gets all.
"""
_ENTER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.setns(os.open(sys.argv[1], os.O_RDONLY), 0x10000000):
    sys.exit(f"the user namespace cannot be entered: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Program that enters a user namespace and becomes a command there."""


class NoNamespace(OSError):
    """Error if the namespace cannot be made; the message is one line that says why."""


class Namespace(NamedTuple):
    """A user namespace, which exists as long as this process does."""

    path: str
    """The path through which this process's children enter it."""
    uids: range
    """The users in it, as the machine numbers them."""

    def inside(self, uid: int) -> int:
        """Return the number that a user has in the namespace: the first one has 1."""
        return uid - self.uids.start + 1

    def as_root(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another as the namespace's root."""
        return [sys.executable, "-I", "-S", "-c", _ENTER, self.path, *command]


def make_namespace(uids: range, gid: int) -> Namespace:
    """Make the namespace with these users and this group, which must be subordinate ids of the account.

    Raises NoNamespace.
    """
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stderr is not None
        if not holder.stdout.readline():
            raise NoNamespace(holder.stderr.read().strip())
        _map("newuidmap", holder.pid, os.geteuid(), uids.start, len(uids))
        _map("newgidmap", holder.pid, os.getegid(), gid, 1)
        opened = os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY)
        holder.communicate()
    return Namespace(f"/proc/{os.getpid()}/fd/{opened}", uids)


def _map(tool: str, process: int, account: int, first: int, count: int) -> None:
    """Let the account be 0 in a process's namespace, and the ids from `first` on be 1, 2, …"""
    if shutil.which(tool) is None:
        raise NoNamespace(f"there is no {tool} (Debian, Ubuntu: apt install uidmap)")
    words = [tool, str(process), "0", str(account), "1", "1", str(first), str(count)]
    completion = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if completion.returncode:
        raise NoNamespace(completion.stderr.strip() or f"{tool} ended with exit code {completion.returncode}")
