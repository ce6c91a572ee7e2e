"""The `arena leaderboard` command, and the leaderboard that `arena ladder` prints at its end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arena.cli.evidence import cross_data, cross_picture, percent, seat_data, seat_picture
from arena.cli.options import check_players, game_option, home_option, json_option, players_option
from arena.cli.output import console, draw, measured, print_json, progress, say, say_if_empty, table
from arena.games.rules import Game
from arena.referee.limits import Limits

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from sqlite_utils import Database

    from ladder.statistics import Evidence
    from ladder.store import Counts, Ladder, Row, Settled

REPAINT = 1.0
"""Seconds between two repaints of --watch, at least."""
WATCHING = 0.1
"""Largest share of one core that --watch uses, so that it does not slow down the ladder that it watches."""

COLUMNS = ("rank", "bot", "rating", "mu", "sigma", "settled", "points", "matches", "forfeits")
LEFT_OUT = ("settled", "sigma", "mu", "matches")
"""Columns that are left out, in this order, until the table fits into a narrow terminal."""


@click.command()
@game_option
@players_option
@click.option("--ladder", "ladder_id", metavar="ID", help="Which of several with other limits or options.")
@click.option("--cross", is_flag=True, help="Add every bot against every other, and the chances of places.")
@click.option("--by-seat", is_flag=True, help="Add what each seat is worth, and what sharing dice saved.")
@click.option("--settle", "settles", is_flag=True, help="Compute the settled ratings of all matches first.")
@click.option("--watch", is_flag=True, help="Repaint while a ladder runs in another terminal, until Ctrl-C.")
@home_option
@json_option
def leaderboard(
    game: Game[Any],
    players: int | None,
    ladder_id: str | None,
    cross: bool,
    by_seat: bool,
    settles: bool,
    watch: bool,
    home: Path,
    as_json: bool,
) -> None:
    """Show who is best, and how sure that is.

    Bots are in the order of their rating, which is mu − 3 sigma: what they are almost certainly worth, relative to the
    average of the field. ~ marks a bot that is not significantly worse than the one above it.

    \b
    Example:
      arena leaderboard --game buttons
    """
    from ladder import store

    seats = check_players(game, players)
    if watch:
        if as_json or cross or by_seat or settles or not sys.stdout.isatty():
            raise click.UsageError("--watch repaints a terminal with the leaderboard alone: leave it or the rest out")
        return _watch(game, seats, ladder_id, home)
    if settles:
        _settle(game, seats, ladder_id, home)
    with store.open_read(home) as db:
        ladder = find(db, game, seats, ladder_id)
        if ladder is None:
            return _nothing(db, game, seats, home, as_json)
        board = read(db, ladder)
        if as_json:
            return print_json(as_data(board, game) | _more_data(board, cross, by_seat))
        return draw(picture(board, game), *_more_pictures(board, cross, by_seat), wide=cross)


def _settle(game: Game[Any], seats: int, ladder_id: str | None, home: Path) -> None:
    from ladder import store

    with store.open_read(home) as db:
        ladder = find(db, game, seats, ladder_id)
    if ladder is not None:
        with store.open(home) as db:
            settle(db, ladder)


def settle(db: Database, ladder: Ladder) -> None:
    """Bring a ladder's settled ratings up to date, with progress."""
    from ladder import store

    with progress("settled ratings", "passes", at_most=True) as report:
        store.settle(db, ladder, report)


def _nothing(db: Database, game: Game[Any], seats: int, home: Path, as_json: bool) -> None:
    from ladder import store

    if as_json:
        return print_json({"game": game.name, "players": seats, "ladder": None, "bots": []})
    say_if_empty(db, home)
    say(f"no ladder of {title(game, seats)} in {str(home)!r} yet")
    for others in sorted({ladder.key.seats for ladder in store.ladders(db, game.name)}):
        say(f"there is one of {others} players: arena leaderboard --game {game.name} --players {others}")
    return say(f"play one: arena ladder --game {game.name} --players {seats}")


