"""A bot under examination: one process, for which the examiner writes every frame and reads every answer."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from arena.check import Unjudged
from arena.referee import frames
from arena.referee.match import Fault, Forfeit, Void, VoidReason
from arena.referee.service import Receive, Write
from arena.referee.stream import Heard
from arena.sandbox import NoSandbox, Sandbox
from arena.sandbox.process import adopt_orphans
from arena.sandbox.run_folder import run_folder
from arena.v1 import referee_pb2 as pb
from arena.worker import control
from arena.worker.bot_output import Line as Printed
from arena.worker.bot_output import Logged, Sink
from arena.worker.bot_process import Bot
from arena.worker.heartbeat import Heartbeat
from arena.worker.jobs import Entrant

SHOWN_FRAMES = 8
"""Frames of a transcript, the last ones; any few that are read."""

Waiting = Callable[[str, str, str], None]
"""Called with the label, address and token of an external bot, which somebody else is to start."""


class ExaminedQuestion(NamedTuple):
    """One decision as a bot was asked it."""

    decision: int
    legal: list[int]
    request: dict[str, Any]
    picture: str


class Misbehaved(Exception):
    """The bot did something else than it should have; the message is one line."""

    def __init__(self, detail: str, reason: Forfeit | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        """What it would be in a match, if that is known."""
        self.output: list[str] = []
        """What the bot printed last."""
        self.transcript: list[PrintedLine] = []
        """The last frames, both ways."""
        self.question: ExaminedQuestion | None = None
        """The decision of a match that it was asked last, where that is known."""


class PrintedLine(NamedTuple):
    """A frame that was said or heard, as plain data."""

    who: str
    frame: dict[str, Any]


class Examined(Bot):
    """A bot that has joined, or is to. `transcript` has its last frames, both ways."""

    hello: pb.Hello

    def __init__(self, entrant: Entrant, directory: Path, desk: _Desk) -> None:
        super().__init__(("examined", 0), entrant, directory, desk)
        self._frames: deque[tuple[str, bytes]] = deque(maxlen=SHOWN_FRAMES)
        self.matches = 0
        """How many matches were begun on this stream."""
        self._desk = desk
        self._inbox: asyncio.Queue[pb.PlayRequest] = asyncio.Queue()

    @property
    def transcript(self) -> list[PrintedLine]:
        """The last frames after the Hello."""
        return [PrintedLine(who, _plain(who, frame)) for who, frame in self._frames]

    def joined(self, hello: pb.Hello, write: Write) -> Receive:
        """Take over after the bot's Hello: its stream stays silent, and the examiner writes the frames."""
        super().joined(hello, write)
        self.hello, self._say = hello, write
        return self._hear

    def say(self, *parts: bytes) -> None:
        """Send a frame, made of parts as `arena.referee.frames` makes them."""
        frame = b"".join(parts)
        self._frames.append(("referee", frame))
        self._say(frame)

    async def hear(self, seconds: float) -> pb.PlayRequest:
        """Return the bot's next frame. Raises Misbehaved if none comes, and if its process is at its end."""
        frame = asyncio.ensure_future(self._inbox.get())
        either: list[asyncio.Future[Any]] = [frame, self._desk.over]
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if frame.done():
            return frame.result()
        frame.cancel()
        if self._desk.over.done():
            raise self._desk.over.result()
        raise Misbehaved(f"no answer in {seconds:g} s", Forfeit.TIMEOUT)

    def _hear(self, raw: bytes) -> None:
        if self._process is not None:
            self._process.catch_up()
        try:
            frame = pb.PlayRequest.FromString(raw)
        except DecodeError as error:
            self.fault(Forfeit.PROTOCOL, f"sent a frame that is no PlayRequest: {error}")
            return
        self._frames.append(("bot", raw))
        self._inbox.put_nowait(frame)

    def printed(self) -> list[Printed]:
        """Return what it printed in the matches that its log was told of, by decision."""
        return [line for log in self._desk.logs or () if isinstance(log, Logged) for line in log.lines]

    async def ended(self, seconds: float) -> bool:
        """Whether its process ends in this time, by itself."""
        await self._exit_within(seconds)
        return self._exited.is_set()


