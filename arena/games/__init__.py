"""The games by name: ours, and those of other packages, found through the entry-point group `arena.games`.

A game made outside the project is listed the moment its package is installed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.games.dice import Dice, KeyedDice, RandomDice, ScriptedDice, commitment
from arena.games.rules import BadOption, Game, Options, Seat
from arena.suggest import unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

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

# Not entry points like the others: to look for those takes longer than a bot's whole start.
_OURS = {
    "birth": "arena.games.birth:Birth",
    "burning-desire": "arena.games.burning_desire:BurningDesire",
    "buttons": "arena.games.buttons:Buttons",
}


class UnknownGame(LookupError):
    """No game has this name; the message lists those there are."""


@cache
def names() -> tuple[str, ...]:
    """Every game's name, sorted."""
    return tuple(sorted({*_OURS, *(entry.name for entry in _others())}))


@cache
def game(name: str) -> Game[Any]:
    """The game of a name. Raises UnknownGame."""
    if name in _OURS:
        module, _, made = _OURS[name].partition(":")
        ours: Game[Any] = getattr(import_module(module), made)()
        return ours
    for entry in _others():
        if entry.name == name:
            other: Game[Any] = entry.load()()
            return other
    raise UnknownGame(unknown("game", name, names()))


def _others() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group="arena.games")
