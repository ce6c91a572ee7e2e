"""Watches how much processor time the process of a bot uses for its matches, where a ladder limits that."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from arena.referee.match import Fault, Forfeit
from arena.sandbox.cpu_usage import Usage

_INTERVAL = 0.1
"""Seconds between two looks at what was used. By so much, on each processor, a bot may exceed its limit unseen."""


class CpuWatch:
    """Processor time of a bot since it last held no match, against what its matches since then allow together.

    With several matches in play nobody can tell which of them the time went into, so all of them share what they allow.
    `usage` returns what the bot's processes have used so far, None if that cannot be seen; `exceeded` is called once.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, usage: Callable[[], Usage | None], exceeded: Callable[[Fault], None]
    ) -> None:
        self._loop = loop
        self._usage = usage
        self._exceeded = exceeded
        self._matches, self._allowed, self._before = 0, 0.0, 0.0
        self._timer: asyncio.TimerHandle | None = None

    def allow_match(self, limit: float, *, first: bool) -> None:
        """Allow so many seconds for one more match; `first` says that the bot held none before."""
        if first:
            self.stop()
            self._matches, self._allowed, self._before = 0, 0.0, 0.0
            if limit < math.inf and (usage := self._usage()) is not None:
                self._before = usage.cpu
        self._matches += 1
        self._allowed += limit
        if self._timer is None and self._allowed < math.inf:
            self._watch()

    def stop(self) -> None:
        """Watch no more: the bot holds no match, or is at its end."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        self._timer = self._loop.call_later(_INTERVAL, self._look)

    def _look(self) -> None:
        self._timer = None
        if (usage := self._usage()) is None:
            return
        # rounded, or the last bits of a difference or a sum could exceed the limit
        used, allowed = round(usage.cpu - self._before, 3), round(self._allowed, 3)
        if used > allowed:
            matches = "a match" if self._matches == 1 else f"{self._matches} matches"
            what = f"used {used:.3f} s of processor time in {matches}; {allowed:.3f} s are allowed"
            self._exceeded(Fault(Forfeit.TIMEOUT, what))
        else:
            self._watch()
