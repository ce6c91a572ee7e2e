"""Plays BIRTH by the weights that train.py leaves here: the legal action of the highest value."""

import json
from pathlib import Path

from arena.games.observation import observation
from arena_bot import Bot, Turn, run

WEIGHTS: list[list[float]] = json.loads(Path("weights.json").read_text())
"""By action: a weight for each number of the observation, then a constant."""


class Learner(Bot):
    def choose(self, turn: Turn) -> int:
        seen = [*observation(self.game, turn.state, self.seat), 1.0]
        return max(turn.legal, key=lambda action: sum(w * x for w, x in zip(WEIGHTS[action], seen, strict=True) if x))


run(Learner)
