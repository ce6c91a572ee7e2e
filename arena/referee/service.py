"""The gRPC service for one bot process: a unix socket of its own, a token, one Play stream.

The socket is the identity (every peer of a unix socket looks alike to gRPC), the token the second factor. One
server a process also keeps a bot that floods its connection from slowing the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # 1.85 logs every GOAWAY; must be set before the import

import grpc
from google.protobuf.message import DecodeError

from arena.referee.frames import PROTOCOL
from arena.v1 import referee_pb2 as pb

_MAX_PATH = 100
"""Bytes of a unix socket's path that every platform takes."""

GRPC_FRAME_BYTES = 1024 * 1024
"""Largest frame in bytes that gRPC reads. It ends the stream of a bot that sends more, as if the bot had closed it.
What a bot may send is less: `choices.FRAME_BYTES`."""

CONNECTIONS = 8
"""Connections that a socket holds at a time; further ones are closed at once. A bot needs one."""

_OPTIONS = [
    ("grpc.so_reuseport", 0),
    ("grpc.max_allowed_incoming_connections", CONNECTIONS),
    ("grpc.max_concurrent_streams", 8),
    ("grpc.max_receive_message_length", GRPC_FRAME_BYTES),
    ("grpc.max_metadata_size", 4 * 1024),
    ("grpc.server_handshake_timeout_ms", 3000),
    ("grpc.max_connection_idle_ms", 2000),  # connections on which nothing is asked; a client dials again by itself
    ("grpc.http2.max_ping_strikes", 2),
]
"""What a bot can make gRPC hold or wait for at most; times in milliseconds. An honest one needs a small part of it."""

REFUSALS = 3
"""Streams that may be refused on one socket before it is a fault: a token is not to be guessed."""
UNREAD = 1000
"""Frames that may wait for a bot that does not read, over and above what gRPC holds for it.

It bounds memory; any number that a bot which reads never reaches would do.
"""

Write = Callable[[bytes], None]
Receive = Callable[[bytes], None]


class Caller(Protocol):
    """Callbacks for connection events."""

    def joined(self, hello: pb.Hello, write: Write) -> Receive:
        """Handle the bot's Hello: `write` sends it a frame. Return the function that is given every frame it sends."""

    def refused(self, count: int, why: str) -> None:
        """Handle a stream that was refused, the `count`-th on this socket."""

    def unread(self) -> None:
        """Handle a bot that does not read what it is sent."""

    def stream_gone(self) -> None:
        """Handle the end of the stream of a bot that had joined, whatever ended it."""


class RefereeService:
    """Waits on one socket for one bot."""

    def __init__(self, directory: Path, caller: Caller) -> None:
        self.path = directory / "s"
        if len(os.fsencode(self.path)) > _MAX_PATH:
            raise ValueError(f"the path of a socket is too long: {self.path}")
        self.address = f"unix:{self.path}"
        self.token = secrets.token_hex(32)
        self._caller = caller
        self._is_used = False
        self._refused = 0
        self._server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=16)
        # Frames stay bytes here: what is no message must be the bot's fault, not an exception inside gRPC.
        handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(self._play)
        handlers = grpc.method_handlers_generic_handler("arena.v1.RefereeService", {"Play": handler})
        self._server.add_generic_rpc_handlers((handlers,))
        try:
            self._server.add_insecure_port(self.address)
        except RuntimeError as error:  # what gRPC makes of an OSError
            raise OSError(str(error)) from error

    async def open(self) -> None:
        """Begin to listen."""
        await self._server.start()

    async def close(self) -> None:
        """Stop listening and cut the stream."""
        await self._server.stop(grace=None)

    async def _play(self, _requests: object, context: Any) -> None:
        hello = await self._hello(context)
        # A write of gRPC's is a coroutine and a frame is made outside of any: the queue stands between.
        frames: asyncio.Queue[bytes] = asyncio.Queue()

        def write(frame: bytes) -> None:
            frames.put_nowait(frame)
            if frames.qsize() == UNREAD:
                self._caller.unread()

        receive = self._caller.joined(hello, write)
        writer = asyncio.create_task(_write_all(frames, context))
        try:
            # coroutine style: a client that cancels cannot close a generator under our hands
            while (raw := await context.read()) is not grpc.aio.EOF:
                receive(raw)
        except asyncio.CancelledError:
            pass  # the stream was cut, at either end: gRPC prints what is raised here
        finally:
            writer.cancel()
            self._caller.stream_gone()

    async def _hello(self, context: Any) -> pb.Hello:
        """Read the Hello of the first frame; if the bot may not join, abort the stream with the reason."""
        raw = await context.read()
        hello = pb.Hello()
        if raw is not grpc.aio.EOF:
            with contextlib.suppress(DecodeError):
                hello = pb.PlayRequest.FromString(raw).hello
        if not hmac.compare_digest(hello.token.encode(), self.token.encode()):
            problem = "the first frame has no Hello with ARENA_TOKEN"
            await self._refuse(context, grpc.StatusCode.PERMISSION_DENIED, problem)
        if hello.protocol != PROTOCOL:
            problem = f"protocol {hello.protocol} is not spoken here: {PROTOCOL} is"
            await self._refuse(context, grpc.StatusCode.FAILED_PRECONDITION, problem)
        if self._is_used:
            problem = "this token has been used: one stream a process"
            await self._refuse(context, grpc.StatusCode.ALREADY_EXISTS, problem)
        self._is_used = True
        return hello

    async def _refuse(self, context: Any, code: grpc.StatusCode, why: str) -> None:
        self._refused += 1
        self._caller.refused(self._refused, why)
        await context.abort(code, why)


async def _write_all(frames: asyncio.Queue[bytes], context: Any) -> None:
    with contextlib.suppress(grpc.aio.BaseError, grpc.RpcError, asyncio.InvalidStateError):
        while True:
            await context.write(await frames.get())
