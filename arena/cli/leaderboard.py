"""arena leaderboard, and the leaderboard that a ladder ends with."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import check_players, game_option, home_option, json_option, players_option
from arena.cli.output import console, draw, print_json, say, table
from arena.clock import Limits
from arena.games.rules import Game

if TYPE_CHECKING:
    from rich.console import Group
    from sqlite_utils import Database

    from ladder.store import Counts, Ladder, Row

REPAINT = 1.0
"""Seconds between two looks of --watch."""


@click.command()
@game_option
@players_option
@click.option("--ladder", "ladder_id", metavar="ID", help="One of several with other limits or options.")
@click.option("--watch", is_flag=True, help="Repaint while a ladder runs in another terminal, until Ctrl-C.")
@home_option
@json_option
def leaderboard(
    game: Game[Any], players: int | None, ladder_id: str | None, watch: bool, home: Path, as_json: bool
) -> None:
    """Show who is best.

    Bots are in the order of their rating, which is mu − 3 sigma: what they are almost certainly worth.

    \b
    Example:
      arena leaderboard --game buttons
    """
    from ladder import store

    seats = check_players(game, players)
    if watch:
        return _watch(game, seats, ladder_id, home, as_json)
    with store.open_read(home) as db:
        ladder = find(db, game, seats, ladder_id)
        if ladder is None:
            return _nothing(game, seats, home, as_json)
        return print_json(as_data(db, game, ladder)) if as_json else draw(picture(db, game, ladder))


def _nothing(game: Game[Any], seats: int, home: Path, as_json: bool) -> None:
    if as_json:
        return print_json({"game": game.name, "players": seats, "ladder": None, "bots": []})
    say(f"no ladder of {title(game, seats)} in {str(home)!r} yet")
    return say(f"play one: arena ladder --game {game.name} --players {seats}")


def find(db: Database, game: Game[Any], seats: int, ladder_id: str | None) -> Ladder | None:
    """The ladder to show: the one named, else the one played last."""
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
    """A ladder in words: "Buttons, 2 players"."""
    return f"{game.title}, {seats} players"


def as_data(db: Database, game: Game[Any], ladder: Ladder) -> dict[str, Any]:
    """A ladder's leaderboard for programs; `bots` are in order, the best first."""
    from ladder import store

    return {
        "game": game.name,
        "players": ladder.key.seats,
        "ladder": ladder.id,
        "options": ladder.key.options,
        "limits": ladder.key.limits,
        "rules_version": ladder.key.rules_version,
        "matches": store.counts(db, ladder)._asdict(),
        "bots": [_bot(row) for row in store.leaderboard(db, ladder)],
    }


def _bot(row: Row) -> dict[str, Any]:
    data = row._asdict()
    return {"rank": data.pop("place"), "bot": data.pop("label"), **data}


def picture(db: Database, game: Game[Any], ladder: Ladder) -> Group:
    """The leaderboard for people."""
    from rich.console import Group
    from rich.text import Text

    from ladder import store

    two = ladder.key.seats == 2
    places = ("wins", "ties", "losses") if two else ("mean rank", "wins")
    numbers = ("rank", "rating", "mu", "sigma", "matches", *places, "forfeits")
    rows = table("rank", "bot", *numbers[1:], right=numbers)
    board = store.leaderboard(db, ladder)
    for row in board:
        style = None if row.current and not row.retired else "dim"
        label = row.label + (" (retired)" if row.retired else "" if row.current else " (older)")
        own = (row.wins, row.ties, row.losses) if two else (f"{row.mean_rank:.2f}", row.wins)
        skill = (f"{row.shown:.2f}", f"{row.mu:.2f}", f"{row.sigma:.2f}", f"{row.matches:,}")
        rows.add_row(str(row.place), label, *skill, *map(str, own), str(row.forfeits), style=style)
    rated = sum(row.matches for row in board) // ladder.key.seats
    settings = "".join(f", {setting}" for setting in unusual(game, ladder))
    state = _state(store.counts(db, ladder), rated)
    head = f"{title(game, ladder.key.seats)}{settings} (ladder {ladder.id}): {state}"
    return Group(Text(head, style="bold"), rows)


def unusual(game: Game[Any], ladder: Ladder) -> list[str]:
    """What is set otherwise than usual: it tells ladders of one game apart."""
    usual = Limits().plain()
    limits = [f"{name} {value:g} s" for name, value in ladder.key.limits.items() if value != usual[name]]
    normal = json.loads(json.dumps(game.options({})))
    return limits + [f"own {name}" for name, value in ladder.key.options.items() if value != normal.get(name)]


def _state(counts: Counts, rated: int) -> str:
    state = f"{counts.done:,} matches"
    if rated < counts.done:  # they are rated in the order of the schedule, and one of the next is still being played
        state += f", {rated:,} rated"
    if counts.scheduled:
        state += f", {counts.scheduled:,} to play"
    if counts.unplayable:
        state += f", {counts.unplayable:,} unplayable"
    return state


def _watch(game: Game[Any], seats: int, ladder_id: str | None, home: Path, as_json: bool) -> None:
    if as_json or not sys.stdout.isatty():
        raise click.UsageError("--watch repaints a terminal: leave it out where the output goes elsewhere")
    from rich.live import Live
    from rich.text import Text

    from ladder import store

    with Live(console=console(), auto_refresh=False) as live:
        while True:
            with store.open_read(home) as db:
                ladder = find(db, game, seats, ladder_id)
                waiting = Text(f"waiting for a ladder of {title(game, seats)} in {str(home)!r} …")
                live.update(waiting if ladder is None else picture(db, game, ladder), refresh=True)
            time.sleep(REPAINT)
