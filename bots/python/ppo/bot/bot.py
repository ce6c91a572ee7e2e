"""Plays BIRTH by the network that train.py leaves here: the legal action of the highest value."""

import json
from math import tanh
from pathlib import Path

from arena.games.observation import observation
from arena_bot import Bot, Turn, run

LAYERS: list[tuple[list[list[float]], list[float]]] = json.loads(Path("weights.json").read_text())
"""By layer: for each of its numbers the weights of those before it, then what is added to each."""


def values(seen: list[float]) -> list[float]:
    """Return a value for each action."""
    *hidden, last = LAYERS
    for layer in hidden:
        seen = [tanh(value) for value in added(layer, seen)]
    return added(last, seen)


def added(layer: tuple[list[list[float]], list[float]], seen: list[float]) -> list[float]:
    """Return the weighted sums of a layer."""
    there = [(place, value) for place, value in enumerate(seen) if value]
    return [bias + sum(row[place] * value for place, value in there) for row, bias in zip(*layer, strict=True)]


class Ppo(Bot):
    def choose(self, turn: Turn) -> int:
        value = values(observation(self.game, turn.state, self.seat))
        return max(turn.legal, key=value.__getitem__)


run(Ppo)
