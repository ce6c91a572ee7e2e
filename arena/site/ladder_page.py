"""The page of a ladder: who leads, how sure that is, and what was played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from arena import games
from arena.reports.front_report import ladder_progress
from arena.reports.history_report import rating_history
from arena.reports.leaderboard_columns import BY_NAME, COLUMNS, Zero, shown_bots, zero_of
from arena.reports.leaderboard_report import HeadToHead, Leaderboard, RankedBot, leaderboard_of
from arena.reports.matches_report import ladder_matches, selected
from arena.reports.words import state, title, unusual, waiting_text
from arena.site import plots
from arena.site.cache import Made
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request

_LISTED = 6
"""Matches of each kind that are listed."""
SELECTED = 200
"""Matches that the page of matches lists at most."""
LARGEST_CROSS = 40
"""Bots in the cross table at most: a larger one is no picture any more."""


def page(db: Database, request: Request, running: bool) -> Made:
    """Make the page of a ladder."""
    ladder = ladder_of(db, request.path_params["ladder"])
    game = games.game(ladder.key.game)
    is_small = len(store.ratings.standings(db, ladder)) <= LARGEST_CROSS
    board = leaderboard_of(db, ladder, game, cross=LARGEST_CROSS if is_small else 0)
    now = ladder_progress(db, ladder, running=running)
    return Made(
        render(
            "ladder.html",
            board=board,
            name=title(game, board.players),
            settings=unusual(game, board.limits, board.options),
            state=state(board.matches),
            waiting=waiting_text(board.waiting, store.ladders.waiting(db, ladder), more=bool(board.bots)),
            progress=now,
            cross=_cross(board),
            places=board.places or {},
            largest=LARGEST_CROSS,
            matches=ladder_matches(db, ladder, _LISTED),
            titles=store.journal.titles(db),
            hash=None if now.to_play else store.ratings.kept_hash(db, ladder),
            chosen=ladder.seed_text is not None,
            events=f"/ladder/{ladder.id}/events",
            **_table(board, request),
            **_plot(db, ladder),
        )
    )


def _table(board: Leaderboard, request: Request) -> dict[str, Any]:
    """Return the bots of the leaderboard as the address asks for them, and what the table says of all of them."""
    bots, zero = shown_bots(board), zero_of(board)
    sort, wanted = request.query_params.get("sort", "rank"), request.query_params.get("bots", "")
    return {
        "bots": len(bots),
        "columns": COLUMNS,
        "rows": _sorted(_wanted(bots, wanted), sort, zero),
        "sort": sort if sort in BY_NAME else "rank",
        "wanted": wanted,
        "zero": zero,
        "unsure": not all(bot.sure for bot in bots),
        "early": board.matches.done - board.matches.rated if board.provisional else 0,
    }


def _plot(db: Database, ladder: store.Ladder) -> dict[str, Any]:
    """Draw the ratings of the best bots, and return how many lines there are at most, and with bands."""
    history = rating_history(db, ladder)
    history.bots = history.bots[: plots.PLOT_LINES]
    return {"plot": plots.rating_plot(history), "lines": plots.PLOT_LINES, "banded": plots.BANDED}


def seats_page(db: Database, request: Request, _: bool) -> Made:
    """Make the page that says what each seat of a ladder is worth; it reads every group, which takes long."""
    ladder = ladder_of(db, request.path_params["ladder"])
    game = games.game(ladder.key.game)
    board = leaderboard_of(db, ladder, game, by_seat=True)
    return Made(render("seats.html", board=board, name=title(game, board.players)))


def matches_page(db: Database, request: Request, _: bool, most: int = SELECTED) -> Made:
    """Make the page that lists at most so many matches of a ladder."""
    ladder = ladder_of(db, request.path_params["ladder"])
    game = games.game(ladder.key.game)
    return Made(
        render(
            "matches.html",
            ladder=ladder.id,
            name=title(game, ladder.key.seats),
            matches=selected(db, ladder, most),
            titles=store.journal.titles(db),
            events=f"/ladder/{ladder.id}/events",
        )
    )


def ladder_of(db: Database, ladder_id: str) -> store.Ladder:
    """Return the ladder with an id. Raises NotFound."""
    found = store.ladders.find(db, ladder_id)
    if found is None or found.key.game not in games.names():
        raise store.NotFound(f"no ladder {ladder_id!r} of a game that this arena has")
    return found


def _wanted(bots: Sequence[RankedBot], names: str) -> Sequence[RankedBot]:
    """Return the bots that are named, by labels, names or parts of them with commas between; all if none is."""
    parts = [part.strip().lower() for part in names.split(",") if part.strip()]
    return [bot for bot in bots if not parts or any(part in f"{bot.bot} {bot.title or ''}".lower() for part in parts)]


def _sorted(bots: Sequence[RankedBot], name: str, zero: Zero) -> Sequence[RankedBot]:
    """Return the bots by a column; those without a value come last."""
    column = BY_NAME.get(name)
    if column is None:
        return bots
    values: dict[str, Any] = {bot.bot: column.value(bot, zero) for bot in bots}
    known = [bot for bot in bots if values[bot.bot] is not None]
    unknown = [bot for bot in bots if values[bot.bot] is None]
    return [*sorted(known, key=lambda bot: values[bot.bot], reverse=not column.is_rising), *unknown]


def _cross(board: Leaderboard) -> dict[tuple[str, str], HeadToHead]:
    """Return by bot and other what the bot took of the points."""
    return {} if board.cross is UNSET else {(each.bot, each.other): each for each in board.cross}
