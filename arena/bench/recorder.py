"""A random bot that records every frame it is sent: `python -m arena.bench.recorder FOLDER`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

import grpc.aio

from arena.bench import tape
from arena.v1.referee_pb2 import PlayResponse
from arena_bot import Bot, Turn
from arena_bot.stream import METHOD, OPTIONS, Call
from arena_bot.table import Table


class Uniform(Bot):
    """Bot that chooses like the built-in random bot."""

    def choose(self, turn: Turn) -> int:
        return self.random.choice(turn.legal)


async def _record(address: str, token: str, file: BinaryIO) -> None:
    """Play until Goodbye, and write every frame that comes to the file."""
    table = Table(Uniform)
    async with grpc.aio.insecure_channel(address, OPTIONS) as channel:
        call: Call = channel.stream_stream(METHOD)()
        await call.write(table.hello(token))
        while isinstance(data := await call.read(), bytes):
            tape.add_frame(file, time.monotonic(), data)
            frame = PlayResponse.FromString(data)
            for reply in table.answer(frame):
                await call.write(reply)
            if frame.HasField("goodbye"):
                return


def main(folder: Path) -> None:
    """Record into a file in `folder` that is named after the ids of the worker's process and this one."""
    with (folder / f"{os.getppid()}-{os.getpid()}").open("wb") as file:
        asyncio.run(_record(os.environ["ARENA_ADDR"], os.environ["ARENA_TOKEN"], file))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
