"""Games by name: those of this project, and those of other packages in the entry-point group `arena.games`.

A game from another package is listed as soon as its package is installed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.base.suggest import unknown
from arena.games.dice import Dice, KeyedDice, RandomDice, ScriptedDice, commitment
from arena.games.rules import BadOption, Game, Options, Seat

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

_OURS = {
    "birth": "arena.games.birth:Birth",
    "burning-desire": "arena.games.burning_desire:BurningDesire",
    "buttons": "arena.games.buttons:Buttons",
}
"""The arena's own games, by name: module and class.

Not entry points, unlike games from other packages: looking those up takes longer than a whole start of a bot.
"""


class UnknownGame(LookupError):
    """Error for a name that no game has; the message lists the known games."""


@cache
def names() -> tuple[str, ...]:
    """Return the names of all games, sorted."""
    return tuple(sorted({*_OURS, *(entry.name for entry in _entry_points())}))


@cache
def game(name: str) -> Game[Any]:
    """Return the game with this name. Raises UnknownGame."""
    if name in _OURS:
        module, _, class_name = _OURS[name].partition(":")
        ours: Game[Any] = getattr(import_module(module), class_name)()
        return ours
    for entry in _entry_points():
        if entry.name == name:
            added_game: Game[Any] = entry.load()()
            return added_game
    raise UnknownGame(unknown("game", name, names()))


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points

    return entry_points(group="arena.games")
