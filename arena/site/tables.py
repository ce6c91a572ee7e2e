"""The tables at which people play in their browsers; each is a process of its own, `arena play --lines`.

What such a process prints is the state of its match, object by object, and what it reads are choices: see
docs/replays.md. So the site knows no rules, and whatever befalls a table befalls only that one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

import msgspec

from arena.site.bell import Bell

OPEN_TABLES = 8
"""Matches that are played at once, and as many that are over are still shown."""
IDLE_SECONDS = 600.0
"""Seconds without a request or a choice after which a match ends where strangers may play."""
IDLE_INTERVAL = 5.0
"""Seconds between two looks at who is idle."""
ENDING = 5.0
"""Seconds that a process has to end its bots."""
LONGEST_NAME = 1 << 26
"""Bytes of a line that a process prints, at most. It bounds memory: a match with a longer one breaks off."""
FAILED = "The match could not be played to its end; the terminal of the server says why."
"""What the players are told if their match breaks off."""
LEFT = "You left the match: it is not kept."
"""What a player is told who leaves a match."""
FORGOTTEN = f"Nobody asked or chose for {IDLE_SECONDS / 60:.0f} minutes, so the match has ended. It is not kept."
"""What is said of a match that ended since nobody was there."""
CLOSED = "The site has ended, and the match with it."
"""What the players are told if the site ends."""


WhenOver: TypeAlias = Callable[[Sequence[str]], None]
"""Function that is called with how a match ended, in words."""


class Full(Exception):
    """Error if there is no room for one more table."""


class Stale(Exception):
    """Error for a choice that answers no question that is open now."""


class Illegal(Exception):
    """Error for a choice that is none of the legal ones."""


class Seating(NamedTuple):
    """A match that somebody wants to play: its game, and the words to type after `arena play`."""

    game: str
    words: Sequence[str]
    once: Sequence[str] = ()
    """Words before those, which do not hold for the next match: a seed, since its dice are known then."""

    def anew(self) -> Seating:
        """Return the same match on other dice."""
        return self._replace(once=())


class _Choice(msgspec.Struct):
    action: int


class _Question(msgspec.Struct):
    number: int
    choices: list[_Choice]


class _End(msgspec.Struct):
    told: list[str]
    kept: str | None


class _News(msgspec.Struct):
    """What is relied on here of a line that a process prints."""

    question: _Question | None = None
    end: _End | None = None


class PlayTable:
    """A match that a person plays. Whoever knows its name, which nobody can guess, may play."""

    def __init__(self, seating: Seating, command: Sequence[str], when_over: WhenOver) -> None:
        self.name = secrets.token_urlsafe(16)
        self.seating = seating
        self.is_over = False
        """Whether its process has ended."""
        self.used = 0.0
        """When somebody last asked for it, by the clock of the tables."""
        self._when_over = when_over
        self._command = [*command, *seating.once, *seating.words]
        self._process: asyncio.subprocess.Process | None = None
        self._following: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._state: dict[str, Any] = {}
        self._version = 0
        self._news = Bell()

    async def begin(self) -> None:
        """Start the process. Raises OSError; then the table is over."""
        pipe = asyncio.subprocess.PIPE
        try:
            # a session of its own: Ctrl-C is for the site, which then ends its tables
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, start_new_session=True, limit=LONGEST_NAME
            )
        except OSError:
            self.is_over = True
            raise
        self._following = asyncio.create_task(self._follow(self._process))
        if self.ending:  # the match was ended meanwhile
            self._process.terminate()

    async def _follow(self, process: asyncio.subprocess.Process) -> None:
        """Take in what the process tells, to its end."""
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                # rules from elsewhere may print, and a process be killed in the middle of a line
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    msgspec.json.decode(line, type=_News)
                    news = msgspec.json.decode(line, type=dict[str, Any])
                    if not self.ending:
                        self._tell(**news)
        except ValueError:  # a line of more than `LONGEST` bytes
            _kill(process)
            await process.stdout.read()  # or its end would not be noticed
        await process.wait()
        self.is_over = True
        self.tell_end(FAILED)
        self._when_over(self.ending)

    def _tell(self, **news: Any) -> None:
        self._state |= news
        self._version += 1
        self._news.ring()

    @property
    def ending(self) -> Sequence[str]:
        """How the match ended, in words; empty while it lasts."""
        end = self._state.get("end")
        return end["told"] if end else ()

    async def events(self) -> AsyncIterator[str]:
        """Yield the state as JSON now and whenever it has changed; an empty text if nothing happened for long."""
        version = -1
        while not (self.ending and version == self._version):
            if version != self._version:
                version = self._version
                yield msgspec.json.encode(self._state).decode()
            elif not await self._news.wait(self._news.next_ring()):
                yield ""

    async def choose(self, question: int, action: int) -> None:
        """Answer a question. Raises Stale and Illegal."""
        open_question = self._state.get("question")
        if open_question is None or open_question["number"] != question:
            raise Stale
        if action not in [choice["action"] for choice in open_question["choices"]]:
            raise Illegal
        self._tell(question=None)  # so that nobody answers twice
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):  # it ends just now
            self._process.stdin.write(msgspec.json.encode({"question": question, "action": action}) + b"\n")
            await self._process.stdin.drain()

    def tell_end(self, why: str) -> None:
        """Tell that the match is over, unless that was told already: it was not played to its end."""
        if not self.ending:
            self._tell(question=None, end={"told": [why], "kept": None})

    async def end(self, why: str) -> None:
        """End the match, if it is not over yet, and wait until all processes that play in it have ended."""
        self.tell_end(why)
        if self._stopping is None:  # a second signal would interrupt what the first one began
            self._stopping = asyncio.create_task(self._stop())
        await self._stopping

    async def _stop(self) -> None:
        if self._process is not None and self._following is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                await asyncio.wait_for(asyncio.shield(self._following), ENDING)
            except TimeoutError:
                _kill(self._process)
                with contextlib.suppress(TimeoutError):  # a process that left the group may hold the pipe
                    await asyncio.wait_for(self._following, ENDING)
        self.is_over = True


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process with its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Tables:
    """The tables of a site, by their names. Every process of a table begins with `command`."""

    def __init__(
        self,
        command: Sequence[str],
        idle: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        when_over: WhenOver = lambda _: None,
    ) -> None:
        self._command = command
        self._when_over = when_over
        self._idle = idle
        self._clock = clock
        self._tables: dict[str, PlayTable] = {}

    def add(self, seating: Seating) -> PlayTable:
        """Add a table, which is still to begin. Raises Full."""
        over = [table for table in self._tables.values() if table.is_over]
        if len(self._tables) - len(over) >= OPEN_TABLES:
            raise Full
        for table in over[: -OPEN_TABLES + 1]:
            del self._tables[table.name]
        table = PlayTable(seating, self._command, self._when_over)
        table.used = self._clock()
        self._tables[table.name] = table
        return table

    def find(self, name: str) -> PlayTable | None:
        """Return the table with this name, for somebody who asks for it."""
        table = self._tables.get(name)
        if table is not None:
            table.used = self._clock()
        return table

    async def end_idle(self) -> None:
        """End the matches that everybody seems to have left."""
        now = self._clock()
        idle = [table for table in self._tables.values() if not table.is_over and now - table.used > self._idle]
        await asyncio.gather(*(table.end(FORGOTTEN) for table in idle), return_exceptions=True)

    def say_goodbye(self) -> None:
        """Tell everybody that all is over, which ends the streams of events."""
        for table in self._tables.values():
            table.tell_end(CLOSED)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let people play as long as the block lasts; then all matches end."""
        for table in self._tables.values():
            await table.begin()
        watching = asyncio.create_task(self._end_idle_ones())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(*(table.end(CLOSED) for table in self._tables.values()), return_exceptions=True)

    async def _end_idle_ones(self) -> None:
        while True:
            await asyncio.sleep(IDLE_INTERVAL)
            await self.end_idle()
