"""Standard streams that a command can rely on, whatever its caller has closed, filled or left unread."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

_INPUT, _OUTPUT, _ERRORS = range(3)
"""Descriptors of the standard streams."""


def secure() -> None:
    """Make the three standard streams usable, and failures to write to them what they mean.

    What is closed, or open the wrong way round, becomes /dev/null: otherwise the next files that a command opens, such
    as its database, get these descriptors, and workers and bots inherit them as their output. What cannot be written to
    stdout is an OSError that names it, once; what cannot be written to stderr was only for people, and is dropped.
    """
    if _opened(_INPUT, os.O_RDONLY):
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(_INPUT, closefd=False)))
    _opened(_OUTPUT, os.O_WRONLY)
    _opened(_ERRORS, os.O_WRONLY)
    sys.stdout, sys.stderr = Results(_OUTPUT, sys.stdout), Remarks(_ERRORS, sys.stderr)


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


class _Text(io.TextIOWrapper):
    """A text stream to a descriptor, encoded and buffered as the stream before it.

    Its file is none of ours: if a method of Python wrote to it, Ctrl-C could come between the writing and the moment
    when that is known, and it would be written twice.
    """

    def __init__(self, number: int, before: TextIO | None) -> None:
        encoding, handling = ("utf-8", "backslashreplace") if before is None else (before.encoding, before.errors)
        file = io.FileIO(number, "wb", closefd=False)
        super().__init__(
            io.BufferedWriter(file),
            encoding,
            handling,
            line_buffering=before is not None and (before is sys.stderr or file.isatty()),
            write_through=getattr(before, "write_through", False),
        )


class Results(_Text):
    """Stdout. A failure to write is raised once; what is still in a buffer then goes to /dev/null."""

    def write(self, text: str, /) -> int:
        with _lost_once():
            return super().write(text)

    def flush(self) -> None:
        with _lost_once():
            super().flush()


class Remarks(_Text):
    """Stderr. A command does not fail because nobody can read what it says beside its results."""

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


@contextmanager
def _lost_once() -> Iterator[None]:
    """Name stdout in an error of writing to it, and let nothing be tried again."""
    try:
        yield
    except OSError as error:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, _OUTPUT)
        os.close(null)
        if error.errno == errno.EPIPE:  # whoever read it has enough, as in `arena … | head`
            raise
        raise OSError(error.errno, error.strerror, "standard output") from None
