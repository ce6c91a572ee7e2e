"""Worker processes find all that they are to do when they begin."""

from __future__ import annotations

import os

from arena.worker.worker_process import _ROOM


def test_as_much_is_taken_for_granted_as_every_pipe_holds() -> None:
    """Before there is a reader; with more, a worker whose description is long would be waited for for ever."""
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        assert os.write(writer, bytes(_ROOM)) == _ROOM
    finally:
        os.close(reader)
        os.close(writer)
