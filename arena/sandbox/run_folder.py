"""Folders for what a run needs while it lasts, above all sockets; what a dead run left is removed by the next run.

A run holds a lock on the lock file in its folder as long as it lives, and the kernel releases it when the run dies. So
a folder whose lock is free belongs to a dead run, and so do processes that were given a path in it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.sandbox import users
from arena.sandbox.users import BOTS_GROUP

_LONGEST = 60
"""Longest path of the folder for temporary files, in characters, that leaves room for the names of sockets below it.

The path of a socket has 107 bytes at most, of which the arena adds some thirty.
"""
REMOVAL_PATIENCE = 10.0
"""Seconds for which processes of a dead run are killed again, in case they start others meanwhile.

Any time would do that is worth waiting for before a run.
"""


_PLAIN = re.compile("[A-Za-z0-9/._+@~-]+")
"""Paths that every program takes as they are: see `_parent`."""


@contextmanager
def run_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder in `parent`, named `arena-…`, and remove it with all its contents in the end.

    Another parent than the default may leave too little room for the names of sockets.
    """
    parent = parent or _parent()
    _sweep(parent)
    new = Path(tempfile.mkdtemp(prefix=_hidden(""), dir=parent))
    new.chmod(0o700)  # else what is made in it may get the group of the parent, which could not be handed over
    lock = os.open(new / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # locked before it gets the name by which other runs find it
        folder = new.rename(parent / f"arena-{new.name.removeprefix(_hidden(''))}")
        let_through(folder)
        try:
            yield folder
        finally:
            _discard(folder)
    finally:
        os.close(lock)


def _hidden(rest: str) -> str:
    """Return the name of a folder that is being made or removed; it contains this process's id.

    If that process is dead, the folder is left over.
    """
    return f".arena-run-{os.getpid()}-{rest}"


_HIDDEN = re.compile(r"\.arena-run-([0-9]+)-[a-z0-9_]{8}")
"""Pattern that matches no other folders: a copy of a data directory may well be called `.arena-2025-06-01`."""


def _discard(folder: Path) -> None:
    """Remove a run's folder, first renaming it so that another run can finish the removal if this process dies."""
    with suppress(OSError):  # somebody may have removed it already
        folder = folder.rename(folder.with_name(_hidden(folder.name.removeprefix("arena-"))))
    remove(folder)


def let_through(folder: Path) -> None:
    """Let bots pass through a folder to their own files in it, where root gives them a user of their own.

    They cannot list the folder, and nobody else can pass through it.
    """
    if os.geteuid() == 0:
        with suppress(OSError):
            os.chown(folder, -1, BOTS_GROUP)
            folder.chmod(0o710)


def open_up(folder: Path, mode: int = 0o755) -> None:
    """Give a folder and all folders in it this mode, even if their maker had closed them; links are not followed."""
    with suppress(OSError):
        folder.chmod(mode)
    queue = [str(folder)]
    while queue:  # no recursion: bots may nest folders more deeply than Python recurses
        with suppress(OSError), os.scandir(queue.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    queue.append(entry.path)
                    os.chmod(entry.path, mode)


def let_read(folder: Path) -> None:
    """Let everybody read the files in a folder, and run those that their owner may run; links are not followed."""
    for at, _, names in os.walk(folder):
        for path in (os.path.join(at, name) for name in names):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.chmod(path, stat.S_IMODE(mode) | (0o555 if mode & stat.S_IXUSR else 0o444))


def remove(folder: Path) -> None:
    """Remove a folder with its contents, even folders that a bot has closed or nested too deeply for Python.

    A build that was killed with its arena may have left some that belong to its user.
    """
    open_up(folder, 0o700)
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        with suppress(OSError):
            users.take_back([folder])
        for program in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*program, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _parent() -> Path:
    """Return the usual folder for temporary files, or /tmp if some program could not take its path.

    It is part of addresses of gRPC, where `%`, `?`, `#` and commas mean something, of options of Java, which end at a
    space, and of messages, which are UTF-8.
    """
    usual = tempfile.gettempdir()
    return Path(usual if len(usual) <= _LONGEST and _PLAIN.fullmatch(usual) else "/tmp")


def _sweep(parent: Path) -> None:
    """Remove what dead runs of this user left in a folder, and end what is left of their bots."""
    for folder in parent.glob("arena-*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / "lock", os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_processes(folder)
                _discard(folder)
            finally:
                os.close(lock)
    for folder in parent.glob(".arena-run-*"):
        if (maker := _HIDDEN.fullmatch(folder.name)) and not Path("/proc", maker[1]).exists():
            with suppress(OSError):
                if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                    remove(folder)


def _end_processes(folder: Path) -> None:
    deadline = time.monotonic() + REMOVAL_PATIENCE
    while (processes := list(_processes(folder))) and time.monotonic() < deadline:
        for process in processes:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _processes(folder: Path) -> Iterator[int]:
    """Yield the processes with the folder's path in their environment, as the arena's address or a home, or mounted.

    An account may not read the environment of a process that has a user of its own, but may see its mounts.
    """
    name = os.fsencode(folder)
    own_mounts = _content(Path("/proc/self/mountinfo"))
    is_ours = name not in own_mounts  # or everybody's, whom somebody has mounted something there for
    processes = (
        entry for entry in Path("/proc").iterdir() if entry.name.isdecimal() and entry.name != str(os.getpid())
    )
    for process in processes:
        if name in _content(process / "environ") or (is_ours and name in _content(process / "mountinfo")):
            yield int(process.name)


def _content(file: Path) -> bytes:
    """Return what can be read of a file: nothing, if its process has ended."""
    with suppress(OSError):
        return file.read_bytes()
    return b""
