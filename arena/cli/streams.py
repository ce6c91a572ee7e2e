"""Standard streams that a command can rely on, whatever its caller has closed, filled or left unread."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

INPUT, OUTPUT, ERRORS = range(3)
"""Descriptors of the standard streams."""


def secure() -> None:
    """Make the three standard streams usable, and failures to write to them what they mean.

    What is closed, or open the wrong way round, becomes /dev/null: otherwise the next files that a command opens, such
    as its database, get these descriptors, and workers and bots inherit them as their output. What cannot be written to
    stdout is an OSError that names it, once; what cannot be written to stderr was only for people, and is dropped.
    """
    if _opened(INPUT, os.O_RDONLY):
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(INPUT, closefd=False)))
    _opened(OUTPUT, os.O_WRONLY)
    _opened(ERRORS, os.O_WRONLY)
    sys.stdout = _writer(sys.stdout, Results(OUTPUT, "wb", closefd=False))
    sys.stderr = _writer(sys.stderr, Remarks(ERRORS, "wb", closefd=False))


def _opened(number: int, mode: int) -> bool:
    """Open /dev/null as this descriptor, unless it can be used in this mode; return whether that was done."""
    with suppress(OSError):
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE in (mode, os.O_RDWR):
            return False
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
    os.set_inheritable(number, True)
    return True


def _writer(before: TextIO | None, file: io.FileIO) -> io.TextIOWrapper:
    """Return a text stream to a file, encoded and buffered as the stream before it."""
    encoding, handling = ("utf-8", "backslashreplace") if before is None else (before.encoding, before.errors)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding,
        handling,
        line_buffering=before is not None and (before is sys.stderr or file.isatty()),
        write_through=getattr(before, "write_through", False),
    )


class Results(io.FileIO):
    """Stdout. A failure to write is raised once; what is still in a buffer at the end is not tried again."""

    _is_lost = False

    def write(self, data: ReadableBuffer, /) -> int:
        if self._is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self._is_lost = True
            if error.errno == errno.EPIPE:  # whoever read it has enough, as in `arena … | head`
                raise
            raise OSError(error.errno, error.strerror, "standard output") from None


class Remarks(io.FileIO):
    """Stderr. A command does not fail because nobody can read what it says beside its results."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes
