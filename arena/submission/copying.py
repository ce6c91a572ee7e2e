"""Copies files of a submission: only ordinary ones are opened, and their size is counted while they are written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from arena.submission.manifest import BadSubmission

MAX_FILES = 2000
"""Files, and folders of an archive, in one submission; a page promises as many."""
MAX_BYTES = 64 * 1024 * 1024
"""Bytes of all files of a submission, and of its archive; a page promises as many."""
_CHUNK = 256 * 1024
"""Bytes that are read at once, and held in memory; about any size would do."""


class CopyBudget:
    """Number of files and bytes that may still be written of one submission."""

    def __init__(self, label: str, files: int = MAX_FILES, size: int = MAX_BYTES) -> None:
        self._label = label
        self._files = files
        self._size = size

    def spend(self, files: int = 0, size: int = 0) -> None:
        """Count more files or bytes. Raises BadSubmission if they are too many."""
        self._files -= files
        self._size -= size
        if self._files < 0 or self._size < 0:
            raise too_large(self._label)


def too_large(label: str) -> BadSubmission:
    """Return the error for a submission, or a part of it, that is too large."""
    return BadSubmission(f"{label!r} is too large: {MAX_FILES} files and {MAX_BYTES // 2**20} MiB are allowed")


class NotOrdinary(OSError):
    """Error for a path that leads to anything but an ordinary file."""


def open_ordinary(path: Path) -> IO[bytes]:
    """Open an ordinary file for reading, safely even if it was replaced a moment ago.

    Raises NotOrdinary for a link, a pipe or the like, which may lead elsewhere or never end, and OSError.
    """
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotOrdinary(errno.EINVAL, "no ordinary file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotOrdinary(errno.EINVAL, "no ordinary file", str(path))
    return file


def write_file(source: IO[bytes], target: Path, executable: bool, budget: CopyBudget) -> None:
    """Write a new read-only file and count its bytes as they arrive. Raises BadSubmission if they are too many."""
    budget.spend(files=1)
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o555 if executable else 0o444)  # despite the umask
        while chunk := source.read(_CHUNK):
            budget.spend(size=len(chunk))
            file.write(chunk)
