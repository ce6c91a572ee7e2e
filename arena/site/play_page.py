"""The pages on which a person plays: what to play and against whom, and the table."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from arena import games
from arena.reports.matches_report import kept_matches
from arena.reports.opponents_report import opponents
from arena.site.answers import refusal
from arena.site.cache import Made
from arena.site.events import STILL_HERE, STREAM
from arena.site.page_shell import step_scripts
from arena.site.rendering import render
from arena.site.tables import LEFT, OPEN_TABLES, Full, Illegal, PlayTable, Seating, Stale, Tables
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.site.home_reader import Home

_FIRST_GAME, _FIRST_BOT = "buttons", "planner"
"""What is proposed."""
_LISTED = 10
"""Unrated matches that are listed, the latest ones."""
_HAS_FORMS = {"Referrer-Policy": "same-origin"}
"""Headers of a page with forms that send: with no referrer at all, browsers would not say where a form comes from."""


def form(db: Database, request: Request, _: bool, *, home: Path) -> Made:
    """Make the page that asks what to play, against whom, and where to sit. Raises NotFound."""
    query = request.query_params
    try:
        game = games.game(query.get("game", _FIRST_GAME))
    except games.UnknownGame as error:
        raise store.NotFound(str(error)) from None
    page = render(
        "play.html",
        game=game,
        players=next((seats for seats in game.seats if str(seats) == query.get("players")), game.seats[0]),
        games={name: games.game(name).title for name in games.names()},
        bots=opponents(db, game),
        first=_FIRST_BOT,
        kept=kept_matches(home, _LISTED),
    )
    return Made(page, more=_HAS_FORMS)


class Unseated(ValueError):
    """Error for a form that asks for what cannot be played; the message says why."""


def _seating(db: Database, fields: Mapping[str, Sequence[str]]) -> Seating:
    """Return what a form asks for. Only bots of the home can be named, and no file.

    Raises Unseated and UnknownGame.
    """
    game = games.game("".join(fields.get("game", ())))
    bots, seat = fields.get("bot", ()), "".join(fields.get("seat", ()))
    unknown = set(bots) - {opponent.bot for opponent in opponents(db, game)}
    if unknown:
        raise Unseated(f"no bot {min(unknown)!r} plays {game.title} here: go back and choose another one")
    if len(bots) + 1 not in game.seats:
        raise Unseated(f"{game.title} is for {game.seats[0]} to {game.seats[-1]} players, not {len(bots) + 1}")
    if seat not in map(str, range(len(bots) + 1)):
        raise Unseated(f"for {len(bots) + 1} players there are the seats 0 to {len(bots)}")
    return Seating(game.name, ["--game", game.name, "--seat", seat, "--", *bots])


class Play:
    """Answers what is asked of tables."""

    def __init__(self, home: Home, tables: Tables) -> None:
        self._home = home
        self._tables = tables
        self.routes = [
            Route("/play", self._sit_down, methods=["POST"]),
            Route("/play/{table}", self._page, methods=["GET"]),
            Route("/play/{table}/events", self._events, methods=["GET"]),
            Route("/play/{table}/choice", self._choose, methods=["POST"]),
            Route("/play/{table}/leave", self._leave, methods=["POST"]),
            Route("/play/{table}/again", self._again, methods=["POST"]),
        ]

    async def _sit_down(self, request: Request) -> Response:
        fields = await _form_fields(request)
        try:
            wanted = await self._home.read(lambda db: _seating(db, fields))
        except (Unseated, games.UnknownGame) as error:
            return refusal(400, "This cannot be played", str(error))
        except store.StoreError:
            return refusal(503, "The home cannot be read", "Nobody can be found to play against.")
        return await self._open(wanted)

    async def _open(self, wanted: Seating) -> Response:
        try:
            table = self._tables.add(wanted)
        except Full:
            why = f"{OPEN_TABLES} matches are being played here, and one ends after ten minutes without a choice."
            return refusal(503, "All tables are taken", f"{why} Try it later.")
        try:
            await table.begin()
        except OSError as error:
            return refusal(503, "No table could be set up", f"The arena could not start its process: {error.strerror}.")
        return RedirectResponse(f"/play/{table.name}", 303)

    async def _page(self, request: Request) -> Response:
        game = self._table(request).seating.game
        scripts = [*step_scripts(game), "/static/table.js"]
        page = render("table.html", game=games.game(game), scripts=scripts, address=request.url.path)
        return Response(
            page, headers={"Cache-Control": "no-store", **_HAS_FORMS}, media_type="text/html; charset=utf-8"
        )

    async def _events(self, request: Request) -> Response:
        table = self._table(request)
        events = _events(table) if request.method == "GET" else ()
        return StreamingResponse(events, media_type="text/event-stream", headers=STREAM)

    async def _choose(self, request: Request) -> Response:
        table, fields = self._table(request), await _form_fields(request)
        try:
            await table.choose(_number(fields, "question"), _number(fields, "action"))
        except Stale:
            return Response("This question was answered, or is not asked yet.\n", 409)
        except Illegal:
            return Response("This is none of the choices.\n", 400)
        return Response(status_code=204)

    async def _leave(self, request: Request) -> Response:
        await self._table(request).end(LEFT)
        return RedirectResponse("/play", 303)

    async def _again(self, request: Request) -> Response:
        return await self._open(self._table(request).seating.anew())

    def _table(self, request: Request) -> PlayTable:
        table = self._tables.find(request.path_params["table"])
        if table is None:
            raise HTTPException(404, "No such table")
        return table


async def _events(table: PlayTable) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    async for state in table.events():
        yield f"data: {state}\n\n" if state else STILL_HERE


async def _form_fields(request: Request) -> dict[str, list[str]]:
    """Return what a form sent: the values of each field."""
    try:
        body = await request.body()
    except ClientDisconnect:
        raise HTTPException(400) from None
    return parse_qs(body.decode(errors="replace"), keep_blank_values=True)


def _number(fields: Mapping[str, Sequence[str]], name: str) -> int:
    """Return a number that was sent; -1, which stands for none, if it is not there."""
    text = "".join(fields.get(name, ()))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1