def find(db: Database, game: Game[Any], seats: int, ladder_id: str | None) -> Ladder | None:
    """Return the ladder with this id or, without an id, the one played last. Raises NotFound for an unknown id.

    None if no ladder of this game and number of seats is stored and no id is given.
    """
    from ladder import store

    there = store.ladders(db, game.name, seats)
    if ladder_id is None:
        return there[0] if there else None
    for ladder in there:
        if ladder.id == ladder_id:
            return ladder
    known = ", ".join(ladder.id for ladder in there) or "none yet"
    raise store.NotFound(f"no ladder {ladder_id!r} of {title(game, seats)}: there is {known}")


def title(game: Game[Any], seats: int) -> str:
    """Return the name of a ladder for people: "Buttons, 2 players"."""
    return f"{game.title}, {seats} players"


class Board(NamedTuple):
    """A ladder's leaderboard with everything that is shown on it."""

    ladder: Ladder
    rows: list[Row]
    counts: Counts
    settled: Settled
    evidence: Evidence
    waiting: int
    """Number of bots of the field without a rated match."""
    provisional: list[Row]
    """The rows as they would be if all matches that are done were rated; empty if they are."""

    @property
    def field(self) -> list[Row]:
        """Rows of the newest versions that are not retired; if there are none, all rows."""
        return [row for row in self.rows if row.current and not row.retired] or self.rows

    @property
    def centre(self) -> float:
        """The mean mu of the field."""
        return fmean(row.mu for row in self.field) if self.rows else 0.0

    @property
    def settled_centre(self) -> float:
        """The mean settled mu of those bots of the field that have one; 0 if none has."""
        ratings = self.settled.ratings
        known = [ratings[row.label].mu for row in self.field if row.label in ratings]
        return fmean(known) if known else 0.0

    @property
    def rated(self) -> int:
        """Number of matches that are counted in the ratings."""
        return sum(row.matches for row in self.rows) // self.ladder.key.seats

    def sure(self, place: int) -> bool:
        """Return whether the bot at `place`, from 0, is known to be worse than the one above it; True for the first."""
        return place == 0 or self.evidence.in_order(self.rows[place - 1].label, self.rows[place].label)


def read(db: Database, ladder: Ladder) -> Board:
    """Read everything that a leaderboard shows, from one state of the database."""
    from ladder import store

    with store.one_state(db):
        rows, provisional = store.leaderboard(db, ladder), store.provisional(db, ladder)
        counts, settled, evidence = store.counts(db, ladder), store.find_settled(db, ladder), store.evidence(db, ladder)
        return Board(ladder, rows, counts, settled, evidence, store.waiting(db, ladder), provisional)


def as_data(board: Board, game: Game[Any]) -> dict[str, Any]:
    """Return a ladder's leaderboard as plain data for programs; `bots` are in order, the best first."""
    key = board.ladder.key
    return {
        "game": game.name,
        "players": key.seats,
        "ladder": board.ladder.id,
        "options": key.options,
        "limits": key.limits,
        "rules_version": key.rules_version,
        "matches": {
            "to_play": board.counts.scheduled,
            "done": board.counts.done,
            "rated": board.rated,
            "unplayable": board.counts.unplayable,
            "dropped": board.counts.dropped,
        },
        "centre": board.centre,
        "settled_centre": board.settled_centre,
        "settled_matches": board.settled.matches,
        "bots": [_bot(board, place) for place in range(len(board.rows))],
        "provisional": [{"rank": row.place, "bot": row.label, **_numbers(row)} for row in board.provisional],
    }


def _numbers(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in ("place", "label")}


def _bot(board: Board, place: int) -> dict[str, Any]:
    row = board.rows[place]
    label = row.label
    settled, points = board.settled.ratings.get(label), board.evidence.score(label)
    return {
        "rank": row.place,
        "bot": label,
        **_numbers(row),
        "settled": settled and settled._asdict(),
        "points": points and points._asdict(),
        "sure": board.sure(place),
    }


def picture(board: Board, game: Game[Any]) -> Group:
    """Return the leaderboard as people see it; in a narrow terminal it has fewer columns."""
    from rich.console import Group
    from rich.text import Text

    settings = "".join(f", {setting}" for setting in unusual(game, board.ladder))
    state = _state(board.counts, board.rated)
    head = f"{title(game, board.ladder.key.seats)}{settings} (ladder {board.ladder.id}):"
    apart = " " if len(f"{head} {state}") <= console().width else "\n"
    seen = board._replace(rows=board.provisional or board.rows)
    rows = [_rows(seen)] if seen.rows else []
    return Group(Text(f"{head}{apart}{state}", style="bold"), *rows, *_notes(board, seen))


