"""The view of one seat, by Gymnasium's own tests, and what they do not ask."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from arena import games
from arena.rl import Environment, SingleAgent

PAGE = (Path(__file__).parents[2] / "docs/learning.md").read_text()
SEATS = [(name, seats, seat) for name in games.names() for seats in games.game(name).seats for seat in range(seats)]


@pytest.mark.parametrize(("name", "seats", "seat"), SEATS)
def test_gymnasium_finds_nothing_wrong(name: str, seats: int, seat: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is written for its environments works with these, at every table and in every seat."""
    opponents = [None if each == seat else "greedy" for each in range(seats)]
    made: Any = SingleAgent
    spec = EnvSpec(f"{name}-v1", made, disable_env_checker=True, kwargs={"game": name, "opponents": opponents})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(spec).unwrapped)
    assert capsys.readouterr().err == ""


def test_a_match_is_that_of_the_environment() -> None:
    """The same observations, masks and rewards, seat and seed by seed."""
    env, single = Environment("birth", opponents=["greedy", None]), SingleAgent("birth", ["greedy", None])
    luck = np.random.default_rng(1)
    env.reset(seed=4)
    seen, info = single.reset(seed=4)
    over = False
    while not over:
        observed = env.observe("seat_1")
        assert np.array_equal(seen, observed["observation"])
        assert np.array_equal(info["action_mask"], observed["action_mask"])
        assert np.array_equal(single.action_masks(), observed["action_mask"].astype(bool))
        action = luck.choice(np.flatnonzero(single.action_masks()))
        env.step(int(action))
        seen, reward, over, cut, info = single.step(action)
        assert (reward, over, cut) == (env.rewards["seat_1"], env.terminations["seat_1"], False)
    assert abs(reward) == 1
    assert not info["action_mask"].any()


def test_what_is_not_legal_loses() -> None:
    """As it forfeits a match; trainers that know of no masks learn from it."""
    env = SingleAgent("birth")
    _, info = env.reset(seed=1)
    while info["action_mask"].all():
        _, _, _, _, info = env.step(np.int64(0))
    _, reward, over, _, info = env.step(np.flatnonzero(info["action_mask"] == 0)[0])
    assert (reward, over, info["illegal"]) == (-1, True, True)


@pytest.mark.parametrize("action", [-6, -1, 6, 99])
def test_a_number_that_is_no_action_is_not_legal_either(action: int) -> None:
    """Whether the last action is legal or not."""
    env = SingleAgent("birth")
    env.reset(seed=1)
    assert len(env.action_masks()) == 6
    for seed in range(3):
        env.reset(seed=seed)
        _, reward, over, _, info = env.step(action)
        assert (reward, over, info["illegal"]) == (-1, True, True)


@pytest.mark.parametrize("illegal", [False, True])
def test_after_the_end_comes_a_reset(illegal: bool) -> None:
    """A step more would take a reward for nothing, -1 even after a win."""
    env = SingleAgent("birth")
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"^the episode is over, or none was begun: call reset\(\)$"):
            env.step(0)
        env.reset(seed=1)
        over = False
        while not over:
            _, _, over, _, _ = env.step(99 if illegal else np.flatnonzero(env.action_masks())[0])


def test_one_seat_learns() -> None:
    """A second None would have nobody to decide for it."""
    with pytest.raises(ValueError, match=r"^one seat learns, not seat_0, seat_2: put a player in place of every other"):
        SingleAgent("birth", [None, "greedy", None])


def test_the_loop_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It is what everybody begins with."""
    (text,) = re.findall(r"^```python gymnasium\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    exec(text, {})
    assert capsys.readouterr().out in {"1.0\n", "-1.0\n"}
