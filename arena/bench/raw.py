"""Measure the least that a ladder could cost: recorded frames played back between the same kinds of processes.

A sender stands in for a worker: it has the same sockets, starts the same bots, and writes the next frame when the
answer to the one before has come. It does not look at answers, and has no rules, clocks or store.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from arena import submission
from arena.bench import processes, real_ladders, tape
from arena.bench.cases import BenchSetting, Case
from arena.bench.figures import Sample, Sampler
from arena.bench.tape import Frame, Tape
from arena.referee.service import Receive, RefereeService, Write
from arena.sandbox import Confined
from arena.sandbox.process import BotProcess
from arena.sandbox.run_folder import run_folder
from arena.v1 import referee_pb2 as pb
from arena.worker.bot_process import bot_environment
from arena.worker.worker_process import FOR_THE_ARENA, start_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from multiprocessing.connection import Connection

RawLink: TypeAlias = "Connection[Any, Any]"
"""Link to a sender: it gets its tapes, then anything to play them once, and sends None when ready or done.

After a bug, it sends a traceback.
"""


class Playback:
    """A bot at the other end of a socket, and the frames it is sent."""

    def __init__(self) -> None:
        self._joined: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._completion: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frames: Iterator[Frame] = iter(())
        self._write: Write

    async def join(self) -> None:
        """Wait until the bot has said Hello."""
        await self._joined

    async def play(self, frames: Sequence[Frame]) -> None:
        """Send all frames, and after each that asks for decisions wait for the answer; return after the last answer."""
        self._completion = asyncio.get_running_loop().create_future()
        self._frames = iter(frames)
        self._go_on()
        await self._completion

    def _go_on(self) -> None:
        for frame in self._frames:
            self._write(frame.data)
            if frame.decisions:
                return
        if not self._completion.done():
            self._completion.set_result(None)

    # Callbacks of the service

    def joined(self, hello: pb.Hello, write: Write) -> Receive:  # noqa: ARG002 - everybody is welcome
        """Accept the bot, which said Hello."""
        self._write = write
        self._joined.set_result(None)
        return self._answered

    def _answered(self, _raw: bytes) -> None:
        self._go_on()

    def refused(self, count: int, why: str) -> None:  # noqa: ARG002 - one is too many
        """Fail, since a stream on the bot's socket was refused."""
        self._fail(why)

    def unread(self) -> None:
        """Fail, since the bot does not read what it is sent."""
        self._fail("it does not read what it is sent")

    def stream_gone(self) -> None:
        """Fail, since the bot's stream has ended."""
        self._fail("its stream ended")

    def _fail(self, why: str) -> None:
        for waiting in (self._joined, self._completion):
            if not waiting.done():
                waiting.set_exception(RuntimeError(f"a bot of the benchmark failed: {why}"))
                waiting.exception()  # marks it as seen, in case nobody waits for it


@asynccontextmanager
async def started(directory: Path) -> AsyncIterator[Playback]:
    """Start the built-in random bot, which may not have joined yet, and end it after the block."""
    entrant = submission.built_ins()["random"].entrant()
    playback, exited = Playback(), asyncio.Event()
    service = RefereeService(directory, playback)
    await service.open()
    confined = Confined(entrant.command, bot_environment(entrant.env, service), entrant.cwd)
    process = BotProcess(confined, on_exit=exited.set, on_too_much_output=lambda: None)
    try:
        yield playback
    finally:
        process.kill()
        await exited.wait()
        await service.close()


@contextmanager
def playback(setting: BenchSetting, case: Case, in_flight: int | None) -> Iterator[Sampler]:
    """Record a ladder, then measure playing its frames back."""
    folder = Path(tempfile.mkdtemp(prefix="tapes-", dir=setting.scratch))
    since = real_ladders.record_ladder(setting, case, in_flight, folder)
    by_worker = [[tape.read_tape(path, since) for path in paths] for paths in tape.tapes(folder).values()]
    tapes = [recording for of_worker in by_worker for recording in of_worker]
    decisions, full = sum(recording.decisions for recording in tapes), sum(recording.full_frames for recording in tapes)
    sizes = {"decisions_per_frame": decisions / full, "decisions": decisions}
    earlier = processes.child_processes()
    with ExitStack() as stack:
        links = [stack.enter_context(_sender(of_worker)) for of_worker in by_worker]
        del by_worker, tapes
        _wait(links)
        _play(links)
        crew = processes.crew(earlier)

        def sample() -> Sample:
            before = crew.cpu()
            seconds = _play(links)
            rates = {"decisions_per_s": decisions / seconds} | sizes
            return rates | crew.cpu().per_decision(before, decisions) | crew.memory()

        yield sample


def _play(links: Sequence[RawLink]) -> float:
    """Play all tapes once; return the seconds until the last answer."""
    begun = time.perf_counter()
    for link in links:
        link.send("play")
    _wait(links)
    return time.perf_counter() - begun


def _wait(links: Sequence[RawLink]) -> None:
    for link in links:
        if (bug := link.recv()) is not None:
            raise RuntimeError(f"a sender failed:\n{bug}")


@contextmanager
def _sender(tapes: Sequence[Tape]) -> Iterator[RawLink]:
    # deaf to SIGTERM, too: it has a folder to remove
    process, link = start_process(_send, deaf_to=(*FOR_THE_ARENA, signal.SIGTERM))
    try:
        link.send(tapes)
        yield link
    finally:
        link.close()  # this ends the sender
        process.join()


def _send(link: RawLink) -> None:
    """Run a sender in its own process until the link is closed."""
    try:
        asyncio.run(_serve(link, link.recv()))
    except (EOFError, ConnectionError):
        return  # nobody is at the other end
    except Exception:
        link.send(traceback.format_exc())


async def _serve(link: RawLink, tapes: Sequence[Tape]) -> None:
    """Start the bots, then play the tapes as often as asked. Raises EOFError when the link is closed."""
    async with AsyncExitStack() as stack:
        scratch = stack.enter_context(run_folder())
        bots = []
        for number in range(len(tapes)):
            directory = scratch / str(number)
            directory.mkdir()
            bots.append(await stack.enter_async_context(started(directory)))
        for bot in bots:
            await bot.join()
        while True:
            link.send(None)
            await asyncio.get_running_loop().run_in_executor(None, link.recv)
            await asyncio.gather(*(bot.play(recording.frames) for bot, recording in zip(bots, tapes, strict=True)))
