"""Processes that start without a word, whatever becomes of us meanwhile.

A process that multiprocessing spawns reads from a pipe what it is to do. The standard library writes that once the
process is there; if we are killed in between, the process finds the pipe at its end and prints a traceback. Here all of
it is in the pipe before there is anybody to read it.
"""

from __future__ import annotations

import fcntl
import io
import os
from multiprocessing import context, popen_spawn_posix, process, reduction, resource_tracker, spawn, util

ROOM = 1 << 16
"""Bytes that lie in a pipe."""


class _Popen(popen_spawn_posix.Popen):
    _fds: list[int]
    """What the process inherits."""

    def _launch(self, process_obj: process.BaseProcess) -> None:
        """As that of the class above but for the order."""
        tracker = resource_tracker.getfd()
        assert tracker is not None
        self._fds.append(tracker)
        told = self._told(process_obj)
        until, child_w = os.pipe()
        child_r, tell = os.pipe()
        try:
            if len(told) > ROOM:
                fcntl.fcntl(tell, fcntl.F_SETPIPE_SZ, len(told))
            with open(tell, "wb", closefd=False) as pipe:
                pipe.write(told)
            command = spawn.get_command_line(tracker_fd=tracker, pipe_handle=child_r)
            self._fds.extend((child_r, child_w))
            self.pid = util.spawnv_passfds(os.fsencode(spawn.get_executable()), command, self._fds)
            self.sentinel = until
        finally:
            self.finalizer = util.Finalize(self, _close, (until, tell))
            os.close(child_r)
            os.close(child_w)

    def _told(self, process_obj: process.BaseProcess) -> bytes:
        told = io.BytesIO()
        prepared = spawn.get_preparation_data(process_obj.name)
        context.set_spawning_popen(self)
        try:
            reduction.dump(prepared, told)
            reduction.dump(process_obj, told)
        finally:
            context.set_spawning_popen(None)
        return told.getvalue()


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


class _Process(context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> _Popen:
        return _Popen(process_obj)


class Context(context.SpawnContext):
    """How to spawn so."""

    Process = _Process
