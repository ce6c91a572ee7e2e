"""Environments are copied and pickled: the copy goes on exactly as the original does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from arena.rl import Environment, SingleAgent, VectorEnvironment
from arena_bot import Bot, Turn
from tests.core.switched import core_switched

PLAYERS = {"birth": "greedy", "burning-desire": "cautious", "buttons": "cautious"}
GAMES = tuple(PLAYERS)
WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}
LAST = """
from arena_bot import Bot, run

class Last(Bot):
    def choose(self, turn):
        return turn.legal[-1]

run(Last)
"""


def last(turn: Turn) -> int:
    """Choose the last of the legal actions."""
    return turn.legal[-1]


class Lucky(Bot):
    """A bot with luck of its own, which a copy has to go on with."""

    updates = True

    def choose(self, turn: Turn) -> int:
        return self.random.choice(turn.legal)


def played(env: Any, decisions: int) -> list[Any]:
    """Play on, and return all that was to be seen: the choices are the same for the same environment."""
    luck, seen = np.random.default_rng(5), []
    for _ in range(decisions):
        if all(env.terminations.values()):
            env.reset()
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(luck.choice(np.flatnonzero(mask))))
        now = env.observe(env.agent_selection)
        seen += [now["observation"].tolist(), now["action_mask"].tolist(), dict(env.rewards), env.agent_selection]
    return seen


def played_alone(env: Any, decisions: int) -> list[Any]:
    luck, seen = np.random.default_rng(5), []
    for _ in range(decisions):
        masks = env.unwrapped.action_masks()
        row, reward, over, cut, info = env.step(int(luck.choice(np.flatnonzero(masks))))
        seen += [row.tolist(), reward, over, cut, info["action_mask"].tolist()]
        if over or cut:
            seen.append(env.reset()[0].tolist())
    return seen


def played_many(env: VectorEnvironment, steps: int) -> list[Any]:
    luck, seen = np.random.default_rng(5), []
    for _ in range(steps):
        masks = env._arrays.masks
        actions = np.array([luck.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])
        row, reward, over, cut, info = env.step(actions)
        seen += [row.tolist(), reward.tolist(), over.tolist(), cut.tolist(), info["action_mask"].tolist()]
    return seen


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("player", [None, "random", "built-in", last, Lucky])
def test_a_copy_of_an_environment_goes_on_like_the_original(game: str, player: Any, way: str) -> None:
    """Searches copy a match and play it on; the opponents and the luck of later matches are part of it."""
    env = Environment(game, opponents=[PLAYERS[game] if player == "built-in" else player, None])
    env.reset(seed=1)
    played(env, 7)
    made = WAYS[way](env)
    assert played(made, 90) == played(env, 90)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_a_wrapped_environment_goes_on_alike(way: str) -> None:
    """Trainers copy what they were given, and that is mostly wrapped."""
    env = OrderEnforcingWrapper(Environment("buttons", 3, render_mode="ansi"))
    env.reset(seed=1)
    played(env, 7)
    made = WAYS[way](env) if way != "copy" else copy.deepcopy(env)
    assert played(made, 60) == played(env, 60)
    assert made.render() == env.render()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("limit", [None, 9])
def test_a_copy_of_one_seat_goes_on_like_the_original(limit: int | None, way: str) -> None:
    """Also within a wrapper of Gymnasium."""
    env: Any = SingleAgent("birth", [None, "random"])
    if limit is not None and way != "copy":  # a shallow copy of a wrapper shares what it wraps
        env = TimeLimit(env, limit)
    env.reset(seed=1)
    played_alone(env, 5)
    made = WAYS[way](env)
    assert played_alone(made, 60) == played_alone(env, 60)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("cores", [(True, True), (False, False), (True, False), (False, True)])
def test_a_copy_of_many_matches_goes_on_like_the_original(game: str, cores: tuple[bool, bool], way: str) -> None:
    """With and without the core, and from one to the other: a pickle goes to another machine."""
    with core_switched(on=cores[0]):
        env = VectorEnvironment(game, 5, [None, "greedy"])
        env.reset(seed=1)
        played_many(env, 40)
    with core_switched(on=cores[1]):
        made = WAYS[way](env)
    assert (made.num_envs, made._cut.flags.writeable) == (5, False)
    assert played_many(made, 80) == played_many(env, 80)


def test_matches_that_have_not_begun_are_copied_too() -> None:
    """A trainer may copy before it resets."""
    env = VectorEnvironment("birth", 2)
    made = copy.deepcopy(env)
    assert made.reset(seed=3)[0].tolist() == env.reset(seed=3)[0].tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Environment, SingleAgent])
def test_a_program_as_opponent_is_not_copied_and_plays_on(kind: Any, way: str, tmp_path: Path) -> None:
    """A half-made copy closed the connection of the original, which then wrote into another file of that number."""
    (tmp_path / "bot.py").write_text(LAST)
    env = kind("birth", opponents=[str(tmp_path / "bot.py"), None])
    try:
        env.reset(seed=1)
        with pytest.raises(TypeError, match=r"bot\.py plays in a process of its own, which can be neither copied nor"):
            WAYS[way](env)
        with (tmp_path / "mine").open("wb") as mine:
            env.reset(seed=2)
            mine.write(b"my own")
    finally:
        env.close()
    assert (tmp_path / "mine").read_bytes() == b"my own"


@pytest.mark.parametrize("kind", [Environment, SingleAgent])
def test_an_unknown_way_to_render_is_refused_by_name(kind: Any) -> None:
    """A mode that does nothing looks like an environment that is broken."""
    with pytest.raises(ValueError, match="unknown render_mode 'rgb_array': modes are None, 'ansi', 'human'"):
        kind("birth", render_mode="rgb_array")


def test_what_pickle_cannot_name_can_still_be_copied() -> None:
    """As docs/environments.md says: pickle finds an opponent by its name in a module, and a lambda has none."""
    env = Environment("birth", opponents=[lambda turn: turn.legal[0], None])
    env.reset(seed=7)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(env)
    assert copy.deepcopy(env).position == env.position
    named = Environment("birth", opponents=[first_legal, None])
    named.reset(seed=7)
    assert pickle.loads(pickle.dumps(named)).position == env.position


def first_legal(turn: Turn) -> int:
    """An opponent at the top of a module."""
    return turn.legal[0]
