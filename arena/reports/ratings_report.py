"""What leaderboards show of each bot, as rows for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from arena import games
from arena.reports.leaderboard_columns import COLUMNS, Value, Zero
from arena.reports.leaderboard_report import Leaderboard, RankedBot, leaderboard_of
from ladder import store
from ladder.store import export

if TYPE_CHECKING:
    from sqlite_utils import Database


_ABOUT: Mapping[str, Callable[[RankedBot], Value]] = {
    "sure": lambda bot: int(bot.sure),
    "status": lambda bot: bot.status,
    "title": lambda bot: bot.title,
}
"""What else is known of a bot."""
_SHOWN = ("game", "players", *(name for column in COLUMNS for name in column.exported), *_ABOUT)


def rating_columns(db: Database) -> list[str]:
    """Return the names of the columns: first what is stored, then what the leaderboard makes of it."""
    return [*export.columns(db, "ratings"), *_SHOWN]


def rating_rows(db: Database) -> Iterator[dict[str, Any]]:
    """Yield a row for each rated bot of each ladder, in the order of the leaderboards."""
    with store.database.one_state(db):
        shown = {(each.id, label): row for each in store.ladders.all(db) for label, row in _shown(db, each).items()}
        stored = list(export.rows(db, "ratings"))
    for row in stored:
        yield row | shown.get((row["ladder"], row["bot"]), dict.fromkeys(_SHOWN))


def _shown(db: Database, ladder: store.Ladder) -> dict[str, dict[str, Value]]:
    """Return what the leaderboard shows of each bot, by name; nothing if the game is gone with its package."""
    if ladder.key.game not in games.names():
        return {}
    board = leaderboard_of(db, ladder, games.game(ladder.key.game))
    return {bot.bot: _row(board, bot) for bot in board.bots}


def _row(board: Leaderboard, bot: RankedBot) -> dict[str, Value]:
    zero = Zero(board.centre, board.settled_centre)
    shown = {name: value(bot, zero) for column in COLUMNS for name, value in column.exported.items()}
    about = {name: of(bot) for name, of in _ABOUT.items()}
    return {"game": board.game, "players": board.players, **shown, **about}
