"""A program's folder as bots without bubblewrap may see it: within reach of their user, and with times that stay."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from arena.sandbox.grades import Grade, Sandbox
from arena.sandbox.run_folder import let_through, open_up

NEVER = 2**31 - 1
"""A time of last access, in seconds since 1970, that no reading changes: file systems note only what is newer than the
last change, or a day older than now (relatime). A bot could find there what one before it has read."""


def shown(sandbox: Sandbox, root: Path, copies: Path) -> Path:
    """Where a bot is to find what lies in `root`: there, or in a copy below `copies`, which all bots of a run share.

    Needs doing once a program; to do it again is quick. Raises OSError.
    """
    if sandbox.grade is not Grade.C:
        return root
    if sandbox.staged or not sandbox.own_user:
        keep_times(root)
        return root
    copy = copies / sha256(os.fsencode(root)).hexdigest()[:16]
    if not copy.exists():
        _copy(root, copy)
    return copy


def _copy(root: Path, copy: Path) -> None:
    """Make a copy that is there whole or not at all, whoever makes it at the same time."""
    copy.parent.mkdir(exist_ok=True)
    let_through(copy.parent)
    new = Path(tempfile.mkdtemp(dir=copy.parent))
    shutil.copytree(root, new, symlinks=True, dirs_exist_ok=True)
    open_up(new)
    keep_times(new)
    try:
        new.rename(copy)
    except OSError:
        if not copy.exists():
            raise
        shutil.rmtree(new)


def keep_times(folder: Path) -> None:
    """Have nothing in a folder that is ours note when it was read."""
    if folder.stat().st_atime >= NEVER:
        return
    for at, names, files in os.walk(folder):
        for name in (*names, *files):
            _keep_time(Path(at, name))
    _keep_time(folder)  # last: it says that all are done


def _keep_time(path: Path) -> None:
    with suppress(OSError):
        os.utime(path, (NEVER, path.stat(follow_symlinks=False).st_mtime), follow_symlinks=False)
