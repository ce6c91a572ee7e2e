"""The connection to the arena: one gRPC stream, from the first frame to the last.

It uses grpc.aio, not the blocking client: on an idle machine both are equally fast, but the blocking client passes
every frame through three threads and takes a sixth longer when all cores are busy, as they are in a ladder.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TypeAlias

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # before the import, or gRPC logs that the arena closes
# Before the import, too: what gRPC does in a forked child kills a quarter of them by SIGSEGV.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import grpc
import grpc.aio

from arena.v1.referee_pb2 import PlayResponse
from arena_bot.processes import without_children
from arena_bot.table import Table

METHOD = "/arena.v1.RefereeService/Play"
OPTIONS = (("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", -1))

Call: TypeAlias = "grpc.aio.StreamStreamCall[bytes, bytes]"

_WORDS = {
    grpc.StatusCode.UNAVAILABLE: "cannot be reached",
    grpc.StatusCode.PERMISSION_DENIED: "does not admit this bot",
}


class StreamBroken(Exception):
    """The arena cannot be reached, refused the bot or broke off; the message says which, for people."""


async def play(address: str, token: str, table: Table) -> None:
    """Answer the referee's frames until it says Goodbye or ends the stream. Raises StreamBroken.

    The channel is closed however this ends: a process that leaves a channel open may hang at exit.
    """
    async with grpc.aio.insecure_channel(address, OPTIONS) as channel:
        call: Call = channel.stream_stream(METHOD)()
        await _write(call, table.hello(token))
        while (received := await _read(call)) is not None:
            frame = PlayResponse.FromString(received)
            for reply in without_children(table.answer(frame)):
                await _write(call, reply)
            if frame.HasField("goodbye"):
                return


async def _write(call: Call, frame: bytes) -> None:
    with suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):  # the stream is over: `_read` will say why
        await call.write(frame)


async def _read(call: Call) -> bytes | None:
    try:
        frame = await call.read()
    except grpc.aio.AioRpcError as error:
        what = _WORDS.get(error.code(), "broke the stream off")
        raise StreamBroken(f"{what}: {error.details()}") from None
    return frame if isinstance(frame, bytes) else None  # else it is grpc.aio.EOF
