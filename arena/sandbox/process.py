"""Starts a bot's process, keeps what it prints, and ends it with everything it started.

Call everything here from the event loop's thread: the kernel kills a bot when the *thread* that started it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from arena.sandbox import cpu_usage, watchdog
from arena.sandbox.confine import Confined
from arena.sandbox.cpu_usage import Usage
from arena.sandbox.launcher import BEGAN
from arena.sandbox.watchdog import ALARMED, Excess, out_of_memory

KEPT = 64 * 1024
"""Bytes kept from the beginning, and again from the end, of what a bot prints; pages promise as many."""
_PIPE = 1024 * 1024
"""Largest number of bytes that a pipe can hold, unless root allows more (`fs.pipe-max-size`)."""
LINE_WIDTH = 1000
"""Characters of a line that are shown as evidence; any width that people can take in would do."""
OUTPUT_A_SECOND = 10 * 1024 * 1024
"""Bytes that a bot may print within one second; more is the fault OUTPUT, as pages promise.

To take in as many costs a worker about 25 ms, for which its other bots have to wait.
"""

ORPHANED = 20.0
"""Seconds within which everything that bots left behind must have ended.

Any patience would do that a busy machine does not exhaust: what then still runs is a fault of the arena.
"""

_PR_SET_CHILD_SUBREAPER = 36
"""Option of prctl(2) that makes a process the parent of orphans among its descendants."""


def adopt_orphans() -> None:
    """Become the parent of all processes that bots leave behind, so that they can be found and ended (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def allow_many_files() -> None:
    """Raise the limit of open files to the maximum that the system allows: each bot needs several sockets and pipes."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Output:
    """The first and last 64 KiB of what a bot printed."""

    def __init__(self) -> None:
        self._head = b""
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Keep the data as far as there is room; of a large output the middle is dropped."""
        self.total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        if rest := data[room:] if room > 0 else data:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= KEPT:
                self._tail_size -= len(self._tail.popleft())

    def last_lines(self, count: int = 20) -> list[str]:
        """Return the last lines as text, long ones cut; bytes that are not UTF-8 are escaped."""
        return [line if len(line) <= LINE_WIDTH else f"{line[:LINE_WIDTH]} …" for line in _lines(self.text())[-count:]]

    def text(self) -> str:
        """Return everything that was kept, as text; bytes that are not UTF-8 are escaped."""
        return (self._head + b"".join(self._tail)[-KEPT:]).decode("utf-8", "backslashreplace")


def _lines(text: str) -> list[str]:
    """Split a text where a terminal begins a line: not at the tag of a line in a log, as `splitlines` does."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


class BotProcess:
    """A running bot. `on_exit` is called once, in the loop, when it has ended and all its output has been read.

    What was taken for it is released then. Where no control group enforces its bounds, they are checked from time to
    time, also for the folder that it may write to.
    """

    def __init__(
        self,
        confined: Confined,
        *,
        on_exit: Callable[[], None],
        on_too_much_output: Callable[[], None],
        on_output: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self.output = Output()
        self._on_exit = on_exit
        self._on_too_much_output = on_too_much_output
        self._on_output = on_output
        self._confined = confined
        self._watch: asyncio.TimerHandle | None = None
        self.excess: Excess | None = None
        """Limit that the bot was ended for exceeding; known when it has ended."""
        self._began = False
        self._loop = asyncio.get_running_loop()
        self._second = (0, 0)  # (whole second of the loop's clock, bytes printed up to its start)
        self._pidfd = -1
        try:
            self._report, write_end = os.pipe()
        except OSError:
            confined.release()
            raise
        os.set_blocking(self._report, False)
        try:
            self._process = subprocess.Popen(
                list(confined.argv),
                cwd=confined.cwd,
                env=dict(confined.env),
                stdin=write_end,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._report)
            confined.release()
            raise
        finally:
            os.close(write_end)
        _running[self.pid] = confined
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        os.set_blocking(self._pipe.fileno(), False)
        try:
            self._pidfd = os.pidfd_open(self.pid)  # also works for a process that has ended
            self._loop.add_reader(self._pipe, self._take_output)
            self._loop.add_reader(self._pidfd, self._exited)
        except OSError:  # no more files can be opened or, by its user, watched
            self._look_no_more()
            self._reap()
            raise
        if confined.group is None or confined.scratch is not None:
            self._watch = self._loop.call_later(ALARMED, self._look)

    @property
    def pid(self) -> int:
        """The id of the process that was started: the wrapper around the bot, if there is one, or else the bot."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the end of the process has not been noticed yet."""
        return self._process.returncode is None

    def exit_in_words(self) -> str:
        """Describe how the process ended: "exited with code 3", "was killed by SIGSEGV"."""
        code = self._process.returncode
        return "is still running" if code is None else ended_in_words(code, wrapped=self._confined.wrapped)

    @property
    def was_killed(self) -> bool:
        """Whether SIGKILL ended the process, which anybody may have sent.

        A wrapper around a bot reports it as code 128 + 9.
        """
        code = self._process.returncode
        return code == -signal.SIGKILL or (self._confined.wrapped and code == 128 + signal.SIGKILL)

    @property
    def ended_from_outside(self) -> bool:
        """Whether a signal that we did not send ended the wrapper around the bot.

        Signals from the bot cannot reach it.
        """
        code = self._process.returncode
        return self._confined.wrapped and code is not None and code < 0 and self.excess is None

    def last_lines(self) -> list[str]:
        """Return the last lines that the bot has printed so far."""
        if self.running:
            self._take()
        return self.output.last_lines()

    def usage(self) -> Usage:
        """Measure what the bot and everything it started have used of the machine so far."""
        return cpu_usage.look(self._processes(), None if self._confined.group is None else self._confined.group.cpu())

    def memory(self) -> int:
        """Measure how many bytes of memory the bot and everything it started use now."""
        return watchdog.memory_of(self._processes())

    def _processes(self) -> list[int]:
        return cpu_usage.family(self.pid) if self._confined.group is None else self._confined.group.processes()

    def _look(self) -> None:
        self.excess, seconds = watchdog.look_once(self._processes(), self._confined.bounds, self._confined.scratch)
        if self.excess is not None:
            self.kill()
        else:
            self._watch = self._loop.call_later(seconds, self._look)

    @property
    def never_began(self) -> bool:
        """Whether the process ended by itself before the sandbox around the bot was ready."""
        return not (self.running or self._began) and self._process.returncode > 0

    def was_short_of_memory(self) -> bool:
        """Tell whether the kernel ended one of the bot's processes, not necessarily the first, for lack of memory."""
        return self._confined.group is not None and self._confined.group.ran_out_of_memory()

    def kill(self) -> None:
        """Start ending the process and everything it started; `on_exit` is called when that is done."""
        if self.running:  # not yet reaped, so no other process can have its id
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def _exited(self) -> None:
        self._look_no_more()
        try:
            self._reap()
        finally:  # otherwise those who wait for the end would wait for ever
            self._on_exit()

    def _look_no_more(self) -> None:
        self._loop.remove_reader(self._pipe)
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)

    def _reap(self) -> None:
        self.kill()  # it may have left processes in its group
        self._process.wait()
        self._began = self._has_begun()
        del _running[self.pid]
        try:
            end_orphans()
        finally:
            self._close()

    def _close(self) -> None:
        """Release everything that belongs to the bot, and read from its control group whether it ran out of memory."""
        if self._watch is not None:
            self._watch.cancel()
        if self.was_short_of_memory():
            self.excess = out_of_memory(self._confined.bounds)
        self._confined.release()
        for _ in range(_PIPE // KEPT):
            self._take()
        self._pipe.close()

    def _has_begun(self) -> bool:
        try:
            return BEGAN in os.read(self._report, KEPT)
        except BlockingIOError:
            return False
        finally:
            os.close(self._report)

    def catch_up(self) -> None:
        """Read what it has printed up to now: before a frame that it sent is handled, so that lines come first."""
        if self.running:
            self._take_output()

    def _take_output(self) -> None:
        self._take()
        if self._prints_too_much():
            self._on_too_much_output()

    def _take(self) -> None:
        """Read a part of what has been printed.

        Reading all at once would block the loop when a bot prints without end.
        """
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._pipe.fileno(), KEPT)
            self.output.add(data)
            self._on_output(data)
            if not data:
                self._loop.remove_reader(self._pipe)

    def _prints_too_much(self) -> bool:
        second = int(self._loop.time())
        if second != self._second[0]:
            self._second = (second, self.output.total)
        return self.output.total - self._second[1] > OUTPUT_A_SECOND


