"""Shows a program's folder to bots without bubblewrap: readable for their user, with access times that stay."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from arena.sandbox.grades import Grade, Sandbox
from arena.sandbox.run_folder import let_through, open_up

NEVER_SHOWN = 2**31 - 1
"""Access time, in seconds since 1970, that reading does not change: the latest that all file systems can store.

File systems (relatime) update an access time only if it is older than the last change or than a day. Otherwise a bot
could find out there what a bot before it has read.
"""


def visible_folder(sandbox: Sandbox, root: Path, copies: Path) -> Path:
    """Return where a bot finds the contents of `root`: there, or in a copy below `copies` that all bots of a run share.

    Call it once for each program; later calls are quick. Raises OSError.
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
    """Copy the folder so that the copy exists completely or not at all, even if several processes copy at once."""
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
    """Set the access times in a folder so that reading no longer changes them, for all files that are ours."""
    if folder.stat().st_atime >= NEVER_SHOWN:
        return
    for at, names, files in os.walk(folder):
        for name in (*names, *files):
            _keep_time(Path(at, name))
    _keep_time(folder)  # last, because it marks the folder as done


def _keep_time(path: Path) -> None:
    with suppress(OSError):
        os.utime(path, (NEVER_SHOWN, path.stat(follow_symlinks=False).st_mtime), follow_symlinks=False)
