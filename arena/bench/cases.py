"""What is played, and how much of it."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from arena import games
from arena.games.dice import Dice, RandomDice
from arena.games.rules import Game

PLAYOUTS = 50
"""As many tell well enough how long a game's matches are."""


class Setting(NamedTuple):
    """How ladders are measured: by how many workers, for about how long, and where there is room."""

    jobs: int
    seconds: float
    scratch: Path

    def shorter(self, share: float) -> Setting:
        """With less to play in a repeat."""
        return self._replace(seconds=self.seconds * share)


class Case(NamedTuple):
    """A game and its players."""

    game: str
    players: int

    def __str__(self) -> str:
        return f"{self.game}/{self.players}"

    def matches(self, decisions: float) -> int:
        """How many matches of random bots have about so many decisions: always the same number, on any machine."""
        return math.ceil(decisions / _decisions_per_match(self))


REFERENCE = Case("buttons", 2)
"""What other cases are compared with."""


@cache
def _decisions_per_match(case: Case) -> float:
    game, chance = games.game(case.game), Random(1)
    return sum(playout(game, case.players, chance, RandomDice(chance)) for _ in range(PLAYOUTS)) / PLAYOUTS


def playout(game: Game[Any], seats: int, chance: Random, dice: Dice) -> int:
    """Play a match with random choices to its end; gives the number of its decisions."""
    decisions = 0
    state = game.start(seats, dice, game.options({}))
    while pending := game.pending(state):
        decisions += len(pending)
        state = game.apply(state, {seat: chance.choice(legal) for seat, legal in pending.items()}, dice)
    return decisions
