"""Learns to play BIRTH against luck: `python train.py` writes bot/weights.json.

The value of an action is linear in what is seen: the reward that is to be expected after it. Matches are played by the
values learned so far, now and then by luck, and the weights are fitted anew to all that was seen, by least squares.
"""

import json
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from arena.rl import VectorEnvironment

Numbers = npt.NDArray[np.floating]
Actions = npt.NDArray[np.intp]

ROUNDS, MATCHES = 12, 250
"""How often the weights are fitted, and after how many matches each, half of them in each seat."""
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

    def best(self, seen: Numbers, legal: Numbers) -> Actions:
        """Return the legal action of the highest value, for each row."""
        actions: Actions = np.where(legal, seen @ self.weights.T, -np.inf).argmax(axis=1)
        return actions

    def note(self, seen: Numbers, actions: Actions, rewards: Numbers) -> None:
        """Note the rewards of actions, row by row."""
        for action in range(len(self.weights)):
            chosen = actions == action
            self._sums[action] += seen[chosen].T @ seen[chosen]
            self._rewards[action] += rewards[chosen] @ seen[chosen]

    def fit(self) -> None:
        """Fit the weights to the rewards (ridge regression)."""
        self.weights = np.linalg.solve(self._sums, self._rewards[:, :, None])[:, :, 0]


def play(env: VectorEnvironment, values: Values, luck: np.random.Generator) -> Numbers:
    """Play a match of the learner against luck in each place, note them, and return the learner's rewards.

    In BIRTH every seat has as many decisions as dice, so all matches end at the same step.
    """
    seen, info = env.reset()
    over, course = np.zeros(env.num_envs, bool), []
    while not over.all():
        legal, with_one = info["action_mask"], np.column_stack([seen, np.ones(len(seen))])  # the constant
        anything = (legal * luck.random(legal.shape)).argmax(axis=1)
        actions = np.where(luck.random(len(seen)) < LUCK, anything, values.best(with_one, legal))
        course.append((with_one, actions))
        seen, rewards, over, _, info = env.step(actions)
    for with_one, actions in course:
        values.note(with_one, actions, rewards)
    return rewards.copy()


@click.command()
@click.option("--seed", default=0, show_default=True, help="Decides the dice and the learner's luck.")
def train(seed: int) -> None:
    """Learn, and write bot/weights.json."""
    luck = np.random.default_rng(seed)
    seats = [VectorEnvironment("birth", MATCHES // 2, opponents) for opponents in ([None, "random"], ["random", None])]
    for number, env in enumerate(seats):
        seen, info = env.reset(seed=2 * seed + number)
    values = Values(info["action_mask"].shape[1], seen.shape[1] + 1)
    for round_ in range(1, ROUNDS + 1):
        rewards = [play(env, values, luck) for env in seats]
        values.fit()
        click.echo(f"round {round_} of {ROUNDS}: {(1 + np.mean(rewards)) / 2:.0%} of the matches won")
    Path(__file__).with_name("bot").joinpath("weights.json").write_text(json.dumps(values.weights.round(4).tolist()))


if __name__ == "__main__":
    train()
