"""What tells a bot's process from those that the bot itself starts: only the former may speak to the arena."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from traceback import print_exc


def is_imported_by_child() -> bool:
    """Tell whether a child process of `multiprocessing` is importing the module that asks.

    With "spawn" and "forkserver" each child imports the bot's script, as `__mp_main__`, and only afterwards is
    `multiprocessing.parent_process()` set; the server of "forkserver" imports it, too, and is nobody's child by that
    function. A child that was forked may import the script under its own name. One that calls `run` in a function,
    without an import, means it.
    """
    if not _is_child():
        return False
    frame = sys._getframe(1)
    while frame.f_back is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
            return True
        frame = frame.f_back
    return False


def _is_child() -> bool:
    if "__mp_main__" in sys.modules:
        return True
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def without_children(replies: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the replies; a process that the bot forked meanwhile, and that comes back here, ends as a program does.

    It must go no further: it has a copy of the stream, and the arena would take what it does there for its parent's.
    """
    owner = os.getpid()
    try:
        for reply in replies:
            if os.getpid() != owner:
                break
            yield reply
    except BaseException as error:
        if os.getpid() != owner:
            _exit(_told(error))
        raise
    if os.getpid() != owner:
        _exit(0)


def _told(error: BaseException) -> int:
    """Print an exception as Python does at the end of a program, and return the exit code."""
    if not isinstance(error, SystemExit):
        print_exc()
        return 1
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def _exit(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()
    os._exit(code)
