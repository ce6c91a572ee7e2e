"""Learns to play BIRTH with MaskablePPO of sb3-contrib: `python train.py` writes bot/weights.json.

Two environments take turns, so that both seats are learnt. Rewards come only at the end and are not discounted.
"""

import json
from pathlib import Path
from typing import Any

import click
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from arena.rl import SingleAgent


def layers(policy: Any) -> list[tuple[list[list[float]], list[float]]]:
    """Return what the bot computes: of each layer, from the first, the weights and then what is added to them."""
    linear = [*(layer for layer in policy.mlp_extractor.policy_net if hasattr(layer, "weight")), policy.action_net]
    return [(layer.weight.tolist(), layer.bias.tolist()) for layer in linear]


@click.command()
@click.option("--steps", default=100_000, show_default=True, help="Decisions of the learner.")
@click.option("--opponent", default="random", show_default=True, help="Who plays the other seat.")
@click.option("--seed", default=0, show_default=True, help="Decides the dice and the learner's luck.")
def train(steps: int, opponent: str, seed: int) -> None:
    """Learn, and write bot/weights.json."""
    seats = [None, opponent], [opponent, None]
    env = VecMonitor(DummyVecEnv([lambda players=players: SingleAgent("birth", players) for players in seats]))
    model = MaskablePPO("MlpPolicy", env, n_steps=1024, batch_size=256, gamma=1.0, ent_coef=0.01, seed=seed, verbose=1)
    model.learn(steps)
    env.close()
    Path(__file__).with_name("bot").joinpath("weights.json").write_text(json.dumps(layers(model.policy)))


if __name__ == "__main__":
    train()
