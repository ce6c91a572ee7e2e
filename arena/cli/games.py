"""The `arena games` command."""

from __future__ import annotations

import json
from typing import Any

import click

from arena import games as registry
from arena.cli.options import json_option
from arena.cli.output import draw, print_json, table
from arena.games.rules import Game

LONG = 12
"""Largest length, in characters, of an option's default that is shown; longer ones are shown as "…"."""


@click.command()
@json_option
def games(as_json: bool) -> None:
    """List the games and the options of each.

    \b
    Example:
      arena games
    """
    everything = [registry.game(name) for name in registry.names()]
    if as_json:
        return print_json({"games": [_plain(game) for game in everything]})
    rows = table("game", "title", "players", "options (-o NAME=JSON)")
    for game in everything:
        rows.add_row(game.name, game.title, f"{game.seats[0]}–{game.seats[-1]}", ", ".join(_options(game)))
    return draw(rows)


def _options(game: Game[Any]) -> list[str]:
    values = {name: json.dumps(value) for name, value in game.defaults.items()}
    return [f"{name}={value if len(value) <= LONG else '…'}" for name, value in values.items()]


def _plain(game: Game[Any]) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "players": list(game.seats),
        "actions": game.actions,
        "rules_version": game.rules_version,
        "options": dict(game.defaults),
    }
