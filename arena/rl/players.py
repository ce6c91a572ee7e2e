"""Players as people name them: bots by name or path, functions, and classes of the SDK."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

from arena.games.rules import Game
from arena.rl.other_players import BadOpponent, BuiltIn, Chooser, Opponent, PlayerFunction, Seated, built_in
from arena.rl.program_players import ProgramPlayer
from arena_bot import Bot

Player: TypeAlias = str | PlayerFunction | type[Bot]
"""A bot by name or path, a function, or a class of the SDK."""


def opponent(game: Game[Any], player: Player) -> Opponent:
    """Return who plays as a player says. Raises BadOpponent."""
    if isinstance(player, str):
        if (strategy := built_in(game.name, player)) is not None:
            return BuiltIn(game.name, player, strategy)
        return ProgramPlayer(game, player)
    if isinstance(player, type):
        if issubclass(player, Bot):
            return Seated(player.__name__, player, updates=player.updates)
    elif callable(player):
        name = getattr(player, "__name__", type(player).__name__)
        return Seated(name, partial(Chooser, player), updates=False)
    raise BadOpponent(f"{player!r} is no player: name a bot, or give a function of a turn")
