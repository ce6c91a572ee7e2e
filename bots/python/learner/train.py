"""Learns to play BIRTH against luck: `python train.py` writes bot/weights.json.

The value of an action is linear in what is seen: the reward that is to be expected after it. Matches are played by the
values learned so far, now and then by luck, and the weights are fitted anew to all that was seen, by least squares.
"""

import json
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from arena.rl import Environment

Numbers = npt.NDArray[np.floating]
Actions = npt.NDArray[np.intp]

ROUNDS, MATCHES = 12, 250
"""How often the weights are fitted, and after how many matches each."""
LUCK = 0.2
"""How often the learner tries what is not the best it knows."""
RIDGE = 10.0
"""Holds weights down of which little was seen."""


class Values:
    """The value of every action, linear in what is seen; `sums` and `rewards` are what a fit needs."""

    def __init__(self, actions: int, seen: int) -> None:
        self.weights: Numbers = np.zeros((actions, seen))
        self._sums = np.stack([RIDGE * np.eye(seen)] * actions)
        self._rewards = np.zeros((actions, seen))

    def best(self, seen: Numbers, legal: Actions) -> int:
        """Return the legal action of the highest value."""
        return int(legal[np.argmax(self.weights[legal] @ seen)])

    def note(self, seen: Numbers, action: int, reward: float) -> None:
        """Note the reward of an action."""
        self._sums[action] += np.outer(seen, seen)
        self._rewards[action] += reward * seen

    def fit(self) -> None:
        """Fit the weights to the rewards (ridge regression)."""
        self.weights = np.linalg.solve(self._sums, self._rewards[:, :, None])[:, :, 0]


def seen_by(env: Environment, agent: str) -> tuple[Numbers, Actions]:
    """Return what an agent sees, with a 1 for the constant, and its legal actions."""
    observed = env.observe(agent)
    return np.append(observed["observation"], 1.0), np.flatnonzero(observed["action_mask"])


def play(env: Environment, values: Values, learner: str, luck: np.random.Generator) -> float:
    """Play a match of the learner against luck, note it when it is over, and return the learner's reward."""
    env.reset()
    course = []
    while not env.terminations[learner]:
        seen, legal = seen_by(env, env.agent_selection)
        if env.agent_selection != learner:
            action = int(luck.choice(legal))
        else:
            action = int(luck.choice(legal)) if luck.random() < LUCK else values.best(seen, legal)
            course.append((seen, action))
        env.step(action)
    for seen, action in course:
        values.note(seen, action, env.rewards[learner])
    return env.rewards[learner]


@click.command()
@click.option("--seed", default=0, show_default=True, help="Decides the dice and the learner's luck.")
def train(seed: int) -> None:
    """Learn, and write bot/weights.json."""
    env, luck = Environment("birth"), np.random.default_rng(seed)
    env.reset(seed=seed)
    values = Values(env.game.actions, len(seen_by(env, "seat_0")[0]))
    for round_ in range(1, ROUNDS + 1):
        rewards = [play(env, values, env.possible_agents[match % 2], luck) for match in range(MATCHES)]
        values.fit()
        click.echo(f"round {round_} of {ROUNDS}: {(1 + np.mean(rewards)) / 2:.0%} of the matches won")
    Path(__file__).with_name("bot").joinpath("weights.json").write_text(json.dumps(values.weights.round(4).tolist()))


if __name__ == "__main__":
    train()
