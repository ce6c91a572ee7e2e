"""Folders for what a run needs while it lasts, above all sockets; what a dead run left is removed by the next.

A run holds the lock file in its folder as long as it lives, and the kernel lets go of it when it dies. So a folder
whose lock can be had is a dead run's, and so is a process that was told of a place in it.
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

LONGEST = 60
"""Characters of a folder's path at which there is still room for the names of sockets in it."""
BOTS_GROUP = 65534
"""The group of bots, and of those who build them, where they have users of their own."""
PATIENCE = 10.0
"""Seconds for which processes of a dead run are killed, should they start others meanwhile."""


@contextmanager
def run_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder of one's own, named `arena-…`, with everything in it removed in the end; `parent` is where to make it.

    Elsewhere than in the parent that is usual there may be no room for the names of sockets.
    """
    parent = parent or _parent()
    sweep(parent)
    new = Path(tempfile.mkdtemp(prefix=_hidden(""), dir=parent))
    lock = os.open(new / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = new.rename(parent / f"arena-{new.name.removeprefix(_hidden(''))}")  # seen by others once it is locked
        let_through(folder)
        try:
            yield folder
        finally:
            _discard(folder)
    finally:
        os.close(lock)


def _hidden(rest: str) -> str:
    """The name of a folder that is being made or removed: it is left over once the process of this number is dead."""
    return f".arena-run-{os.getpid()}-{rest}"


_HIDDEN = re.compile(r"\.arena-run-([0-9]+)-[a-z0-9_]{8}")
"""Nothing of anybody else's is called so; a copy of a home may well be called `.arena-2025-06-01`."""


def _discard(folder: Path) -> None:
    """Remove a run's folder, so that another goes on with that if this process dies meanwhile."""
    with suppress(OSError):  # somebody may have removed it already
        folder = folder.rename(folder.with_name(_hidden(folder.name.removeprefix("arena-"))))
    remove(folder)


def let_through(folder: Path) -> None:
    """Let bots go through a folder to what is theirs in it, where root gives them a user of their own.

    They cannot list it, and nobody else goes through.
    """
    if os.geteuid() == 0:
        with suppress(OSError):
            os.chown(folder, -1, BOTS_GROUP)
            folder.chmod(0o710)


def open_up(folder: Path, mode: int = 0o755) -> None:
    """Open a folder and those in it, to whomever their maker closed them; links are not followed."""
    with suppress(OSError):
        folder.chmod(mode)
    left = [str(folder)]
    while left:  # no recursion: bots may nest folders deeper than that goes
        with suppress(OSError), os.scandir(left.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                    os.chmod(entry.path, mode)


def let_read(folder: Path) -> None:
    """Let everybody read the files in a folder, and run those that their owner may run; links are not followed."""
    for at, _, names in os.walk(folder):
        for path in (os.path.join(at, name) for name in names):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.chmod(path, stat.S_IMODE(mode) | (0o555 if mode & stat.S_IXUSR else 0o444))


def remove(folder: Path) -> None:
    """A folder with everything in it, also what a bot has closed, and nested deeper than Python goes."""
    open_up(folder, 0o700)
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for program in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*program, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _parent() -> Path:
    usual = tempfile.gettempdir()
    return Path("/tmp" if len(usual) > LONGEST else usual)


def sweep(parent: Path) -> None:
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
        if (made := _HIDDEN.fullmatch(folder.name)) and not Path("/proc", made[1]).exists():
            with suppress(OSError):
                if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                    remove(folder)


def _end_processes(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while (left := list(_processes(folder))) and time.monotonic() < deadline:
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)


def _processes(folder: Path) -> Iterator[int]:
    """Those whose environment names the folder: the address they are to dial, or where they are at home."""
    name = os.fsencode(folder)
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and process.name != str(os.getpid()):
            with suppress(OSError):
                if name in (process / "environ").read_bytes():
                    yield int(process.name)
