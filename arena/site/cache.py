"""Pages as they are sent: made when somebody asks, kept in memory as long as what they show has not changed."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from arena.site.home import Home

MOST = 64 << 20
"""Bytes of pages that are kept in memory."""
QUICK = 0.1
"""Seconds that a page may take to be made again at every change of the home."""
SHARE = 0.1
"""Part of the time that is spent on making a slower page again and again while a ladder changes it."""


class Page(NamedTuple):
    """A page, the version of the home that it shows, and until when it may be shown although that has changed."""

    body: bytes
    headers: Mapping[str, str]
    etag: str
    version: str
    good_until: float


class Made(NamedTuple):
    """What a page consists of when it is made."""

    text: str
    media_type: str = "text/html; charset=utf-8"
    more: Mapping[str, str] = {}


Make: TypeAlias = Callable[[], Awaitable[Made]]
"""Function that makes a page."""


class Pages:
    """The pages of a home by address. Of several requests for one page, the first makes it and the others wait."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._kept: OrderedDict[str, Page] = OrderedDict()
        self._size = 0
        self._making: dict[str, asyncio.Task[Page]] = {}

    async def answer(self, request: Request, make: Make) -> Response:
        """Answer a request for a page, with 304 if the browser has it already."""
        address = f"{request.url.path}?{request.url.query}"
        page = await self._page(address, make)
        headers = {**page.headers, "ETag": page.etag, "Cache-Control": "no-cache"}
        if page.etag in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        return Response(page.body, headers=headers)

    async def _page(self, address: str, make: Make) -> Page:
        version = (await self._home.seen()).version
        known = self._kept.get(address)
        if known is not None and (known.version == version or time.monotonic() < known.good_until):
            self._kept.move_to_end(address)
            return known
        if address not in self._making:
            self._making[address] = asyncio.create_task(self._made(address, version, make))
        return await asyncio.shield(self._making[address])

    async def _made(self, address: str, version: str, make: Make) -> Page:
        begun = time.monotonic()
        try:
            made = await make()
        finally:
            del self._making[address]
        now = time.monotonic()
        took = now - begun
        body = made.text.encode(errors="backslashreplace")
        etag = f'"{sha256(body).hexdigest()[:24]}"'
        headers = {"Content-Type": made.media_type, **made.more}
        good_until = now + took / SHARE if took > QUICK else 0.0
        page = Page(body, headers, etag, version, good_until)
        self._keep(address, page)
        return page

    def _keep(self, address: str, page: Page) -> None:
        if (old := self._kept.pop(address, None)) is not None:
            self._size -= len(old.body)
        self._kept[address] = page
        self._size += len(page.body)
        while self._size > MOST:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest.body)
