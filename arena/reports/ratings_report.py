"""What leaderboards show of each bot, as rows for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import games
from arena.reports.leaderboard_report import Leaderboard, RankedBot, leaderboard_of
from ladder import store
from ladder.store import export

if TYPE_CHECKING:
    from sqlite_utils import Database


class Shown(NamedTuple):
    """What the leaderboard shows of a bot; docs/data.md describes the columns. All is empty without the game."""

    game: str | None = None
    players: int | None = None
    rank: int | None = None
    rating: float | None = None
    relative_mu: float | None = None
    relative_settled: float | None = None
    points: float | None = None
    points_low: float | None = None
    points_high: float | None = None
    groups: int | None = None
    sure: int | None = None
    status: str | None = None
    title: str | None = None


def rating_columns(db: Database) -> list[str]:
    """Return the names of the columns: first what is stored, then what the leaderboard makes of it."""
    return [*export.columns(db, "ratings"), *Shown._fields]


def rating_rows(db: Database) -> Iterator[dict[str, Any]]:
    """Yield a row for each rated bot of each ladder, in the order of the leaderboards."""
    with store.database.one_state(db):
        shown = {(each.id, label): row for each in store.ladders.all(db) for label, row in _shown(db, each).items()}
        stored = list(export.rows(db, "ratings"))
    for row in stored:
        yield row | shown.get((row["ladder"], row["bot"]), Shown())._asdict()


def _shown(db: Database, ladder: store.Ladder) -> Mapping[str, Shown]:
    if ladder.key.game not in games.names():  # it came from a package that is gone
        return {}
    board = leaderboard_of(db, ladder, games.game(ladder.key.game))
    return {bot.bot: _row(board, bot) for bot in board.bots}


def _row(board: Leaderboard, bot: RankedBot) -> Shown:
    points = bot.points
    mean, low, high, groups = (points.mean, points.low, points.high, points.groups) if points else (None,) * 4
    return Shown(
        board.game,
        board.players,
        bot.rank,
        bot.rating,
        bot.mu - board.centre,
        None if bot.settled is None else bot.settled.mu - board.settled_centre,
        mean,
        low,
        high,
        groups,
        int(bot.sure),
        bot.status,
        bot.title,
    )
