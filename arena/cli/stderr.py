"""Lines for people, on stderr: stdout is for results. Every command needs this module, and so it imports little."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arena.cli.typed import as_typed
from arena.suggest import printable


def say(text: str) -> None:
    """Write a line for people, with commands as they type them, above the progress bar if there is one."""
    sys.stderr.write(f"{as_typed(text)}\n")  # while there is a bar, rich has replaced sys.stderr


@contextmanager
def warnings_said() -> Iterator[None]:
    """Print the warnings that the store logs while the block runs."""
    handler, store = _Aloud(), logging.getLogger("ladder")
    store.addHandler(handler)
    try:
        yield
    finally:
        store.removeHandler(handler)


class _Aloud(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(printable(record.getMessage()))
