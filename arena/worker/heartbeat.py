"""The clock of a worker: its event loop's time, and whether the worker itself stood still or had a busy machine."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from arena.sandbox.cpu_usage import pressure

INTERVAL = 0.25
"""Seconds between two beats."""
ASLEEP = 1.5
"""Seconds without a look at the time that show that the worker was asleep: stopped, or on a machine that was."""


class Heartbeat:
    """Looks at the time as long as the loop runs. A gap between two looks is time for which no bot can be judged."""

    def __init__(self, loop: asyncio.AbstractEventLoop, grade: str) -> None:
        self.time = loop.time
        self.call_at = loop.call_at
        self.conditions: Mapping[str, Any] = {}
        """What is stored with a result: the grade of the sandbox, and how busy the machine was at the last beat."""
        self._loop = loop
        self._grade = grade
        self._woken = -math.inf
        self._beaten = loop.time()

    def start(self) -> None:
        """Begin to beat."""
        self._beat()

    def stood_still(self, since: float) -> bool:
        """Whether the worker was asleep for a while since a time."""
        self._look()
        return self._woken > since

    def _beat(self) -> None:
        self._look()
        self.conditions = {"sandbox": self._grade, "pressure": pressure()}
        self._loop.call_later(INTERVAL, self._beat)

    def _look(self) -> None:
        now = self.time()
        if now - self._beaten > ASLEEP:
            self._woken = now
        self._beaten = now
