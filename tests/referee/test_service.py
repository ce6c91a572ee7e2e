"""The gRPC service for one bot: which streams are accepted, and that nothing piles up without limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from arena.referee.service import CONNECTIONS, UNREAD, Receive, RefereeService, Write, _write_all
from arena.v1 import referee_pb2 as pb

METHOD = "/arena.v1.RefereeService/Play"


class Caller:
    """Callbacks that record the connection events."""

    def __init__(self) -> None:
        self.inside = asyncio.Event()
        self.write: Write
        self.received: list[bytes] = []
        self.refusals: list[tuple[int, str]] = []
        self.unread_told = 0
        self.gone = asyncio.Event()

    def joined(self, hello: pb.Hello, write: Write) -> Receive:
        assert hello.protocol == 1
        self.write = write
        self.inside.set()
        return self.received.append

    def refused(self, count: int, why: str) -> None:
        self.refusals.append((count, why))

    def unread(self) -> None:
        self.unread_told += 1

    def stream_gone(self) -> None:
        self.gone.set()


@pytest.fixture
def caller() -> Caller:
    """The callbacks of the service."""
    return Caller()


@pytest.fixture
async def service(scratch: Path, caller: Caller) -> AsyncIterator[RefereeService]:
    """A service that listens on its socket."""
    directory = scratch / "door"
    directory.mkdir()
    made = RefereeService(directory, caller)
    await made.open()
    yield made
    await made.close()
    directory.rmdir()


@pytest.fixture
async def channel(service: RefereeService) -> AsyncIterator[grpc.aio.Channel]:
    """A bot's channel to the service."""
    async with grpc.aio.insecure_channel(service.address) as made:
        yield made


def hello(token: str, protocol: int = 1) -> bytes:
    """The first frame of a stream, with this token."""
    return pb.PlayRequest(hello=pb.Hello(protocol=protocol, token=token)).SerializeToString()


async def enter(channel: grpc.aio.Channel, service: RefereeService, caller: Caller) -> Any:
    """Open a stream with the right token and wait until it is accepted."""
    dial: Any = channel.stream_stream(METHOD)
    call = dial()
    await call.write(hello(service.token))
    await caller.inside.wait()
    return call


async def knock(channel: grpc.aio.Channel, *frames: bytes) -> grpc.StatusCode:
    """Open a stream, send frames and close it; return the status with which it ended."""
    dial: Any = channel.stream_stream(METHOD)
    code: grpc.StatusCode = await dial(iter(frames)).code()
    return code


async def test_frames_travel_both_ways_as_they_are(
    service: RefereeService, channel: grpc.aio.Channel, caller: Caller
) -> None:
    """Bytes that are no message are passed on, too: `BotStream` decides what they cost."""
    call = await enter(channel, service, caller)
    await call.write(b"\xff\xff")
    await call.write(b"last")
    await call.done_writing()
    await caller.gone.wait()
    assert caller.received == [b"\xff\xff", b"last"]


async def test_what_is_written_arrives_in_order(
    service: RefereeService, channel: grpc.aio.Channel, caller: Caller
) -> None:
    """Frames arrive in the order in which they were written, although `write` is no coroutine."""
    call = await enter(channel, service, caller)
    for number in range(100):
        caller.write(b"%d" % number)
    assert [int(await call.read()) for _ in range(100)] == list(range(100))
    call.cancel()


@pytest.mark.parametrize("frames", [[hello("")], [hello("f" * 64)], [hello("é")], [b"\xff\xff\xff"], []])
async def test_without_the_token_nobody_comes_in(
    channel: grpc.aio.Channel, caller: Caller, frames: list[bytes]
) -> None:
    """A stream whose first frame is no Hello with the right token is refused, whatever it is instead."""
    assert await knock(channel, *frames) is grpc.StatusCode.PERMISSION_DENIED
    assert caller.refusals == [(1, "the first frame has no Hello with ARENA_TOKEN")]
    assert not caller.inside.is_set()


