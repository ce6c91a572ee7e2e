"""A referee of a few lines for one real bot process: the test is its mind and says every frame."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import grpc
import grpc.aio
from google.protobuf.struct_pb2 import Struct

from arena import games
from arena.games import KeyedDice
from arena.v1.referee_pb2 import (
    Decision,
    Goodbye,
    Hello,
    MatchEnd,
    MatchStart,
    PlayRequest,
    PlayResponse,
    Welcome,
)

TOKEN = "open sesame"
PATIENCE = 60  # seconds; a bot that needs them has failed, slow machine or not
Legal: TypeAlias = "range | tuple[int, ...]"
Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"


class Referee:
    """What a test says to a bot process, and hears from it."""

    process: Process

    def __init__(self) -> None:
        self._joined: asyncio.Future[tuple[Hello, Context]] = asyncio.get_running_loop().create_future()
        self._over: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def serve(self, _: Any, context: Context) -> None:
        """The service's side of the stream."""
        hello = PlayRequest.FromString(await context.read()).hello
        if hello.token != TOKEN:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "the token is wrong")
        self._joined.set_result((hello, context))
        if why := await self._over:
            await context.abort(grpc.StatusCode.ABORTED, why)

    def leave(self, why: str = "") -> None:
        """End the stream without a goodbye; as a failure if there is a reason."""
        self._over.set_result(why)

    async def hello(self) -> Hello:
        """The bot's first frame, answered with a welcome."""
        hello, _ = await self._join()
        await self.say(PlayResponse(welcome=Welcome(protocol=1)))
        return hello

    async def say(self, frame: PlayResponse, more: bytes = b"") -> None:
        """Send a frame, and after it any bytes."""
        _, context = await self._join()
        await context.write(frame.SerializeToString() + more)

    async def hear(self) -> PlayRequest:
        """The bot's next frame."""
        _, context = await self._join()
        return PlayRequest.FromString(await asyncio.wait_for(context.read(), PATIENCE))

    async def _join(self) -> tuple[Hello, Context]:
        return await asyncio.wait_for(asyncio.shield(self._joined), PATIENCE)

    async def ask(self, *decisions: Decision) -> list[int]:
        """Put decisions in one frame and return the actions of the one frame that answers, in its order."""
        await self.say(PlayResponse(decisions=decisions))
        choices = (await self.hear()).choices
        assert [(c.match, c.decision) for c in choices] == [(d.match, d.decision) for d in decisions]
        return [choice.action for choice in choices]

    async def play_match(self, name: str, seats: int = 2) -> None:
        """Let the process play a whole match at every seat, each seat as a match of its own."""
        rules, dice = games.game(name), KeyedDice(bytes(32))
        options = Struct()
        options.update(rules.defaults)
        told: dict[str, Any] = {"game": name, "seats": seats, "options": options}
        await self.say(PlayResponse(starts=[start(s, bytes([s] * 32), seat=s, **told) for s in range(seats)]))
        state, number = rules.start(seats, dice, rules.defaults), 0
        while pending := rules.pending(state):
            asked = []
            for seat, legal in pending.items():
                view: dict[str, Any] = {rules.view_field: rules.view(state, seat)}
                asked.append(decision(seat, number, tuple(legal), **view))
            chosen = dict(zip(pending, await self.ask(*asked), strict=True))
            assert all(chosen[seat] in legal for seat, legal in pending.items())
            state, number = rules.apply(state, chosen, dice), number + 1
        ranks = rules.ranks(state)
        await self.say(PlayResponse(ends=[MatchEnd(match=seat, ranks=ranks) for seat in range(seats)]))

    async def goodbye(self) -> tuple[int, str]:
        """Dismiss the bot; as `ended`."""
        await self.say(PlayResponse(goodbye=Goodbye(reason="the test is over")))
        return await self.ended()

    async def ended(self) -> tuple[int, str]:
        """The process's exit code and what it wrote on stderr, once it has ended by itself."""
        _, errors = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


@asynccontextmanager
async def refereed(
    *program: str, token: str = TOKEN, by: str = sys.executable, cwd: str | None = None
) -> AsyncIterator[Referee]:
    """Run a Python program, or one `by` something else, as a bot of a referee of its own; both end with the block."""
    folder = tempfile.mkdtemp(prefix="arena-", dir="/tmp")  # pytest's folders are too long for a socket
    address, referee, server = f"unix:{folder}/s", Referee(), grpc.aio.server()
    methods: dict[str, Any] = {"Play": grpc.stream_stream_rpc_method_handler(referee.serve)}
    service = grpc.method_handlers_generic_handler("arena.v1.RefereeService", methods)
    server.add_generic_rpc_handlers((service,))
    server.add_insecure_port(address)
    await server.start()
    referee.process = await started(*program, by=by, cwd=cwd, ARENA_ADDR=address, ARENA_TOKEN=token)
    try:
        yield referee
    finally:
        await stopped(referee.process)
        await server.stop(None)
        shutil.rmtree(folder)


async def alone(
    *program: str, by: str = sys.executable, cwd: str | None = None, **variables: str
) -> tuple[int, str, str]:
    """Run a Python program, or one `by` something else, without a referee: its exit code, stdout and stderr."""
    process = await started(*program, by=by, cwd=cwd, **variables)
    try:
        out, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
    finally:
        await stopped(process)
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def started(*program: str, by: str, cwd: str | None, **variables: str) -> Process:
    """A process, with these environment variables besides the inherited ones."""
    environment = {**os.environ, **variables}
    return await asyncio.create_subprocess_exec(
        by, *program, cwd=cwd, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )


async def stopped(process: Process) -> None:
    """Kill a process that has not ended, and wait for it."""
    if process.returncode is None:
        process.kill()
    await process.communicate()


def start(match: int, seed: bytes = b"", **fields: Any) -> MatchStart:
    """A match of Buttons at seat 0 of 2, unless `fields` say otherwise."""
    return MatchStart(match=match, bot_seed=seed, **{"game": "buttons", "seats": 2, **fields})


def decision(match: int, number: int, legal: Legal = range(1000), **fields: Any) -> Decision:
    """A decision; a range of legal actions travels as one."""
    if isinstance(legal, range):
        fields |= {"legal_first": legal.start, "legal_count": len(legal)}
    else:
        fields |= {"legal": legal}
    return Decision(match=match, decision=number, **fields)
