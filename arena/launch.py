"""Start a bot's process, keep what it prints, end it and everything it started.

Everything here is called from the event loop's thread: the kernel kills a bot when the *thread* that started it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

KEPT = 64 * 1024
"""Bytes kept of the beginning, and again of the end, of what a bot prints."""
FLOOD = 10 * 1024 * 1024
"""More than this in one second is OUTPUT."""

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of whatever bots leave behind, so that it can be found and ended (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Output:
    """The first and last 64 KiB of what a bot printed."""

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Keep what there is room for; the middle of a flood is dropped."""
        self.total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        if rest := data[room:] if room > 0 else data:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= KEPT:
                self._tail_size -= len(self._tail.popleft())

    def last_lines(self, count: int = 20) -> list[str]:
        """The last lines, as text; bytes that are no UTF-8 are escaped."""
        text = (self._head + b"".join(self._tail)[-KEPT:]).decode("utf-8", "backslashreplace")
        return text.splitlines()[-count:]


class BotProcess:
    """A running bot. `on_exit` is called once, in the loop, when it has ended and all its output was read."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        on_exit: Callable[[], None],
        on_flood: Callable[[], None],
    ) -> None:
        self.output = Output()
        self._on_exit: Callable[[], None] | None = on_exit
        self._on_flood = on_flood
        self._loop = asyncio.get_running_loop()
        self._second = (0, 0)  # (whole second of the loop's clock, bytes printed up to its start)
        self._process = subprocess.Popen(
            [*_dies_with_us(), *command],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        _running[self._process.pid] = env.get("ARENA_TOKEN", "")
        assert self._process.stdout is not None
        self._pipe = self._process.stdout.fileno()
        os.set_blocking(self._pipe, False)
        self._loop.add_reader(self._pipe, self._read)
        self._pidfd = os.pidfd_open(self._process.pid)
        self._loop.add_reader(self._pidfd, self._exited)

    @property
    def pid(self) -> int:
        """The process's id, which is its group's and session's too."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._on_exit is not None

    def exit_in_words(self) -> str:
        """How it ended: "exited with code 3", "was killed by SIGSEGV"."""
        code = self._process.poll()
        if code is None:
            return "is still running"
        if code >= 0:
            return f"exited with code {code}"
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"was killed by signal {-code}"

    def kill(self) -> None:
        """End the process and all it started; `on_exit` is not called any more."""
        self._on_exit = None
        self._signal_group()
        self._process.wait()
        self._close()
        end_orphans()

    def _signal_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _exited(self) -> None:
        self._signal_group()  # whatever it left in its group; its id is not reused while it is not reaped
        self._process.wait()
        self._read()
        self._close()
        end_orphans()
        if self._on_exit is not None:
            on_exit, self._on_exit = self._on_exit, None
            on_exit()

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._pipe, KEPT):
                self.output.add(data)
                if self._flooding():
                    self._on_flood()
                    return
            self._loop.remove_reader(self._pipe)

    def _flooding(self) -> bool:
        second = int(self._loop.time())
        if second != self._second[0]:
            self._second = (second, self.output.total)
        return self.output.total - self._second[1] > FLOOD

    def _close(self) -> None:
        if self._pidfd < 0:
            return
        self._loop.remove_reader(self._pipe)
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = -1
        del _running[self._process.pid]
        assert self._process.stdout is not None
        self._process.stdout.close()


_running: dict[int, str] = {}
"""The bots this process started and has not reaped: process id to token."""


def _dies_with_us() -> list[str]:
    """The command in front of a bot's that lets the kernel end it when we are killed."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []


def end_orphans() -> None:
    """Kill what ended bots left behind outside their process group (needs `adopt_orphans`).

    Bots run in sessions of their own, so a child of ours in another session that is no running bot, and carries no
    running bot's token, is one.
    """
    own_session = os.getsid(0)
    for _ in range(100):  # killing one may hand us its children
        orphans = [child for child in psutil.Process().children() if _is_orphan(child, own_session)]
        if not orphans:
            return
        for orphan in orphans:
            orphan.kill()
            orphan.wait()


def _is_orphan(child: psutil.Process, own_session: int) -> bool:
    if child.pid in _running:
        return False
    try:
        return os.getsid(child.pid) != own_session and child.environ().get("ARENA_TOKEN", "") not in _running.values()
    except (psutil.Error, ProcessLookupError):
        return False
