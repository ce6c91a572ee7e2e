"""The built-in bots, all in one program: `bot.py NAME`. bots.toml says who they are and what they play."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random
from typing import Any, ClassVar, TypeAlias

from arena_bot import Bot, Turn, run

Strategy: TypeAlias = Callable[[Any, int, Sequence[int], Random], int]
"""From a state, the own seat, the legal actions and a source of luck to one of the actions."""


class Uniform(Bot):
    """Plays any game: every legal action is as likely as the others."""

    def choose(self, turn: Turn) -> int:
        return self.random.choice(turn.legal)


class Strategist(Bot):
    """Plays the strategy of one name, in whatever game the match is of."""

    name: ClassVar[str]
    strategy: Strategy

    def start(self) -> None:
        self.strategy = find(self.game, self.name)

    def choose(self, turn: Turn) -> int:
        return self.strategy(turn.state, self.seat, turn.legal, self.random)


def find(game: str, name: str) -> Strategy:
    """A game's strategy of a name. Raises SystemExit if that bot does not play that game."""
    # A script's own folder is on sys.path. Only the game that is played is imported: starts are to be quick.
    strategies: dict[str, Strategy] = import_module(game.replace("-", "_")).STRATEGIES
    if name not in strategies:
        raise SystemExit(f"{name} does not play {game}: random, {', '.join(strategies)} do")
    return strategies[name]


def player(name: str) -> type[Bot]:
    """The class that plays as the built-in bot of a name."""
    if name == "random":
        return Uniform
    Strategist.name = name
    return Strategist


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: bot.py NAME, with a name of bots.toml")
    run(player(sys.argv[1]))
