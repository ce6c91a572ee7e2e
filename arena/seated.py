"""A bot that sits in a worker: its process, its socket and its stream as one thing with one end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from arena.launch import BotProcess
from arena.match import Forfeit
from arena.service import RefereeService
from arena.stream import BotStream
from arena.v1 import referee_pb2 as pb

Key: TypeAlias = tuple[str, int, int]
"""(digest of the version, slot, generation): what one process is kept for."""

GRACE = 1.0
"""Seconds between a closed stream and the verdict, and between Goodbye and the end of a process."""


class Entrant(NamedTuple):
    """A version as a worker starts it. Without a command somebody starts it by hand and it has no limits."""

    label: str
    digest: str
    command: tuple[str, ...]
    cwd: str = "."
    env: Mapping[str, str] = {}

    @property
    def by_hand(self) -> bool:
        """Whether the arena waits for a process that it did not start."""
        return not self.command


class BotHost(Protocol):
    """Who starts bots and hears of them."""

    gathered: set[BotStream]
    """The streams that have something to send."""

    def settle(self) -> None:
        """Send what has gathered."""

    def joined(self, bot: Bot) -> None:
        """The bot said Hello; its stream is there."""

    def ended(self, bot: Bot, reason: Forfeit, detail: str) -> None:
        """The bot can play no more, by its own doing; called once."""

    def over_limit(self, bot: Bot) -> None:
        """A decision took longer than its limit while several matches were waiting."""

    def bug(self, error: Exception) -> None:
        """The arena itself raised."""

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """The arena waits for somebody to start the bot by hand."""


class Bot:
    """One process of one version. `stream` is there from Hello on, `over` from its end on."""

    def __init__(self, key: Key, entrant: Entrant, directory: Path, host: BotHost) -> None:
        self.key = key
        self.entrant = entrant
        self.stream: BotStream | None = None
        self.over = False
        self.dealt = 0
        """Matches it was given."""
        self.used = 0.0
        """When it was last given one, by the loop's clock."""
        self._directory = directory
        self._host = host
        self._process: BotProcess | None = None
        self._service: RefereeService | None = None
        self._verdict: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self.started = asyncio.Event()
        """Set when the start has succeeded or failed."""

    async def start(self, limit: float) -> None:
        """Open the door and start the process; it has `limit` seconds to say Hello."""
        self._directory.mkdir(mode=0o700)
        self._service = RefereeService(self._directory, self._joined, self._stream_gone)
        await self._service.open()
        if self.over:
            return
        if self.entrant.by_hand:
            self.started.set()
            self._host.waiting(self, self._service.address, self._service.token)
            return
        try:
            self._process = BotProcess(
                self.entrant.command,
                cwd=Path(self.entrant.cwd),
                env=bot_environment(self.entrant.env, self._service),
                on_exit=self._process_gone,
                on_flood=self._flooded,
            )
        except OSError as error:
            self._end(Forfeit.START, f"cannot be run: {error}")
            return
        self._verdict = self._loop.call_later(limit, self._never_joined, limit)

    @property
    def has_room(self) -> bool:
        """Whether it can be given one more match now."""
        stream = self.stream
        return stream is not None and not self.over and len(stream.held) < stream.capacity

    def evidence(self) -> dict[str, Any]:
        """What the author will want to see: how the process ended and what it printed last."""
        if self._process is None:
            return {}
        return {
            "exit": self._process.exit_in_words(),
            "output": self._process.output.last_lines(),
            "command": list(self.entrant.command),
        }

    async def leave(self) -> None:
        """Say Goodbye, wait a moment, end what is left. A bot that hangs here is not blamed."""
        self.over = True
        if self.stream is not None:
            self.stream.goodbye("the arena is done with this bot")
            if self._process is not None and self._process.running:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._exited.wait(), GRACE)
        await self.close()

    async def close(self) -> None:
        """End the process and all it started, close its socket, remove its directory."""
        self.over = True
        if self._verdict is not None:
            self._verdict.cancel()
        if self.stream is not None:
            self.stream.close()
        if self._process is not None and self._process.running:
            self._process.kill()
        if self._service is not None:
            await self._service.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _joined(self, hello: pb.Hello, write: Callable[[bytes], None]) -> Callable[[bytes], None]:
        if self._verdict is not None:
            self._verdict.cancel()
            self._verdict = None
        self.stream = BotStream(hello, write, self, self._host.gathered)
        self.started.set()
        if not self.over:
            self._host.joined(self)
        return self._receive

    def _receive(self, raw: bytes) -> None:
        assert self.stream is not None
        try:
            self.stream.receive(raw)
        except Exception as error:
            self._host.bug(error)

    def _stream_gone(self) -> None:
        # The exit of the process, which tells more, mostly follows at once.
        if not self.over and self._verdict is None:
            self._verdict = self._loop.call_later(GRACE, self._end, Forfeit.CRASH, "closed its stream")

    def _process_gone(self) -> None:
        self._exited.set()
        assert self._process is not None
        how = f"the process {self._process.exit_in_words()}"
        if self.stream is None:
            self._end(Forfeit.START, f"{how} before it joined")
        else:
            self._end(Forfeit.CRASH, how)

    def _never_joined(self, limit: float) -> None:
        self._end(Forfeit.START, f"did not join within {limit:g} s")

    def fault(self, reason: Forfeit, detail: str) -> None:
        """The process misbehaved on its stream."""
        self._end(reason, detail)

    def over_limit(self) -> None:
        """One of several matches waited too long."""
        self._host.over_limit(self)

    def settle(self) -> None:
        """Send what has gathered."""
        self._host.settle()

    def _flooded(self) -> None:
        self._end(Forfeit.OUTPUT, "printed more than 10 MiB in a second")

    def _end(self, reason: Forfeit, detail: str) -> None:
        if not self.over:
            self.over = True
            self.started.set()
            self._host.ended(self, reason, detail)


def bot_environment(extra: Mapping[str, str], service: RefereeService) -> dict[str, str]:
    """What a bot finds in its environment: nothing of the arena's own but where to dial."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": os.environ.get("HOME", "/tmp"),
        "LANG": "C.UTF-8",
        **extra,
        "ARENA_ADDR": service.address,
        "ARENA_TOKEN": service.token,
    }
