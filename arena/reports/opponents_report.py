"""The bots against which people can play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena import roster
from arena.games.rules import Game
from arena.reports.base import Report
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database


class OpponentLine(Report):
    """A bot that plays a game."""

    bot: str
    """Its name or, if it was submitted, its label."""
    title: str | None


def opponents(db: Database, game: Game[Any]) -> list[OpponentLine]:
    """List the bots that play a game and are not retired: the built-in ones, then the newest of the submitted ones."""
    titles = store.journal.titles(db)
    return [OpponentLine(bot=bot, title=titles.get(bot.partition("@")[0])) for bot in roster.players(db, game)]
