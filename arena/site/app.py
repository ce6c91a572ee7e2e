"""The site of a home: which address shows what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from arena.games import UnknownGame
from arena.replay import Breach, Unreadable
from arena.site import bot_page, compare_page, docs, front_page, ladder_page, match_page, play_page
from arena.site.answers import refusal, without_path
from arena.site.cache import Made, Pages
from arena.site.events import Watch
from arena.site.home_reader import CHANGE_INTERVAL, Home
from arena.site.page_shell import STATIC, brought_board
from arena.site.security import Guard
from arena.site.tables import Tables
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.types import ASGIApp

    from arena.replay.document import Document

View: TypeAlias = "Callable[[Database, Request, bool], Made]"
"""Function that makes a page from the database; it is told whether a ladder is being played in the home."""


class Site:
    """The site of one home. People can play in it if it has tables."""

    def __init__(self, folder: Path, host: str, look: float = CHANGE_INTERVAL, tables: Tables | None = None) -> None:
        self.home = Home(folder, look)
        self.watch = Watch(self.home, look)
        self._pages = Pages(self.home)
        self._tables = tables
        routes = [
            Route("/", self._page(front_page.page)),
            Route("/ladder/{ladder}", self._page(ladder_page.page)),
            Route("/ladder/{ladder}/seats", self._page(ladder_page.seats_page)),
            Route("/ladder/{ladder}/matches", self._page(ladder_page.matches_page)),
            Route("/ladder/{ladder}/events", self._ladder_events),
            Route("/events", self._events),
            Route("/bot/{bot}", self._page(bot_page.page)),
            Route("/match/{match}.html", self._page(match_page.download)),
            Route("/match/{match}.json", self._page(match_page.match_document)),
            Route("/match/{match}", self._page(match_page.page)),
            Route("/match/{match}/log/{seat}", self._page(match_page.log_page)),
            Route("/unrated/{number}.html", self._page(self._unrated_view(match_page.download_kept))),
            Route("/unrated/{number}.json", self._page(self._unrated_view(match_page.document_kept))),
            Route("/unrated/{number}", self._page(self._unrated_view(match_page.kept_page))),
            Route("/compare", self._page(compare_page.page)),
            Route("/docs", _to_docs),
            Route("/docs/", docs.index),
            Mount("/docs/pictures", StaticFiles(directory=docs.PICTURES, check_dir=False)),
            Route("/docs/{page:path}", docs.page),
            Route("/boards/{game}.js", _board),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        if tables is not None:
            routes += [
                Route("/play", self._page(partial(play_page.form, home=folder)), methods=["GET"]),
                *play_page.Play(self.home, tables).routes,
            ]
        handlers = {HTTPException: _refused, 500: _failed}
        app = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=handlers)
        self.app: ASGIApp = Guard(app, host, plays=tables is not None)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        if self._tables is None:
            yield
        else:
            async with self._tables.open():
                yield
        self.home.close()

    def end_streams(self) -> None:
        """Let all streams of events end: each would last until its reader goes."""
        self.watch.close()
        if self._tables is not None:
            self._tables.say_goodbye()

    def _page(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of the addresses of a page."""

        async def handler(request: Request) -> Response:
            async def make() -> Made:
                running = (await self.home.state()).running
                return await self.home.read(lambda db: view(db, request, running))

            try:
                return await self._pages.answer(request, make)
            except store.NotFound as error:
                return refusal(404, "Not found", without_path(error, self.home.folder))
            except store.StoreError as error:
                return refusal(503, "The home cannot be read", without_path(error, self.home.folder))
            except (Unreadable, Breach, UnknownGame) as error:
                return refusal(404, "This match cannot be shown", without_path(error, self.home.folder))

        return handler

    def _unrated_view(self, view: Callable[[Document], Made]) -> View:
        """Return the view of a match that `arena match` played, from the view of its document."""
        return lambda _, request, __: view(match_page.find_kept(self.home.folder, request.path_params["number"]))

    async def _events(self, request: Request) -> Response:
        return await self.watch.stream(request)

    async def _ladder_events(self, request: Request) -> Response:
        name, ladders = request.path_params["ladder"], (await self.home.state()).ladders
        if ladders and name not in ladders:  # without any, the home may be unreadable for a moment
            raise HTTPException(404)
        return await self.watch.stream(request, name)


async def _board(request: Request) -> Response:
    """Return the script that a game of another package brings to draw its board."""
    script = brought_board(request.path_params["game"])
    if not script:
        raise HTTPException(404)
    return Response(script, media_type="text/javascript")


async def _to_docs(_: Request) -> Response:
    return RedirectResponse("/docs/", 308)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, error.detail.capitalize(), "There is no such page.")


async def _failed(_: Request, __: Exception) -> Response:
    return refusal(500, "A fault of the arena", "The page could not be made; the terminal of the server says why.")
