"""The `arena leaderboard` command, and the leaderboard that `arena ladder` prints at its end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from msgspec import UNSET
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.evidence_tables import cross_picture, plot_picture, seat_picture
from arena.reports import leaderboard_report, words
from arena.reports.chosen_bots import Chosen
from arena.reports.front_report import ladder_progress
from arena.reports.leaderboard_columns import BY_NAME, COLUMNS, Column, shown_bots, zero_of
from arena.reports.leaderboard_report import Leaderboard, NoLeaderboard
from arena.reports.words import called, heading, pace_text, state
from arena.terminal.options import SeatedGame, Whole, home_option, json_option, seated_game_options
from arena.terminal.output import console, draw, measured, print_json, progress, say_if_empty, table
from arena.terminal.stderr import say
from arena.terminal.typed import as_typed, typed_as
from ladder import store
from ladder.store import Ladder

if TYPE_CHECKING:
    from sqlite_utils import Database

_REPAINT = 1.0
"""Seconds between two repaints of --watch, at least."""
_GAP = 2
"""Columns between those of a table, as `terminal.output.table` draws them."""
_WATCHING = 0.1
"""Largest share of one core that --watch uses, so that it does not slow down the ladder that it watches."""


@click.command()
@seated_game_options
@click.option("--ladder", "ladder_id", metavar="ID", help="Which of several with other limits or options.")
@click.option("-n", "--most", type=Whole(1), metavar="N", help="Show the best N bots, or N around --around, not all.")
@click.option("--around", metavar="BOT", help="Show this bot with those above and below it.")
@click.option("--bots", metavar="A,B,C", help="Show these bots alone.")
@click.option("--details", is_flag=True, help="Add mu, sigma and the settled rating.")
@click.option("--cross", is_flag=True, help="Add the best 20 bots shown, each against each other, and their places.")
@click.option("--by-seat", is_flag=True, help="Add what each seat is worth, and what sharing dice saved.")
@click.option("--plot", is_flag=True, help="Draw each bot's skill with its 95 % interval.")
@click.option("--settle", "settles", is_flag=True, help="Compute the settled ratings first, and add --details.")
@click.option("--watch", is_flag=True, help="Repaint while a ladder runs in another terminal, until Ctrl-C.")
@home_option
@json_option
def leaderboard(
    seated: SeatedGame,
    ladder_id: str | None,
    most: int | None,
    around: str | None,
    bots: str | None,
    details: bool,
    cross: bool,
    by_seat: bool,
    plot: bool,
    settles: bool,
    watch: bool,
    home: Path,
    as_json: bool,
) -> None:
    """Show who is best, and how sure that is.

    Bots are in the order of their rating, which is mu − 3 sigma. That is what they are almost certainly worth, above
    the mean of the bots that the ladder began with. points is the percentage of the possible points, with a 95 %
    interval; while it tells nothing, as in #3–15, the places where a bot may stand by its rating. ~ marks a bot that is
    not significantly worse than the one above it. --details adds mu, the estimated skill; sigma, its uncertainty; and
    settled, mu computed from all matches at once.

    \b
    Example:
      arena leaderboard --game buttons
      arena leaderboard --game buttons --around greedy -n 20
    """
    chosen = _chosen(most, around, bots)
    if watch:
        if as_json or cross or by_seat or plot or settles:
            raise click.UsageError("--watch shows the leaderboard alone: leave it out, or the other options")
        if not sys.stdout.isatty():
            raise click.UsageError("--watch repaints a terminal, and stdout is none: leave it out")
        return _watch(seated, ladder_id, home, _Look(chosen, details))
    if settles:
        details = True
        _settle(seated, ladder_id, home)
    with store.open_read(home) as db:
        ladder = find_ladder(db, seated, ladder_id)
        if ladder is None:
            return _nothing(db, seated, home, as_json)
        board = leaderboard_report.leaderboard_of(
            db, ladder, seated.game, partial(chosen.of, db), cross=_compared(chosen) if cross else 0, by_seat=by_seat
        )
        if as_json:
            return print_json(board)
        drawn = plot_picture(_skills(board), board.zero) if plot and board.bots else []
        waiting = store.ratings.waiting(db, ladder)
        return draw(picture(board, waiting, details=details), *drawn, *_more_pictures(board), wide=cross)


class _Look(NamedTuple):
    """What somebody wants to see of a leaderboard."""

    chosen: Chosen
    details: bool


def _chosen(most: int | None, around: str | None, bots: str | None) -> Chosen:
    if bots is not None and (most is not None or around is not None):
        raise click.UsageError("--bots names the bots to show: leave it out, or -n and --around")
    return Chosen(most, around, [] if bots is None else [name.strip() for name in bots.split(",")])


def _compared(chosen: Chosen) -> int:
    """Return how many bots `--cross` compares: as many as somebody asked for, and without that few enough to read."""
    return len(chosen.bots) or chosen.most or leaderboard_report.CROSSED


def _settle(seated: SeatedGame, ladder_id: str | None, home: Path) -> None:
    with store.open_read(home) as db:
        ladder = find_ladder(db, seated, ladder_id)
    if ladder is not None:
        with store.open(home) as db:
            settle_ladder(db, ladder)


def settle_ladder(db: Database, ladder: Ladder) -> None:
    """Bring a ladder's ratings, also the settled ones, up to date, with progress."""
    with progress("ratings") as rated:
        store.ratings.apply(db, ladder, rated)
    with progress("settled ratings", "passes", at_most=True) as report:
        store.evidence.settle(db, ladder, report)


