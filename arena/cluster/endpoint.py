"""What the engine of a cluster calls on a host: it passes requests to the host's process of a run, and answers back.

A process of its own keeps the engine's threads and event loop out of the clocks by which bots are judged.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection

_ENDING = 5.0
"""Seconds that a host's process may take to end, before it is killed. `docs/cluster.md` says how soon all has ended."""
GONE = b""
"""Answer where a run has no process, or none any more; an exception would fill the log of the engine."""
BEGIN = "import sys; from arena.cluster.host import main; main(int(sys.argv[1]))"
"""Program of the host's process."""


class _Line:
    """The process of one run on this host."""

    def __init__(self) -> None:
        self._link: Connection[bytes, bytes]
        self._link, far_end = Pipe()
        words = [sys.executable, "-P", "-c", BEGIN, str(far_end.fileno())]
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, pass_fds=[far_end.fileno()], start_new_session=True
        )
        far_end.close()
        self._numbers = count()
        self._sending = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._link.fileno(), self._hear)
        self._ended = asyncio.Event()
        self.is_open = True

    def _hear(self) -> None:
        try:
            frame = self._link.recv_bytes()
        except (EOFError, OSError):
            self.close()
            return
        if (waiting := self._waiting.pop(int.from_bytes(frame[:8]), None)) is not None and not waiting.done():
            waiting.set_result(frame[8:])

    async def ask(self, request: bytes) -> bytes:
        """Pass on a request and return the answer, `GONE` if the process ends before it has answered."""
        number = next(self._numbers)
        answer = self._waiting[number] = self._loop.create_future()
        async with self._sending:  # a large frame is written in pieces
            try:
                await self._loop.run_in_executor(None, self._link.send_bytes, number.to_bytes(8) + request)
            except OSError:
                return GONE
        result: bytes = await answer
        return result

    def close(self) -> None:
        """Close the link, at which the process ends with all its workers."""
        if not self.is_open:
            return
        self.is_open = False
        self._loop.remove_reader(self._link.fileno())
        self._link.close()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(GONE)
        self._loop.run_in_executor(None, self._end)

    def _end(self) -> None:
        """Wait for the end of the process, and kill one that hangs: its workers and their bots die with it."""
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._loop.call_soon_threadsafe(self._ended.set)

    async def over(self) -> None:
        """Close the link, and wait until the process has ended with everything that it started."""
        self.close()
        await self._ended.wait()


_lines: dict[str, tuple[str, _Line]] = {}
"""The session and the process of each run, by the run's name."""


async def join_cluster(session: str, request: bytes) -> bytes:
    """Start a process for a session, instead of one that its run may still have here, and return its answer.

    A session is named "RUN/NUMBER". A request that was long on its way, and is of another session than that which the
    run has now, finds nobody.
    """
    run = session.partition("/")[0]
    if (before := _lines.pop(run, None)) is not None:
        await before[1].over()  # its bots have seen dice that may be rolled again
    _lines[run] = session, _Line()
    return await ask(session, request)


async def ask(session: str, request: bytes) -> bytes:
    """Return the answer of a session's process to a request, `GONE` if there is no such process."""
    line = _of(session)
    return GONE if line is None or not line.is_open else await line.ask(request)


async def leave(session: str, _request: bytes) -> bytes:
    """End a session's process."""
    if (line := _of(session)) is not None:
        del _lines[session.partition("/")[0]]
        await line.over()
    return GONE


def _of(session: str) -> _Line | None:
    now, line = _lines.get(session.partition("/")[0], (None, None))
    return line if now == session else None
