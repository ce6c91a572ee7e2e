"""The games that this arena plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena import games as registry
from arena.reports.base import Report


class ListedGame(Report):
    """A game, with its options and their defaults."""

    name: str
    """As `--game` takes it."""
    title: str
    """Its name for people."""
    players: Sequence[int]
    """Numbers of players that it is for."""
    actions: int
    """Actions are numbered from 0 to one less than this."""
    rules_version: int
    """Ladders of another version are other ladders."""
    options: Mapping[str, Any]
    """Names, as `--option` takes them, with their defaults."""


class Games(Report):
    """All games there are."""

    games: Sequence[ListedGame]
    """In the order of their names."""


def games_list() -> Games:
    """List all games."""
    everything = [registry.game(name) for name in registry.names()]
    return Games(
        games=[
            ListedGame(
                name=game.name,
                title=game.title,
                players=tuple(game.seats),
                actions=game.actions,
                rules_version=game.rules_version,
                options=dict(game.defaults),
            )
            for game in everything
        ]
    )
