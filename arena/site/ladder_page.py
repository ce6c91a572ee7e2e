"""The page of a ladder: who leads, how sure that is, and what was played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from arena import games
from arena.reports.front_report import ladder_progress
from arena.reports.history_report import rating_history
from arena.reports.leaderboard_columns import COLUMNS, shown_bots, zero_of
from arena.reports.leaderboard_report import HeadToHead, Leaderboard, leaderboard_of
from arena.reports.matches_report import ladder_matches, selected
from arena.reports.words import state, title, unusual, waiting_text
from arena.site import plots
from arena.site.cache import Made
from arena.site.leaderboard_rows import Asked, Rows
from arena.site.rendering import render
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database
    from starlette.requests import Request

_LISTED = 6
"""Matches of each kind that are listed."""
PAGE = 50
"""Bots on a page of the leaderboard."""
SELECTED = 200
"""Matches that the page of matches lists at most."""
LARGEST_CROSS = 40
"""Bots in the cross table at most: a larger one is no picture any more."""


def page(db: Database, request: Request, running: bool, size: int | None = None) -> Made:
    """Make the page of a ladder, with at most so many bots on its leaderboard; a page of them if it is not said."""
    ladder = ladder_of(db, request.path_params["ladder"])
    game, titles = games.game(ladder.key.game), store.journal.titles(db)
    asked = Asked.of(request)
    is_small = len(store.ratings.standings(db, ladder)) <= LARGEST_CROSS
    rows = Rows(asked, titles, size or PAGE)
    # by rank it is known before points are computed which rows a page has; a table of all against all wants all of them
    choose = rows.choose if asked.sort == "rank" and not is_small else list
    board = leaderboard_of(db, ladder, game, choose, cross=LARGEST_CROSS if is_small else 0)
    now = ladder_progress(db, ladder, running=running)
    return Made(
        render(
            "ladder.html",
            board=board,
            name=title(game, board.players),
            settings=unusual(game, board.limits, board.options),
            state=state(board.matches),
            waiting=waiting_text(board.waiting, store.ratings.waiting(db, ladder), more=bool(board.bots)),
            progress=now,
            cross=_cross(board),
            places=board.places or {},
            largest=LARGEST_CROSS,
            matches=ladder_matches(db, ladder, _LISTED),
            titles=titles,
            hash=None if now.to_play else store.ratings.kept_hash(db, ladder),
            chosen=ladder.seed_text is not None,
            events=f"/ladder/{ladder.id}/events",
            **_table(board, rows),
            **_plot(db, ladder),
        )
    )


def _table(board: Leaderboard, rows: Rows) -> dict[str, Any]:
    """Return the bots of the leaderboard as the address asks for them, and what the table says of all of them."""
    zero = zero_of(board)
    shown = rows.arranged(shown_bots(board), zero)
    return {
        "bots": board.ranked,
        "columns": COLUMNS,
        "rows": shown,
        "view": rows,
        "sort": rows.asked.sort,
        "wanted": rows.asked.bots,
        "zero": zero,
        "placed": any(bot.places is not None for bot in shown),
        "unsure": not all(bot.sure for bot in shown),
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


def _cross(board: Leaderboard) -> dict[tuple[str, str], HeadToHead]:
    """Return by bot and other what the bot took of the points."""
    return {} if board.cross is UNSET else {(each.bot, each.other): each for each in board.cross}
