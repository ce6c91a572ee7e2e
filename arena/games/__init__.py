"""The games, found by name through the entry-point group `arena.games`.

A game made outside the project is listed the moment its package is installed.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from arena.games.dice import Dice, KeyedDice, RandomDice, ScriptedDice, commitment
from arena.games.rules import BadOption, Game, Options, Seat

__all__ = [
    "BadOption",
    "Dice",
    "Game",
    "KeyedDice",
    "Options",
    "RandomDice",
    "ScriptedDice",
    "Seat",
    "UnknownGame",
    "commitment",
    "game",
    "names",
]


class UnknownGame(LookupError):
    """No game has this name; the message lists those there are."""


@cache
def names() -> tuple[str, ...]:
    """Every game's name, sorted."""
    return tuple(sorted({entry.name for entry in entry_points(group="arena.games")}))


@cache
def game(name: str) -> Game[Any]:
    """The game of a name. Raises UnknownGame."""
    for entry in entry_points(group="arena.games", name=name):
        made: Game[Any] = entry.load()()
        return made
    raise UnknownGame(f"unknown game {name!r}: games are {', '.join(names())}")
