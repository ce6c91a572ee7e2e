"""The page of all ladders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import games
from arena.reports import front as reports
from arena.reports.words import unusual
from arena.site.cache import Made
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request


def page(db: Database, _: Request, running: bool, *, plays: bool = False) -> Made:
    """Make the page; it leads to the tables if people can play here."""
    found = reports.front(db, running=running)
    settings = {each.ladder: _settings(each) for each in found.ladders if each.game in games.names()}
    given = {"front": found, "settings": settings, "titles": store.titles(db), "plays": plays}
    return Made(render("front.html", **given, events="/events"))


def _settings(ladder: reports.ListedLadder) -> str:
    """Return what is unusual about a ladder, as text."""
    return "".join(f"{each}, " for each in unusual(games.game(ladder.game), ladder.limits, ladder.options))
