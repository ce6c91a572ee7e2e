"""The page of all ladders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena import games
from arena.reports import front_report
from arena.reports.words import unusual
from arena.site.cache import Made
from arena.site.rendering import game_title, render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request


def page(db: Database, _: Request, running: bool) -> Made:
    """Make the page."""
    found = front_report.front(db, running=running)
    settings = {each.ladder: _settings(each) for each in found.ladders if each.game in games.names()}
    played = {each.ladder: game_title(each.game) for each in found.ladders}
    given = {"front": found, "settings": settings, "played": played, "titles": store.journal.titles(db)}
    return Made(render("front.html", **given, events="/events"))


def _settings(ladder: front_report.ListedLadder) -> str:
    """Return what is unusual about a ladder, as text."""
    return "".join(f"{each}, " for each in unusual(games.game(ladder.game), ladder.limits, ladder.options))
