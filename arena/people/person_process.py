"""The process in which a person plays; to the referee it is an external bot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = 10.0
"""Seconds that the process may take to show the end of the match."""
_TERMINATED = 2.0
"""Seconds that it may take to end once it was terminated."""


class PersonProcess:
    """Starts a module of Python as the person's bot. As a context, the process ends with the block.

    It shares the terminal, so Ctrl-C reaches it, too.
    """

    def __init__(self, module: str, *words: str) -> None:
        # -P: the current folder may have bots in it, which must not be imported as modules
        self._words = [sys.executable, "-P", "-m", module, *words]
        self._process: subprocess.Popen[bytes] | None = None
        self.may_be_asked = False
        """Whether the person may still be asked when the match is over; an answer would be waited for."""

    def begin(self, _label: str, address: str, token: str) -> None:
        """Start the process, which dials the address; it lets Ctrl-C through when it can handle it."""
        environment = {**os.environ, "ARENA_ADDR": address, "ARENA_TOKEN": token}
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(self._words, env=environment)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    @property
    def has_ended(self) -> bool:
        """Whether the process has begun and ended: the person left."""
        return self._process is not None and self._process.poll() is not None

    def __enter__(self) -> PersonProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process is None:
            return
        waits = 0.0 if self.may_be_asked or kind is not None else _ENDING
        for seconds, end in ((waits, self._process.terminate), (_TERMINATED, self._process.kill)):
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                end()
        self._process.wait()


@contextmanager
def terminal_given_back() -> Iterator[None]:
    """Leave the terminal as it was, even if a process that edits lines in it is killed."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
