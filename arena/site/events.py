"""Server-sent events: a page hears that what it shows has changed, and asks for it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import StreamingResponse

from arena.site.bell import Bell
from arena.site.home_reader import CHANGE_INTERVAL, Home, SeenState

STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Headers of a stream of events: nobody on the way is to keep it, or to wait for more of it."""
STILL_HERE = ": still here\n\n"
"""A comment in a stream of events, which browsers ignore."""


class Watch:
    """Watches a home for all streams together, as long as there is one."""

    def __init__(self, home: Home, look: float = CHANGE_INTERVAL) -> None:
        self._home = home
        self._look = look
        self._streams = 0
        self._news = Bell()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    def close(self) -> None:
        """Let all streams end."""
        self._closed = True
        self._news.ring()

    async def stream(self, request: Request, ladder: str = "") -> StreamingResponse:
        """Answer with an event whenever anything changes, or a ladder.

        The browser asks for the page when the answer begins, so from here on nothing may be missed.
        """
        mark = request.headers.get("Last-Event-ID") or _mark(await self._home.state(), ladder)
        events = self._events(ladder, mark) if request.method == "GET" else ()
        return StreamingResponse(events, media_type="text/event-stream", headers=STREAM)

    async def _events(self, ladder: str, before: str) -> AsyncIterator[str]:
        self._streams += 1
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._look_on())
        try:
            yield f"retry: 3000\nid: {before}\n\n"
            while not self._closed:
                ring = self._news.next_ring()
                now = _mark(await self._home.state(), ladder)
                if now != before:
                    before = now
                    yield f"id: {now}\ndata: changed\n\n"
                elif not await self._news.wait(ring):
                    yield STILL_HERE
        finally:
            self._streams -= 1

    async def _look_on(self) -> None:
        before = await self._home.state()
        while self._streams and not self._closed:
            await asyncio.sleep(self._look)
            now = await self._home.state()
            if now != before:
                before = now
                self._news.ring()


def _mark(state: SeenState, ladder: str) -> str:
    """Return a text in one line that changes with what a page shows."""
    mark = state.ladders.get(ladder, "none") if ladder else state.version
    return sha256(mark.encode(errors="backslashreplace")).hexdigest()[:24]  # it may name files
