"""What leaderboards show of each bot, as rows for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from arena import games
from arena.reports.leaderboard_columns import COLUMNS, Exported, Value, Zero
from arena.reports.leaderboard_report import Leaderboard, RankedBot, leaderboard_of
from ladder import store
from ladder.store import export

if TYPE_CHECKING:
    from sqlite_utils import Database


_ABOUT = {
    "sure": Exported(lambda bot, _: int(bot.sure), "0 where the table has `~`, else 1"),
    "status": Exported(lambda bot, _: bot.status, "`current`, `older`, `retired` or `banned`"),
    "title": Exported(lambda bot, _: bot.title, "The name that the bot was given for people"),
}
"""What else is known of a bot."""
_OF_BOT = {name: part for column in COLUMNS for name, part in column.exported.items()} | _ABOUT
"""All that a row says of a bot: what columns show, and what else is known."""
SHOWN = {
    "game": "Name of the game",
    "players": "Number of seats",
    **{name: part.meaning for name, part in _OF_BOT.items()},
}
"""What the leaderboard shows of a bot, with what it means. All is empty without the game."""


def rating_columns(db: Database) -> list[str]:
    """Return the names of the columns: first what is stored, then what the leaderboard makes of it."""
    return [*export.columns(db, "ratings"), *SHOWN]


def rating_rows(db: Database) -> Iterator[dict[str, Any]]:
    """Yield a row for each rated bot of each ladder, in the order of the leaderboards."""
    with store.database.one_state(db):
        by_bot = {
            (ladder.id, label): row for ladder in store.ladders.all(db) for label, row in _shown(db, ladder).items()
        }
        stored = list(export.rows(db, "ratings"))
    for row in stored:
        yield row | by_bot.get((row["ladder"], row["bot"]), dict.fromkeys(SHOWN))


def _shown(db: Database, ladder: store.Ladder) -> dict[str, dict[str, Value]]:
    """Return what the leaderboard shows of each bot, by name; nothing if the game is gone with its package."""
    if ladder.key.game not in games.names():
        return {}
    board = leaderboard_of(db, ladder, games.game(ladder.key.game))
    return {bot.bot: _row(board, bot) for bot in board.bots}


def _row(board: Leaderboard, bot: RankedBot) -> dict[str, Value]:
    zero = Zero(board.centre, board.settled_centre)
    shown = {name: part.value(bot, zero) for name, part in _OF_BOT.items()}
    return {"game": board.game, "players": board.players, **shown}
