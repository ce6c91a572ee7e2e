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

from arena.site.home_reader import Home

CACHED_PAGES = 64 << 20
"""Bytes of pages that are kept in memory; with fewer, pages are made again more often."""
QUICK = 0.1
"""Seconds that a page may take to be made again at every change of the home."""
SHARE = 0.1
"""Part of the time that is spent on making a slower page again and again while a ladder changes it."""
_LONGEST = 2_000
"""Bytes of a query, at most: it is kept with its page, and none of ours comes near it."""
_OVERHEAD = 1_000
"""Bytes that a kept page takes besides, about."""


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


MakePage: TypeAlias = Callable[[], Awaitable[Made]]
"""Function that makes a page."""


class Pages:
    """The pages of a home by address. Of several requests for one page, the first makes it and the others wait."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._pages: OrderedDict[bytes, Page] = OrderedDict()
        self._size = 0
        self._making: dict[tuple[bytes, str], asyncio.Task[Page]] = {}

    async def answer(self, request: Request, make: MakePage) -> Response:
        """Answer a request for a page, with 304 if the browser has it already."""
        query = request.scope["query_string"]
        if len(query) > _LONGEST:
            return Response("The address is too long.\n", 414)
        # not request.url: what stands behind a # is no part of that, but of the query
        address: bytes = request.scope["path"].encode(errors="surrogateescape") + b"?" + query
        page = await self._page(address, make)
        headers = {**page.headers, "ETag": page.etag, "Cache-Control": "no-cache"}
        if page.etag in request.headers.get("If-None-Match", ""):
            return Response(status_code=304, headers=headers)
        return Response(page.body, headers=headers)

    async def _page(self, address: bytes, make: MakePage) -> Page:
        state = await self._home.state()
        page = self._pages.get(address)
        is_held = state.running and page is not None and time.monotonic() < page.good_until
        if page is not None and (page.version == state.version or is_held):
            self._pages.move_to_end(address)
            return page
        making = (address, state.version)
        if making not in self._making:
            self._making[making] = asyncio.create_task(self._new_page(address, state.version, make))
        return await asyncio.shield(self._making[making])

    async def _new_page(self, address: bytes, version: str, make: MakePage) -> Page:
        begun = time.monotonic()
        try:
            made_page = await make()
        finally:
            del self._making[address, version]
        now = time.monotonic()
        took = now - begun
        body = made_page.text.encode(errors="backslashreplace")
        etag = f'"{sha256(body).hexdigest()[:24]}"'
        headers = {"Content-Type": made_page.media_type, **made_page.more}
        good_until = now + took / SHARE if took > QUICK else 0.0
        page = Page(body, headers, etag, version, good_until)
        self._keep(address, page)
        return page

    def _keep(self, address: bytes, page: Page) -> None:
        if (old := self._pages.pop(address, None)) is not None:
            self._size -= _size(address, old)
        self._pages[address] = page
        self._size += _size(address, page)
        while self._size > CACHED_PAGES:
            self._size -= _size(*self._pages.popitem(last=False))


def _size(address: bytes, page: Page) -> int:
    """Return how many bytes a kept page takes, about."""
    return _OVERHEAD + len(address) + len(page.body)
