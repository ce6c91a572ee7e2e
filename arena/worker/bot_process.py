"""A bot that sits in a worker: its process, its socket and its stream as one thing with one end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol

from arena.referee.limits import Limits
from arena.referee.match import Fault, Forfeit, Verdict, Void, VoidReason
from arena.referee.service import GRPC_FRAME_BYTES, REFUSALS, Receive, RefereeService, Write
from arena.referee.stream import BotStream, Heard
from arena.referee.timekeeper import Clock
from arena.sandbox import Confined, Sandbox, confine, socket_folder
from arena.sandbox.cpu_usage import Usage
from arena.sandbox.process import OUTPUT_A_SECOND, BotProcess
from arena.sandbox.run_folder import remove
from arena.sandbox.visible_folder import visible_folder
from arena.sandbox.watchdog import out_of_memory
from arena.v1 import referee_pb2 as pb
from arena.worker.bot_output import ProcessLog, Sink, readable
from arena.worker.cpu_watch import CpuWatch
from arena.worker.jobs import Entrant, Key

Args = ParamSpec("Args")

GRACE = 1.0
"""Seconds between the end of a stream and that of its process, or the other way round, before the verdict. The same
time is between Goodbye and the end of a process."""
_WANTED_MEMORY = re.compile(
    r"\bMemoryError\b|OutOfMemoryError|heap out of memory|bad_alloc|memory allocation of \d+ bytes"
)
"""What the last words of runtimes are when they are refused memory."""
_KILLED = 5.0
"""Seconds that a killed process may take to end. One that takes longer hangs in the kernel and is left to it."""


class BotHost(Protocol):
    """Who starts bots and hears of them."""

    sandbox: Sandbox
    """What holds the bots."""
    copies: Path
    """Where copies of programs lie that bots cannot reach otherwise."""
    logs: Sink | None
    """Where what bots print goes, sorted by matches; None if it is not kept."""

    @property
    def clock(self) -> Clock:
        """What bots are timed by."""

    def joined(self, bot: Bot) -> None:
        """Handle the bot's Hello; its stream is there."""

    def hear(self, bot: Bot, news: Heard) -> None:
        """Handle a frame that the bot sent; it says nothing if the stream is closed."""

    def ended(self, bot: Bot, fault: Fault) -> None:
        """Handle the end of the bot by its own doing; called once."""

    def excused(self, bot: Bot, why: Void) -> None:
        """Handle a bot that cannot go on, by no doing of its own: its matches are void."""

    def not_started(self, bot: Bot, why: Void) -> None:
        """Handle a bot that the arena could not start, by no doing of its own: the next match that needs it is void."""

    def bug(self, error: Exception) -> None:
        """Handle an exception that is a bug of the arena's own."""

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """Announce that the arena waits for an external bot, which somebody else starts."""


def _ours(handler: Callable[Concatenate[Bot, Args], None]) -> Callable[Concatenate[Bot, Args], None]:
    """Report an exception raised while handling an event of a bot as the arena's bug: it must not look like a fault."""

    @wraps(handler)
    def guarded(self: Bot, /, *args: Args.args, **kwargs: Args.kwargs) -> None:
        try:
            handler(self, *args, **kwargs)
        except Exception as error:
            self.host.bug(error)

    return guarded