def _nothing(db: Database, seated: SeatedGame, home: Path, as_json: bool) -> None:
    if as_json:
        return print_json(NoLeaderboard(game=seated.game.name, players=seated.seats))
    say_if_empty(db, home)
    name = seated.game.name
    say(f"no ladder of {seated.title} in {str(home)!r} yet")
    for others in sorted({ladder.key.seats for ladder in store.ladders.all(db, name)}):
        say(f"there is one of {others} players: {typed_as('leaderboard', '--game', name, '--players', others)}")
    return say(f"play one: {typed_as('ladder', '--game', name, '--players', seated.seats)}")


def find_ladder(db: Database, seated: SeatedGame, ladder_id: str | None) -> Ladder | None:
    """Return the ladder with this id or, without an id, the one played last. Raises NotFound for an unknown id.

    None if no ladder of this game and number of seats is stored and no id is given.
    """
    there = store.ladders.all(db, seated.game.name, seated.seats)
    if ladder_id is None:
        return there[0] if there else None
    for ladder in there:
        if ladder.id == ladder_id:
            return ladder
    known = ", ".join(ladder.id for ladder in there) or "none yet"
    raise store.NotFound(f"no ladder {ladder_id!r} of {seated.title}: there is {known}")


def picture(board: Leaderboard, waiting: Sequence[str] = (), *, details: bool = False) -> Group:
    """Make the picture of a leaderboard; on a narrow terminal it has fewer columns.

    `waiting` names the bots without a rated match, which the board only counts.
    """
    counts = state(board.matches)
    head = f"{heading(board)}:"
    apart = " " if len(f"{head} {counts}") <= console().width else "\n"
    rows = [_rows(board, details)] if shown_bots(board) else []
    return Group(Text(f"{head}{apart}{counts}", style="bold"), *rows, *_notes(board, waiting, details))


def _rows(board: Leaderboard, details: bool) -> Table:
    """Draw the bots. Where a terminal is too narrow, details are left out, the last one first, then the matches."""
    columns = [column for column in COLUMNS if details or not column.is_detail]
    narrow = [*(column for column in reversed(columns) if column.is_detail), BY_NAME["matches"]]
    while measured(rows := _table(board, columns)).maximum > console().width and narrow:
        columns.remove(narrow.pop(0))
    return rows


