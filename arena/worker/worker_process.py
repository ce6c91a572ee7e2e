"""Worker processes that start without a traceback, even if the arena is killed while they do.

A process that multiprocessing spawns reads from a pipe what it is to do. The standard library writes that once the
process is there; if we are killed in between, the process finds the pipe at its end and prints a traceback. Here all of
it is in the pipe before there is anybody to read it.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import context, popen_spawn_posix, process, reduction, resource_tracker, spawn, util
from typing import TYPE_CHECKING, Any

from arena.sandbox.process import die_with_parent

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class _Popen(popen_spawn_posix.Popen):
    _fds: list[int]
    """What the process inherits."""

    def _launch(self, process_obj: process.BaseProcess) -> None:
        """As that of the class above but for the order."""
        tracker = resource_tracker.getfd()
        assert tracker is not None
        self._fds.append(tracker)
        description = self._description(process_obj)
        until, child_w = os.pipe()
        child_r, tell = os.pipe()
        try:
            if len(description) > fcntl.fcntl(tell, fcntl.F_GETPIPE_SZ):  # or writing would wait for a reader
                fcntl.fcntl(tell, fcntl.F_SETPIPE_SZ, len(description))
            with open(tell, "wb", closefd=False) as pipe:
                pipe.write(description)
            command = spawn.get_command_line(tracker_fd=tracker, pipe_handle=child_r)
            self._fds.extend((child_r, child_w))
            self.pid = util.spawnv_passfds(os.fsencode(spawn.get_executable()), command, self._fds)
            self.sentinel = until
        finally:
            self.finalizer = util.Finalize(self, _close, (until, tell))
            os.close(child_r)
            os.close(child_w)

    def _description(self, process_obj: process.BaseProcess) -> bytes:
        stream = io.BytesIO()
        prepared = spawn.get_preparation_data(process_obj.name)
        context.set_spawning_popen(self)
        try:
            reduction.dump(prepared, stream)
            reduction.dump(process_obj, stream)
        finally:
            context.set_spawning_popen(None)
        return stream.getvalue()


def _close(*files: int) -> None:
    for file in files:
        os.close(file)


class _Process(context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: process.BaseProcess) -> _Popen:
        return _Popen(process_obj)


class _Context(context.SpawnContext):
    Process = _Process


_CONTEXT = _Context()
"""Starts processes by spawn: gRPC and fork do not go together."""


FOR_THE_ARENA = (signal.SIGINT, signal.SIGHUP)
"""What a terminal sends to the whole group, and the arena's own process answers for all."""


def start_process(
    work: Callable[..., None], *arguments: object, deaf_to: Sequence[signal.Signals] = FOR_THE_ARENA
) -> tuple[process.BaseProcess, Connection[Any, Any]]:
    """Start a process that runs `work(link, *arguments)` with one end of a link; return it and the other end.

    It does not hear some signals, from the first moment on, and ends when the arena does. What is large is better sent
    over the link.
    """
    link, far_end = _CONTEXT.Pipe()
    new_process = _CONTEXT.Process(target=_begin, args=(os.getpid(), deaf_to, work, far_end, *arguments), daemon=True)
    with _blocked(deaf_to):
        new_process.start()
    far_end.close()
    return new_process, link


@contextlib.contextmanager
def _blocked(signals: Sequence[signal.Signals]) -> Iterator[None]:
    """Block these signals in the processes that are started inside the block, while they start."""
    resource_tracker.ensure_running()  # else the first spawn begins with it, which ends by unblocking SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int, deaf_to: Sequence[signal.Signals], work: Callable[..., None], *arguments: object) -> None:
    for number in deaf_to:
        signal.signal(number, _ignore)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, deaf_to)
    die_with_parent(parent)
    work(*arguments)


def _ignore(_number: int, _frame: object) -> None:
    """Unlike SIG_IGN this is not inherited by bots."""