class Bot:
    """One process of one version. `stream` is set when it says Hello, `over` when it is at its end."""

    def __init__(self, key: Key, entrant: Entrant, directory: Path, host: BotHost) -> None:
        self.key = key
        self.entrant = entrant
        self.host = host
        self.stream: BotStream | None = None
        self.over = False
        self.matches = 0
        """How many matches it was given."""
        self.used = 0.0
        """When it was last given a match, by the loop's clock."""
        self.started = asyncio.Event()
        """Set when the start has succeeded or failed."""
        self._directory = directory
        self._bounds = host.sandbox.bounds(entrant.memory_mib, entrant.tasks)
        self._process: BotProcess | None = None
        self._service: RefereeService | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._refusal = ""
        self._loop = asyncio.get_running_loop()
        self._stream_over = False
        self._exited = asyncio.Event()
        self._cpu = CpuWatch(self._loop, self.usage, self.overdue)
        self.log = ProcessLog(entrant.label, host.logs, self._loop.time)
        """What it prints, sorted by its matches."""

    async def start(self, limit: float) -> None:
        """Open the socket and start the process, which has `limit` seconds to say Hello."""
        self._directory.mkdir(mode=0o700)
        self._service = RefereeService(self._directory, self)
        await self._service.open()
        if self.over:
            return
        if self.entrant.is_external:
            self.started.set()
            self.host.waiting(self, self._service.address, self._service.token)
            return
        try:
            _check_program(self.entrant)
        except OSError as error:
            self.fault(Forfeit.START, f"cannot be run: {error}")
            return
        root = await self._loop.run_in_executor(
            None, visible_folder, self.host.sandbox, Path(self.entrant.cwd), self.host.copies
        )
        if self.over:
            return
        self._process = BotProcess(
            self._confined(root),
            on_exit=self._process_gone,
            on_too_much_output=self._printed_too_much,
            on_output=self.log.add,
        )
        self._deadline = self._loop.call_later(limit, self._never_joined, limit)

    def _confined(self, root: Path) -> Confined:
        assert self._service is not None
        sandbox, scratch = self.host.sandbox, self._directory / "tmp"
        scratch.mkdir()
        env = bot_environment(self.entrant.env, self._service)
        env["ARENA_ADDR"] = f"unix:{socket_folder(sandbox, self._directory)}/{self._service.path.name}"
        return confine(
            sandbox,
            self.entrant.command,
            root=root,
            socket_folder=self._directory,
            scratch=scratch,
            env=env,
            bounds=self._bounds,
        )

    @property
    def has_room(self) -> bool:
        """Whether it can be given one more match now."""
        stream = self.stream
        if stream is None or self.over or self._stream_over or self._exited.is_set():
            return False
        return len(stream.held) < stream.window.size

    @property
    def idle(self) -> bool:
        """Whether it has started, is not at its end, and holds no match."""
        return self.stream is not None and not self.over and not self.stream.held

    def count_match(self, limits: Limits) -> None:
        """Count a match that it is about to be given."""
        self.matches += 1
        self.used = self._loop.time()
        self._cpu.allow_match(limits.cpu, first=self.idle)

    def rested(self) -> None:
        """Handle the end of a match: if it was the last that it held, its processor time is watched no more."""
        if self.idle:
            self._cpu.stop()

    def playing_stream(self) -> BotStream:
        """Return the stream of a bot that has joined."""
        assert self.stream is not None
        return self.stream

    @property
    def pid(self) -> int | None:
        """The process that was started for it: the sandbox around it, if there is one; None if there is none yet."""
        return None if self._process is None else self._process.pid

    def memory(self) -> int:
        """Return how many bytes its processes use now; 0 if that cannot be seen yet."""
        return 0 if self._process is None or self.stream is None else self._process.memory()

    @property
    def was_killed(self) -> bool:
        """Whether its process ended by SIGKILL."""
        return self._process is not None and self._process.was_killed

    def evidence(self) -> dict[str, Any]:
        """How the process is or ended and what it printed last; nothing of one that was started by hand."""
        if self._process is None:
            return {}
        return {
            "exit": self._process.exit_in_words(),
            "output": list(map(readable, self._process.last_lines())),
            "command": list(self.entrant.command),
        }

    async def leave(self) -> None:
        """Say Goodbye, wait a moment, end what is left. A bot that hangs here is not blamed.

        Of one that was started by hand no more is seen than the end of its stream.
        """
        self.over = True
        if self.stream is not None:
            self.stream.goodbye("the arena is done with this bot")
            await self._exit_within(GRACE)
        await self.close()

    async def end(self) -> None:
        """End the process and all it started, and wait for that."""
        if self._process is not None:
            self._process.kill()
            await self._exit_within(_KILLED)

    async def close(self) -> None:
        """End the process and all it started, close its socket, remove its directory."""
        self.over = True
        self._cpu.stop()
        self.started.set()
        if self._deadline is not None:
            self._deadline.cancel()
        if self.stream is not None:
            self.stream.close()
        await self.end()
        self.log.close()
        if self._service is not None:
            await self._service.close()
        remove(self._directory)

    async def _exit_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)

    # Connection events

    def joined(self, hello: pb.Hello, write: Write) -> Receive:
        """Handle the bot's Hello: from now on it has a stream."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self.stream = BotStream(hello, write, self, self.host.clock)
        self.started.set()
        self._welcome()
        return self._receive

    @_ours
    def _welcome(self) -> None:
        if not self.over:
            self.host.joined(self)

    @_ours
    def _receive(self, raw: bytes) -> None:
        if self._process is not None:
            self._process.catch_up()
        self.host.hear(self, self.playing_stream().receive(raw))

    def refused(self, count: int, why: str) -> None:
        """Count a refused stream: two may be a mistake, the third is a fault."""
        self._refusal = f"; a stream was refused: {why}"
        if count == REFUSALS:
            self.fault(Forfeit.PROTOCOL, f"opened {count} streams that were refused, the last because {why}")

    def unread(self) -> None:
        """Handle a bot that does not read what it is sent: a fault."""
        self.fault(Forfeit.FLOOD, "does not read what it is sent")

    def stream_gone(self) -> None:
        """Stop the clock: the stream has ended. Mostly the exit of the process follows, which tells more."""
        self._stream_over = True
        if self._process is None:
            self._exited.set()
        if self.stream is not None:
            self.stream.close()
        self._part_gone()

    # From the process

    def _process_gone(self) -> None:
        self._exited.set()
        self._part_gone()

    def _printed_too_much(self) -> None:
        self.fault(Forfeit.OUTPUT, f"printed more than {OUTPUT_A_SECOND >> 20} MiB in a second")

    def _never_joined(self, limit: float) -> None:
        self.fault(Forfeit.START, f"did not join within {limit:g} s{self._refusal}")

    def _part_gone(self) -> None:
        """Stream and process end one after the other: an answer may come after the exit, the exit after the stream."""
        if self.over:
            return
        if self._process is None or (self._exited.is_set() and (self._stream_over or self.stream is None)):
            self._judge_end()
        elif self._deadline is None:
            self._deadline = self._loop.call_later(GRACE, self._judge_end)

    @_ours
    def _judge_end(self) -> None:
        if self._process is not None and (excuse := self._excuse(self._process)) is not None:
            self.started.set()
            (self.host.not_started if self.stream is None else self.host.excused)(self, excuse)
            return
        reason, how = Forfeit.CRASH, f"closed its stream, or sent a frame of more than {GRPC_FRAME_BYTES} bytes"
        if self._process is not None and self._exited.is_set():
            how = f"the process {self._process.exit_in_words()}"
            if (excess := self._process.excess) is not None:
                reason, how = Forfeit.OOM if excess.is_memory else Forfeit.CRASH, excess.what
            elif _WANTED_MEMORY.search("\n".join(self._process.last_lines()[-3:])):
                reason, how = Forfeit.OOM, f"{how}, out of memory: {self._bounds.memory_mib} MiB are allowed"
        if self.stream is None:
            forgot = how.endswith("exited with code 0") and self.entrant.command[0] == sys.executable
            hint = "; does it end with run(YourBot)?" if forgot else ""
            self.fault(Forfeit.START, f"{how} before it joined{self._refusal}{hint}")
        else:
            self.fault(reason, how)

    def _excuse(self, process: BotProcess) -> Void | None:
        """Why the end of the process is no doing of the bot's; None if it may be."""
        if self.stream is None and process.never_began:
            return Void(VoidReason.SANDBOX, "".join(process.last_lines()[-1:]) or process.exit_in_words())
        if process.ended_from_outside:
            return Void(VoidReason.INTERRUPTED, f"the sandbox around {self.entrant.label} {process.exit_in_words()}")
        return None

    # Verdicts

    @_ours
    def overdue(self, verdict: Verdict) -> None:
        """Handle an answer that did not come in time, or took too much processor time."""
        self.judge(verdict)

    def judge(self, verdict: Verdict) -> None:
        """End the bot: by its own doing, or without blame if it cannot be judged on this machine now."""
        if isinstance(verdict, Fault):
            self.fault(*verdict)
        elif not self.over:
            self.host.excused(self, verdict)

    @_ours
    def fault(self, reason: Forfeit, detail: str) -> None:
        """End the bot by its own doing: it misbehaved, or its process ended."""
        if not self.over:
            self.over = True
            self.started.set()
            if reason is Forfeit.TIMEOUT and self._process is not None and self._process.was_short_of_memory():
                reason, detail = Forfeit.OOM, f"{detail}; it {out_of_memory(self._bounds).what}"
            self.host.ended(self, Fault(reason, detail))

    def usage(self) -> Usage | None:
        """Sample what its processes have used of the machine; None if it is external or gone."""
        return self._process.usage() if self._process is not None and self._process.running else None


def _check_program(entrant: Entrant) -> None:
    """Check that there is such a program, and a folder for it to run in. Raises OSError."""
    if not os.path.isdir(entrant.cwd):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), entrant.cwd)
    program = entrant.command[0]
    path = Path(entrant.cwd, program) if "/" in program else shutil.which(program, path=entrant.env.get("PATH"))
    if path is None or not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)


def bot_environment(extra: Mapping[str, str], service: RefereeService) -> dict[str, str]:
    """Build the environment of a bot's process: nothing of the arena's own but the address and the token."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": os.environ.get("HOME", "/tmp"),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",  # else what a match prints to stdout comes when it is over
        **extra,
        "ARENA_ADDR": service.address,
        "ARENA_TOKEN": service.token,
    }
