"""Players as people name them: bots by name or path, functions, and classes of the SDK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from arena.games.rules import Game
from arena.rl.opponents import BadOpponent, BuiltIn, Opponent, Seated, built_in
from arena.rl.program import Program
from arena_bot import Bot, Turn

Function: TypeAlias = Callable[[Turn], int]
"""What chooses one of a turn's legal actions."""
Player: TypeAlias = str | Function | type[Bot]
"""A bot by name or path, a function, or a class of the SDK."""


def opponent(game: Game[Any], player: Player) -> Opponent:
    """Return who plays as a player says. Raises BadOpponent."""
    if isinstance(player, str):
        if (strategy := built_in(game.name, player)) is not None:
            return BuiltIn(player, strategy)
        return Program(game, player)
    if isinstance(player, type):
        if issubclass(player, Bot):
            return Seated(player)
    elif callable(player):
        return Seated(_bot_class(player))
    raise BadOpponent(f"{player!r} is no player: name a bot, or give a function of a turn")


def _bot_class(function: Function) -> type[Bot]:
    """Return a bot whose choices a function makes."""
    name = getattr(function, "__name__", type(function).__name__)
    return type(name, (Bot,), {"choose": lambda _, turn: function(turn)})