class _Desk:
    """The host of the bot that is examined: keeps what becomes of it."""

    def __init__(self, sandbox: Sandbox, scratch: Path, waiting: Waiting | None) -> None:
        self.sandbox = sandbox
        self.scratch = scratch
        self.copies = scratch / "programs"
        self.clock = Heartbeat(asyncio.get_running_loop(), sandbox.grade.value)  # nothing is timed: it need not beat
        self.over: asyncio.Future[Misbehaved] = asyncio.get_running_loop().create_future()
        self.logs: Sink | None = []
        self._waiting = waiting

    def joined(self, bot: Bot) -> None:
        """Do nothing: the examiner reads what the bot says."""

    def hear(self, bot: Bot, news: Heard) -> None:
        """Do nothing: the examiner reads the bot's frames."""

    def ended(self, bot: Bot, fault: Fault) -> None:  # noqa: ARG002 - there is one bot
        """Keep the fault of a process that is at its end by its own doing."""
        if not self.over.done():
            self.over.set_result(Misbehaved(fault.detail, fault.reason))

    def excused(self, bot: Bot, why: Void) -> None:  # noqa: ARG002 - every host hears which bot
        """Report that the bot could not be judged, by no doing of its own."""
        self.bug(Unjudged(f"the bot could not be judged ({why}); try again"))

    def not_started(self, bot: Bot, why: Void) -> None:  # noqa: ARG002 - every host hears which bot
        """Report that the bot could not be started, by no doing of its own."""
        self.bug(NoSandbox(str(why)))

    def bug(self, error: Exception) -> None:
        """Raise an exception of the arena's own from `hear`."""
        if not self.over.done():
            self.over.set_exception(error)

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """Announce an external bot, which somebody else has to start."""
        if self._waiting is not None:
            self._waiting(bot.entrant.label, address, token)


@asynccontextmanager
async def examined(
    entrant: Entrant, start_limit: float, sandbox: Sandbox, waiting: Waiting | None = None
) -> AsyncIterator[Examined]:
    """Keep a process of a bot, which has joined and was sent its Welcome, for as long as the block lasts.

    Raises Misbehaved if it does not join within `start_limit` seconds, or Unjudged if no bot could here.
    """
    adopt_orphans()
    with run_folder() as scratch:
        bot = Examined(entrant, scratch / "b", desk := _Desk(sandbox, scratch, waiting))
        try:
            await _start(bot, start_limit, desk)
            bot.say(frames.welcome())
            yield bot
        except Misbehaved as fault:
            fault.output = bot.evidence().get("output", [])
            fault.transcript = bot.transcript
            raise
        finally:
            await bot.close()


async def _start(bot: Examined, limit: float, desk: _Desk) -> None:
    """Wait until a bot has joined. Raises Misbehaved if it does not, or Unjudged if the arena's own does not either."""
    try:
        await bot.start(limit)
        await bot.started.wait()
    except OSError as error:
        raise nothing_starts(str(error)) from error
    if not desk.over.done():
        return
    fault = desk.over.result()
    if not bot.entrant.is_external:
        await bot.end()  # or what it holds would keep the control from starting
        if (why := await control.why_none_starts(desk.scratch, desk)) is not None:
            raise nothing_starts(why)
    raise fault


def nothing_starts(why: str) -> Unjudged:
    """Return the error for a machine that can start no bot now, whoever made it."""
    return Unjudged(f"{VoidReason.NO_STARTS}: {' '.join(why.split())}; that is no fault of the bot: try again later")


def _plain(who: str, frame: bytes) -> dict[str, Any]:
    message = pb.PlayRequest if who == "bot" else pb.PlayResponse
    return MessageToDict(message.FromString(frame), preserving_proto_field_name=True)
