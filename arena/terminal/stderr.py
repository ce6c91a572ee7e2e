"""Lines for people, on stderr: stdout is for results. Every command needs this module, and so it imports little."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from arena.base.suggest import printable
from arena.terminal.typed import as_typed

_QUOTED = "  | "
"""How a line begins that a bot, or what builds it, has printed."""


def say(text: str) -> None:
    """Write a line for people above the progress bar, if there is one, with commands as they type them.

    What somebody else has printed stays as it is.
    """
    line = text if text.startswith(_QUOTED) else as_typed(text)
    sys.stderr.write(f"{line}\n")  # while there is a bar, rich has replaced sys.stderr


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
