"""The page of all ladders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import games
from arena.reports import front_report
from arena.reports.words import game_title, unusual
from arena.site.cache import Made
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request


def page(db: Database, _: Request, running: bool) -> Made:
    """Make the page."""
    report = front_report.front(db, running=running)
    settings = {ladder.ladder: _settings(ladder) for ladder in report.ladders if ladder.game in games.names()}
    titles = {ladder.ladder: game_title(ladder.game) for ladder in report.ladders}
    values = {"front": report, "settings": settings, "played": titles, "titles": store.journal.titles(db)}
    return Made(render("front.html", **values, events="/events"))


def _settings(ladder: front_report.ListedLadder) -> str:
    """Return what is unusual about a ladder, as text."""
    return "".join(f"{words}, " for words in unusual(games.game(ladder.game), ladder.limits, ladder.options))
