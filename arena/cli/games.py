"""arena games."""

from __future__ import annotations

import click

from arena import games as registry
from arena.cli.common import console, json_option, print_json, table


@click.command()
@json_option
def games(as_json: bool) -> None:
    """List the games and the options of each.

    \b
    Example:
      arena games
    """
    all_games = [registry.game(name) for name in registry.names()]
    if as_json:
        return print_json(
            {
                "games": [
                    {
                        "name": game.name,
                        "title": game.title,
                        "players": list(game.seats),
                        "actions": game.actions,
                        "rules_version": game.rules_version,
                        "options": dict(game.defaults),
                    }
                    for game in all_games
                ]
            }
        )
    rows = table("game", "title", "players", "options (-o NAME=JSON)")
    for game in all_games:
        rows.add_row(game.name, game.title, f"{game.seats[0]}–{game.seats[-1]}", ", ".join(game.defaults))
    console().print(rows)
    return None