def _rows(board: Board) -> Table:
    width, left_out = console().width, list(LEFT_OUT)
    columns = list(COLUMNS)
    while measured(made := _table(board, columns)).maximum > width and left_out:
        columns.remove(left_out.pop(0))
    return made


def _table(board: Board, columns: Sequence[str]) -> Table:
    rows = table(*columns, right=[column for column in columns if column != "bot"])
    for place, row in enumerate(board.rows):
        cells = dict(zip(COLUMNS, _cells(board, place, row), strict=True))
        style = None if row.current and not row.retired else "dim"
        rows.add_row(*(cells[column] for column in columns), style=style)
    return rows


def _cells(board: Board, place: int, row: Row) -> list[str]:
    label = row.label + (" (retired)" if row.retired else "" if row.current else " (older)")
    settled = board.settled.ratings.get(row.label)
    return [
        f"{row.place}" if board.sure(place) else f"~{row.place}",
        label,
        f"{row.shown - board.centre:.2f}",
        f"{row.mu - board.centre:+.2f}",
        f"{row.sigma:.2f}",
        f"{settled.mu - board.settled_centre:+.2f}" if settled else "–",
        percent(board.evidence.score(row.label)),
        f"{row.matches:,}",
        str(row.forfeits),
    ]


def _notes(board: Board, seen: Board) -> Iterator[str]:
    """Yield the notes below the rows that are shown; `seen` has those rows, which may be provisional."""
    if board.provisional:
        early = board.counts.done - board.rated
        yield f"provisional: matches are rated in the order of the schedule, and {early:,} of these came early"
    elif board.waiting:
        more = "more " if board.rows else ""
        yield f"{board.waiting:,} {more}bot{'s have' if board.waiting > 1 else ' has'} no rated match yet"
    if not all(map(seen.sure, range(len(seen.rows)))):
        yield "~ not certainly worse than the bot above it: more rounds would tell"
    if board.settled.matches < board.rated:
        yield f"settled: of {board.settled.matches:,} matches, arena leaderboard --settle brings it up to date"


def _more_data(board: Board, cross: bool, by_seat: bool) -> dict[str, Any]:
    bots, field = ([row.label for row in rows] for rows in (board.rows, board.field))
    return (cross_data(board.evidence, bots, field) if cross else {}) | (seat_data(board.evidence) if by_seat else {})


def _more_pictures(board: Board, cross: bool, by_seat: bool) -> list[RenderableType]:
    bots, field = ([row.label for row in rows] for rows in (board.rows, board.field))
    pictures = cross_picture(board.evidence, bots, field) if cross else []
    return pictures + (seat_picture(board.evidence) if by_seat else [])


def unusual(game: Game[Any], ladder: Ladder) -> list[str]:
    """Return in words which limits and options are not the default: they tell ladders of one game apart."""
    usual = Limits().plain()
    limits = [f"{name} {value:g} s" for name, value in ladder.key.limits.items() if value != usual[name]]
    normal = json.loads(json.dumps(game.options({})))
    return limits + [f"own {name}" for name, value in ladder.key.options.items() if value != normal.get(name)]


def _state(counts: Counts, rated: int) -> str:
    state = f"{counts.done:,} matches"
    if rated < counts.done:  # matches are rated in the order of the schedule, and an earlier one is not done yet
        state += f", {rated:,} rated"
    if counts.scheduled:
        state += f", {counts.scheduled:,} to play"
    if counts.unplayable:
        state += f", {counts.unplayable:,} unplayable"
    if counts.dropped:
        state += f", {counts.dropped:,} dropped"
    return state


def _watch(game: Game[Any], seats: int, ladder_id: str | None, home: Path) -> None:
    from rich.live import Live
    from rich.text import Text

    from ladder import store

    with Live(console=console(), auto_refresh=False) as live:
        while True:
            begun = time.process_time()
            with store.open_read(home) as db:
                ladder = find(db, game, seats, ladder_id)
                waiting = Text(f"waiting for a ladder of {title(game, seats)} in {str(home)!r} …")
                live.update(waiting if ladder is None else picture(read(db, ladder), game), refresh=True)
            time.sleep(max(REPAINT, (time.process_time() - begun) / WATCHING))
