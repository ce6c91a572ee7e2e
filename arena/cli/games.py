"""The `arena games` command."""

from __future__ import annotations

import json

import click

from arena.reports import games_report
from arena.reports.games_report import ListedGame
from arena.terminal.options import json_option
from arena.terminal.output import draw, print_json, table

_LONG = 12
"""Largest number of characters of an option's default that is shown; a longer default is shown as "…"."""


@click.command()
@json_option
def games(as_json: bool) -> None:
    """List the games and the options of each.

    \b
    Example:
      arena games
    """
    report = games_report.games_list()
    if as_json:
        return print_json(report)
    rows = table("game", "title", "players", "options (-o NAME=JSON)")
    for game in report.games:
        rows.add_row(game.name, game.title, f"{game.players[0]}–{game.players[-1]}", ", ".join(_options(game)))
    return draw(rows)


def _options(game: ListedGame) -> list[str]:
    values = {name: json.dumps(value) for name, value in game.options.items()}
    return [f"{name}={value if len(value) <= _LONG else '…'}" for name, value in values.items()]
