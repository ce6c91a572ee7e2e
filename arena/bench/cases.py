"""The cases of the benchmark: what is played, and how much of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

from arena import games
from arena.games.dice import Dice, RandomDice
from arena.games.rules import Game

_PLAYOUTS = 50
"""Number of random matches whose mean length is taken for the length of a game's matches; some dozens would do."""


Say: TypeAlias = Callable[[str], None]
"""Callback that shows people what is going on, in one line."""


def _nothing(_line: str) -> None:
    """Show nobody anything."""


class BenchSetting(NamedTuple):
    """How ladders are measured: with how many workers, for about how many seconds, in which folder, and who hears."""

    jobs: int
    seconds: float
    scratch: Path
    say: Say = _nothing

    def shorter(self, share: float) -> BenchSetting:
        """Return the setting with only this share of the seconds in each repeat."""
        return self._replace(seconds=self.seconds * share)


class Case(NamedTuple):
    """A game and its number of players."""

    game: str
    players: int

    def __str__(self) -> str:
        return f"{self.game}/{self.players}"

    def matches(self, decisions: float) -> int:
        """Return how many matches of random bots have about so many decisions: the same number on any machine."""
        return math.ceil(decisions / _decisions_per_match(self))


REFERENCE = Case("buttons", 2)
"""The case with which others are compared."""


@cache
def _decisions_per_match(case: Case) -> float:
    game, chance = games.game(case.game), Random(1)
    return sum(playout(game, case.players, chance, RandomDice(chance)) for _ in range(_PLAYOUTS)) / _PLAYOUTS


def playout(game: Game[Any], seats: int, chance: Random, dice: Dice) -> int:
    """Play a match to its end with random choices; return the number of its decisions."""
    decisions = 0
    state = game.start(seats, dice, game.options({}))
    while pending := game.pending(state):
        decisions += len(pending)
        state = game.apply(state, {seat: chance.choice(legal) for seat, legal in pending.items()}, dice)
    return decisions