def ended_in_words(code: int, *, wrapped: bool = False) -> str:
    """Describe a process's return code in words: "exited with code 3", "was killed by SIGSEGV"."""
    if wrapped and code > 128:
        code = 128 - code
    if code >= 0:
        return f"exited with code {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


_running: dict[int, Confined] = {}
"""Bots that this process started and has not reaped, by process id."""


def end_orphans() -> None:
    """Kill what ended bots left behind outside their process group, with all descendants (needs `adopt_orphans`).

    Bots run in sessions of their own. So a child of ours in another session is an orphan if it is no running bot and is
    no running bot's: neither of its user, if it has one of its own, nor with its token in the environment. Raises
    RuntimeError if some are left after ORPHANED seconds.
    """
    deadline = time.monotonic() + ORPHANED
    while orphans := _orphans():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(orphans)} processes that bots left behind cannot be ended")
        for process in _stopped(orphans, deadline):
            _signal(process, signal.SIGKILL)
        if not sum(map(_is_reaped, orphans)):
            time.sleep(0.001)


def _is_reaped(child: int) -> bool:
    """Tell whether a child has ended, and reap it; never waits, since a child may be impossible to kill."""
    try:
        return os.waitpid(child, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _stopped(processes: Sequence[int], deadline: float) -> set[int]:
    """Stop the processes and all their descendants, so that none can start another meanwhile; return all of them."""
    stopped: set[int] = set()
    while born := {member for process in processes for member in cpu_usage.family(process)} - stopped:
        if time.monotonic() > deadline:
            break
        for process in born:
            _signal(process, signal.SIGSTOP)
        stopped |= born
    return stopped


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _orphans() -> list[int]:
    """Return the child processes that belong to no running bot, from one look at bots and children, however many."""
    own_session = os.getsid(0)
    users = {confined.user.uid for confined in _running.values() if confined.user is not None}
    children = [child for child in cpu_usage.children(os.getpid()) if child not in _running]
    return [child for child in children if _is_orphan(child, own_session, users)]


def _is_orphan(child: int, own_session: int, users: Container[int]) -> bool:
    with contextlib.suppress(ProcessLookupError):
        if os.getsid(child) == own_session:
            return False
    if _user_of(child) in users:
        return False
    try:
        environment = Path(f"/proc/{child}/environ").read_bytes()
    except OSError:
        return True  # it has ended and must be reaped
    tokens = [confined.env.get("ARENA_TOKEN", "") for confined in _running.values()]
    return not any(token and token.encode() in environment for token in tokens)


def _user_of(process: int) -> int | None:
    """Return who a process runs as, also one that hides the rest; None if it has ended."""
    with contextlib.suppress(OSError):
        return os.stat(f"/proc/{process}").st_uid
    return None
