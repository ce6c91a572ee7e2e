"""The bot processes of one worker: spawned when a match needs them, ended when others need their room."""

from __future__ import annotations

import asyncio
import errno
import secrets
import shutil
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.referee.match import Void, VoidReason
from arena.sandbox.process import end_orphans
from arena.worker.bot_process import Bot, BotHost
from arena.worker.capacity import Share, most_bots
from arena.worker.jobs import Entrant, Key

LEAST_FREE = 2**20
"""Bytes of the disk that a start needs at most for its folders and sockets. With more left the disk is not full.

Any number would do between a few blocks, which a start takes, and what people leave free.
"""
STARTING = 4
"""Processes that start at the same time. Any few would do: many would wait for processors while their limits run."""


class BotPool:
    """Bot processes by key. Each tells `host` what becomes of it."""

    def __init__(self, root: Path, host: BotHost, loop: asyncio.AbstractEventLoop, share: Share) -> None:
        """Keep as many processes as fit into a share of the machine."""
        self._root = root
        self._share = share
        self._sizes: dict[Bot, int] = {}
        """Bytes that each process used when it was looked at last; who was looked at longest ago is first."""
        self._host = host
        self._loop = loop
        self._bots: dict[Key, Bot] = {}
        self._starts = asyncio.Semaphore(STARTING)
        self._started = 0
        self._starting = 0
        self._background: set[asyncio.Task[None]] = set()
        self._leaving: list[asyncio.Task[None]] = []
        """The ends of processes that make room for others."""

    def __contains__(self, key: Key) -> bool:
        return key in self._bots

    def __getitem__(self, key: Key) -> Bot:
        return self._bots[key]

    def __iter__(self) -> Iterator[Bot]:
        return iter(self._bots.values())

    def __len__(self) -> int:
        return len(self._bots)

    def take_starts(self) -> int:
        """Return how many processes were started since the last call."""
        starts, self._started = self._started, 0
        return starts

    def spawn(self, missing: Mapping[Key, Entrant], start_limit: float) -> None:
        """Start a process for each key; each has so many seconds to join."""
        for key, entrant in missing.items():
            # a random name: at grade C bots must not be able to guess where another has its socket
            bot = Bot(key, entrant, self._root / secrets.token_urlsafe(8), self._host)
            self._bots[key] = bot
            self._sizes[bot] = 0
            self._started += 1
            self.run_in_background(self._start(bot, start_limit))

    async def _start(self, bot: Bot, limit: float) -> None:
        if self._leaving:  # they still use the memory
            await asyncio.wait(self._leaving)
        async with self._starts:
            if bot.over:
                return
            self._starting += 1
            try:
                await bot.start(limit)
            except OSError as error:
                self._host.not_started(bot, Void(self._lack(error), str(error)))
            except Exception:
                if not bot.over:
                    self.let_go(bot)
                raise
            else:
                await bot.started.wait()
            finally:
                self._starting -= 1

    def _lack(self, error: OSError) -> VoidReason:
        """Say what a start failed for want of: "no space" may also mean that no more files can be watched."""
        is_full = error.errno == errno.ENOSPC and shutil.disk_usage(self._root).free < LEAST_FREE
        return VoidReason.DISK if is_full or error.errno == errno.EDQUOT else VoidReason.NO_STARTS

    def make_room(self, count: int, keep: Callable[[Key], bool], *, or_none: bool) -> bool:
        """End idle processes to make room for `count` new ones, longest unused first and none that is to be kept.

        If too few of them are idle: with `or_none` end none and return False, so that the match waits; else end those
        that are idle and return True, so that the match is played with more processes than are kept otherwise.
        """
        surplus = len(self._bots) + count - self.room()
        if surplus <= 0:
            return True
        idle = [bot for key, bot in self._bots.items() if bot.idle and not keep(key)]
        if or_none and len(idle) < surplus:
            return False
        self._leaving = [end for end in self._leaving if not end.done()]
        self._leaving += [self.let_go(bot) for bot in sorted(idle, key=lambda bot: bot.used)[:surplus]]
        return True

    def room(self) -> int:
        """Return how many processes it keeps at most, after a look at what one of them uses, each in turn."""
        if (bot := next(iter(self._sizes), None)) is not None:
            del self._sizes[bot]
            self._sizes[bot] = bot.memory()  # behind all others
        return most_bots(self._share, list(filter(None, self._sizes.values())))

    def are_starting(self) -> bool:
        """Whether any process is being started just now."""
        return self._starting > 0

    def are_all_started(self) -> bool:
        """Whether every process has joined or failed to; external bots are not waited for."""
        return all(bot.started.is_set() for bot in self._bots.values())

    def let_go(self, bot: Bot) -> asyncio.Task[None]:
        """End a bot that is not needed: say Goodbye, then end its process. Returns the task that does it."""
        del self._bots[bot.key]
        self._sizes.pop(bot, None)
        bot.over = True
        return self.run_in_background(bot.leave())

    def remove(self, bot: Bot) -> None:
        """Remove a bot that is at its end, without a Goodbye, and clear up after it."""
        del self._bots[bot.key]
        self._sizes.pop(bot, None)
        self.run_in_background(bot.close())

    def has(self, bot: Bot) -> bool:
        """Whether it is this process that the pool keeps under its key."""
        return self._bots.get(bot.key) is bot

    async def empty(self) -> None:
        """End every bot, with all that it started."""
        for bot in list(self._bots.values()):
            self.let_go(bot)
        while self._background:
            await asyncio.wait(self._background)
        end_orphans()

    def run_in_background(self, job: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine in the background; what it raises is a bug of the arena's."""
        running = self._loop.create_task(job)
        self._background.add(running)
        running.add_done_callback(self._job_ended)
        return running

    def _job_ended(self, job: asyncio.Task[None]) -> None:
        self._background.discard(job)
        if not job.cancelled() and isinstance(error := job.exception(), Exception):
            self._host.bug(error)
