"""Lets many wait for the same thing to happen, again and again."""

from __future__ import annotations

import asyncio

_SILENCE = 20.0
"""Seconds after which a stream says that it is still there, or else proxies would close it."""


class Bell:
    """Rings for all who wait."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake all who wait now."""
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    def next_ring(self) -> asyncio.Event:
        """Return what the next ring sets. Who takes it before looking at what may change misses no ring meanwhile."""
        return self._rung

    async def wait(self, ring: asyncio.Event) -> bool:
        """Wait for a ring, `_SILENCE` at most; return whether it came."""
        try:
            await asyncio.wait_for(ring.wait(), _SILENCE)
        except TimeoutError:
            return False
        return True