def _table(board: Leaderboard, columns: Sequence[Column]) -> Table:
    """Draw some columns. Where all fits, their widths are set: rich would take a second to find those of 2,000 bots."""
    zero, bots, names = zero_of(board), shown_bots(board), [column.name for column in columns]
    rows = table(*names, right=[name for name in names if name != "bot"])
    cells = [[column.text(bot, zero) for bot in bots] for column in columns]
    widths = [max(map(cell_len, [name, *texts])) for name, texts in zip(names, cells, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) <= console().width:
        for column, width in zip(rows.columns, widths, strict=True):
            column.width = width
    for bot, texts in zip(bots, zip(*cells, strict=True), strict=True):
        rows.add_row(*texts, style=None if bot.current and not bot.retired else "dim")
    return rows


def _notes(board: Leaderboard, waiting: Sequence[str], details: bool) -> Iterator[str]:
    """Yield the notes below the table."""
    matches, bots = board.matches, shown_bots(board)
    if bots:
        yield f"rating: {words.RATING_IS}{'' if details else '; more with --details'}"
    if any(bot.places is not None for bot in bots):
        yield words.PLACES_ARE
    if len(bots) < board.ranked:
        yield f"{len(bots):,} of {board.ranked:,} bots are shown"
    if board.provisional:
        early = matches.done - matches.rated
        yield f"provisional: matches are rated in the order of the schedule, and {early:,} of these came early"
    elif board.waiting:
        yield words.waiting_text(board.waiting, waiting, more=bool(board.bots))
    if not all(bot.sure for bot in bots):
        yield f"~ {words.UNSURE}"
    if details and bots:
        yield f"0 is the mean mu of {words.zero_bots(board.zero)}"
    if details and board.settled_matches < matches.rated:
        yield f"settled: of {board.settled_matches:,} matches, --settle brings it up to date"
    if matches.annulled:
        yield as_typed("annulled matches count for nothing here: `arena log` says why")


def _more_pictures(board: Leaderboard) -> list[RenderableType]:
    pictures: list[RenderableType] = []
    if board.cross is not UNSET and board.places is not UNSET:
        pictures += cross_picture(board.cross, _compared_bots(board), board.places)
    if board.seats is not UNSET and board.saved is not UNSET:
        pictures += seat_picture(board.seats, board.saved)
    return pictures


def _compared_bots(board: Leaderboard) -> dict[str, tuple[int, str]]:
    """Return the ranks and the names for people of the bots that met one that is compared with it, or of all."""
    met = {each.bot for each in board.cross or ()}
    return {bot.bot: (bot.rank, called(bot.bot, bot.title)) for bot in board.bots if bot.bot in met}


def _skills(board: Leaderboard) -> dict[str, tuple[float, float]]:
    """Return the mean and standard deviation of each bot's skill, above the zero of ratings, by its name for people."""
    middle = zero_of(board).mu
    return {called(bot.bot, bot.title): (bot.mu - middle, bot.sigma) for bot in shown_bots(board)}


def _watch(seated: SeatedGame, ladder_id: str | None, home: Path, look: _Look) -> None:
    with Live(console=console(), auto_refresh=False) as live:
        while True:
            begun = time.process_time()
            with store.open_read(home) as db:
                ladder = find_ladder(db, seated, ladder_id)
                waiting = Text(f"waiting for a ladder of {seated.title} in {str(home)!r} …")
                live.update(waiting if ladder is None else _watched(db, ladder, seated, home, look), refresh=True)
            time.sleep(max(_REPAINT, (time.process_time() - begun) / _WATCHING))


def _watched(db: Database, ladder: Ladder, seated: SeatedGame, home: Path, look: _Look) -> RenderableType:
    now = ladder_progress(db, ladder, running=store.database.is_running(home))
    how = pace_text(now)
    state = f"playing now{how and f': {how}'}" if now.running else "nobody plays it now"
    board = leaderboard_report.leaderboard_of(db, ladder, seated.game, partial(look.chosen.of, db))
    waiting = store.ratings.waiting(db, ladder)
    return Group(picture(board, waiting, details=look.details), Text(state, style="bold"))