async def test_another_protocol_is_refused_in_words(
    service: RefereeService, channel: grpc.aio.Channel, caller: Caller
) -> None:
    """The refusal names both versions of the protocol, for the author of the bot."""
    assert await knock(channel, hello(service.token, protocol=2)) is grpc.StatusCode.FAILED_PRECONDITION
    assert caller.refusals == [(1, "protocol 2 is not spoken here: 1 is")]


async def test_a_token_is_good_for_one_stream(
    service: RefereeService, channel: grpc.aio.Channel, caller: Caller
) -> None:
    """A second stream with the same token is refused, whether the first is still open or not."""
    call = await enter(channel, service, caller)
    assert await knock(channel, hello(service.token)) is grpc.StatusCode.ALREADY_EXISTS
    call.cancel()
    await caller.gone.wait()
    assert await knock(channel, hello(service.token)) is grpc.StatusCode.ALREADY_EXISTS
    assert [count for count, _ in caller.refusals] == [1, 2]


async def test_frames_do_not_pile_up_for_a_bot_that_does_not_read(
    service: RefereeService, channel: grpc.aio.Channel, caller: Caller
) -> None:
    """When `UNREAD` frames wait, the callback is called, only once. Writing never blocks the referee."""
    call = await enter(channel, service, caller)
    for _ in range(2 * UNREAD):
        caller.write(b"x")
    assert caller.unread_told == 1
    call.cancel()


@pytest.mark.parametrize("error", [grpc.aio.UsageError, grpc.aio.InternalError, asyncio.InvalidStateError])
async def test_the_writer_ends_quietly_when_the_bot_has_gone(error: type[Exception]) -> None:
    """Errors that gRPC raises then are ignored, since nothing waits for the writer's result."""

    class Gone:
        async def write(self, frame: bytes) -> None:
            raise error(frame)

    frames: asyncio.Queue[bytes] = asyncio.Queue()
    frames.put_nowait(b"x")
    await _write_all(frames, Gone())
    assert frames.empty()


def test_the_path_of_a_socket_must_fit(caller: Caller) -> None:
    """A path of a socket may have about a hundred bytes; for a longer one the error names the path."""
    long = Path("/tmp") / ("d" * 100)
    with pytest.raises(ValueError, match="too long: /tmp/ddd"):
        RefereeService(long, caller)


async def test_a_path_of_a_hundred_bytes_fits(scratch: Path, caller: Caller) -> None:
    """Folders of runs have names that nobody can guess, so paths of sockets are long."""
    directory = scratch / ("d" * (97 - len(str(scratch))))
    directory.mkdir()
    service = RefereeService(directory, caller)
    assert len(str(service.path)) == 100
    await service.open()
    await service.close()
    directory.rmdir()


async def test_huge_headers_are_refused(channel: grpc.aio.Channel, caller: Caller) -> None:
    """Such headers would fill the memory before the token is checked."""
    play: Any = channel.stream_stream(METHOD)
    call = play(metadata=[("x", "y" * 100_000)])
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call.read()
    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not caller.inside.is_set()


async def test_connections_do_not_pile_up(service: RefereeService, channel: grpc.aio.Channel, caller: Caller) -> None:
    """A bot must not use up the referee's open files. Once its connections are closed it can join as usual."""
    dialled = [await asyncio.open_unix_connection(service.address.removeprefix("unix:")) for _ in range(40)]
    async with asyncio.timeout(40):
        greeted = await asyncio.gather(*(reader.read(1) for reader, _ in dialled))
    assert 0 < sum(map(bool, greeted)) <= CONNECTIONS
    for _, writer in dialled:
        writer.close()
    dial: Any = channel.stream_stream(METHOD)
    call = dial(wait_for_ready=True)
    async with asyncio.timeout(40):
        await call.write(hello(service.token))
        await caller.inside.wait()
    call.cancel()


@pytest.mark.long
async def test_a_connection_on_which_nothing_is_asked_is_closed(service: RefereeService) -> None:
    """Each idle connection takes one of the files that the referee may open."""
    reader, writer = await asyncio.open_unix_connection(service.address.removeprefix("unix:"))
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
    async with asyncio.timeout(40):
        while await reader.read(1000):
            pass
    writer.close()
