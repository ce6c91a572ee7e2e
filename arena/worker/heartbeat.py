"""The clock of a worker: the time of its event loop, whether the worker stood still, and how busy its machine is."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from arena.sandbox.cpu_usage import pressure

INTERVAL = 0.25
"""Seconds between two beats: a part of `STOOD_STILL`, or a beat that is late would count as a stop."""
STOOD_STILL = 1.5
"""If nobody looked at the time for more seconds than this, the worker or its machine was stopped.

On a busy machine a beat comes later than it should. A stop that is too short to be noticed is paid from banks.
"""


class Heartbeat:
    """A clock that from `start` on looks at the time every INTERVAL, as long as the event loop runs.

    If more than STOOD_STILL passed between two looks, no bot can be judged for that time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, grade: str) -> None:
        self.time = loop.time
        self.call_at = loop.call_at
        self.conditions: Mapping[str, Any] = {}
        """What is stored with a result: the grade of the sandbox, and how busy the machine was at the last beat."""
        self._loop = loop
        self._grade = grade
        self._gap_seen = -math.inf
        self._looked = loop.time()

    def start(self) -> None:
        """Begin to beat."""
        self._beat()

    def stood_still(self, since: float) -> bool:
        """Tell whether a gap of more than STOOD_STILL seconds was noticed after `since`, a value of `time`."""
        self._look()
        return self._gap_seen > since

    def _beat(self) -> None:
        self._look()
        self.conditions = {"sandbox": self._grade, "pressure": pressure()}
        self._loop.call_later(INTERVAL, self._beat)

    def _look(self) -> None:
        now = self.time()
        if now - self._looked > STOOD_STILL:
            self._gap_seen = now
        self._looked = now
