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

    async def wait(self) -> bool:
        """Wait until it rings, `_SILENCE` at most; return whether it did."""
        try:
            await asyncio.wait_for(self._rung.wait(), _SILENCE)
        except TimeoutError:
            return False
        return True
