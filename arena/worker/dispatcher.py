"""When the frames of bots are sent: rather full than at once, and to few bots at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from arena.referee.stream import BotStream

LINGER = 0.01
"""Seconds that a frame may wait to become fuller while other bots owe answers. That costs the matches that could go on
some milliseconds, and each frame costs as much as ten decisions. Only speed depends on it."""
AT_ONCE = 4
"""Bots that are asked at the same time. With more than there are processors each would wait for one, so that its frame
seemed to take long and stayed small; with fewer, processors would idle while answers are read."""
TURN = 0.05
"""Seconds after which a bot that still owes answers takes nobody else's turn: it thinks long, or waits for something.
A full frame is answered in less than half of that."""

SPACING = 0.005
"""Seconds between two frames while bots are starting: what starts can take the processors, frames fill meanwhile, and
the first matches end all the same. With none, frames of one decision would take as long as the starts."""


class Dispatcher:
    """Sends due frames in the order in which they became due: when they were full, or had waited for a moment."""

    def __init__(self, loop: asyncio.AbstractEventLoop, are_starting: Callable[[], bool]) -> None:
        """`are_starting` tells whether any bot is being started."""
        self._loop = loop
        self._are_starting = are_starting
        self._sent_at = float("-inf")
        """When a frame was sent last."""
        self._noted: set[BotStream] = set()
        self.add = self._noted.add
        """Note that something has gathered in a stream, or that it may be sent what had."""
        self._gathering: dict[BotStream, None] = {}
        """Where frames may become fuller."""
        self._due: dict[BotStream, None] = {}
        self._asked: dict[BotStream, float] = {}
        """Who was asked, and until when that counts; the first of them was asked first."""
        self._timer: asyncio.TimerHandle | None = None
        self._frames = 0

    def take_frames(self) -> int:
        """Return how many frames of decisions were sent since the last call."""
        frames, self._frames = self._frames, 0
        return frames

    def send(self) -> None:
        """Send what is due as far as few bots are asked; what may become fuller is due once nobody owes, or soon."""
        while self._noted:
            self._sort(self._noted.pop())
        self._send_due()
        if not self._asked:
            self._hurry()
        if (self._gathering or self._due) and self._timer is None:
            self._timer = self._loop.call_later(SPACING if self._due else LINGER, self._time_over)

    def _sort(self, stream: BotStream) -> None:
        if stream.owes:
            return
        self._asked.pop(stream, None)
        if stream in self._due:
            return
        if not stream.full:
            self._gathering[stream] = None
            return
        self._gathering.pop(stream, None)
        if stream.questions.queued:
            self._due[stream] = None
        else:
            stream.flush()

    def _send_due(self) -> None:
        now = self._loop.time()
        while self._asked:
            stream, until = next(iter(self._asked.items()))
            if stream.owes and now < until:
                break
            del self._asked[stream]
        is_slow = bool(self._due) and self._are_starting()
        while self._due and len(self._asked) < AT_ONCE and not (is_slow and now < self._sent_at + SPACING):
            stream = next(iter(self._due))
            del self._due[stream]
            stream.flush()
            self._sent_at = now
            if stream.owes:
                self._frames += 1
                self._asked[stream] = now + TURN

    def _hurry(self) -> None:
        self._due |= self._gathering
        self._gathering.clear()
        self._send_due()

    def _time_over(self) -> None:
        self._timer = None
        self._hurry()
        self.send()
