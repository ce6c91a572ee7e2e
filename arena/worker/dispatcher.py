"""When the frames of bots are sent: rather full than at once, but no match waits where nothing can be added."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from arena.referee.stream import BotStream

LINGER = 0.01
"""Seconds that a frame may wait to become fuller while other bots owe answers. That costs the matches that could go on
some milliseconds, and each frame costs as much as ten decisions. Only speed depends on it."""


class Dispatcher:
    """Sends full frames at once, others when no answer is awaited that could add to them, or after a moment."""

    def __init__(self, loop: asyncio.AbstractEventLoop, awaits_answers: Callable[[], bool]) -> None:
        self._loop = loop
        self._awaits_answers = awaits_answers
        self._gathered: set[BotStream] = set()
        self.add = self._gathered.add
        """Note that something has gathered in a stream, or that it may be sent what had."""
        self._linger: asyncio.TimerHandle | None = None

    def send(self) -> None:
        """Send the frames that are full; the others once nobody owes an answer that could add to them, or soon."""
        for stream in [stream for stream in self._gathered if stream.full]:
            self._gathered.discard(stream)
            stream.flush()
        if self._gathered and not self._awaits_answers():
            self._send_all()
        elif self._gathered and self._linger is None:
            self._linger = self._loop.call_later(LINGER, self._linger_over)

    def _linger_over(self) -> None:
        self._linger = None
        self._send_all()

    def _send_all(self) -> None:
        while self._gathered:
            self._gathered.pop().flush()
