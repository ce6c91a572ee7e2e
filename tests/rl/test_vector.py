"""Many matches at once are as good as one, in the core and without it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from arena.core.playouts import policy_of
from arena.games import game
from arena.games.greedy import GREEDY
from arena.games.observation import observation
from arena.rl import VectorEnvironment, vector
from arena.rl.environment import rewards
from tests.core.side_by_side import table
from tests.core.switched import core_switched

PAGE = (Path(__file__).parents[2] / "docs/learning.md").read_text()
TABLES = [(name, seats) for name in GREEDY for seats in game(name).seats]


def without_core(*args: Any, **settings: Any) -> VectorEnvironment:
    """An environment whose matches are played in Python."""
    with core_switched(on=False):
        made = VectorEnvironment(*args, **settings)
    assert type(made._batch) is vector._InPython
    return made


def opponents(seats: int, learner: int) -> Sequence[str | None]:
    return [None if seat == learner else ("greedy", "random")[seat % 2] for seat in range(seats)]


def choices(masks: Any, luck: np.random.Generator, foolish: float = 0.0) -> Any:
    """Random legal actions, now and then one that is not."""
    actions = (masks * luck.random(masks.shape)).argmax(axis=1)
    wrong = luck.choice([masks.shape[1] + 3, -1, -(2**63), 2**63 - 1, 256], len(masks))
    return np.where(luck.random(len(masks)) < foolish, wrong, actions)


@pytest.mark.needs("core")
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_core_shows_what_python_shows(name: str, seats: int) -> None:
    """Every observation, mask, reward and end, from every seat, with all options; foolish actions included."""
    luck, ended, numbers = np.random.default_rng(seats), 0, count()
    for learner in list(range(seats)) * 3:
        options = next(made.options for number in numbers if (made := table(name, number)).seats == seats)
        args = (name, 3, opponents(seats, learner))
        settings: Any = {"options": options, "careless": float(luck.choice([0, 0.1, 0.5, 1]))}
        both = VectorEnvironment(*args, **settings), without_core(*args, **settings)
        assert type(both[0]._batch) is not vector._InPython
        seen = [env.reset(seed=learner) for env in both]
        for _ in range(60):
            (fast, fast_info), (slow, slow_info) = seen
            assert np.array_equal(fast, slow)
            assert all(np.array_equal(fast_info[key], slow_info[key]) for key in ("action_mask", "illegal"))
            actions = choices(fast_info["action_mask"], luck, 0.005)
            (fast, *fast_ends, fast_info), (slow, *slow_ends, slow_info) = (env.step(actions) for env in both)
            assert all(np.array_equal(one, other) for one, other in zip(fast_ends, slow_ends, strict=True))
            ended += int((fast_ends[1] & ~fast_info["illegal"]).sum())
            seen = [(fast, fast_info), (slow, slow_info)]
    assert ended >= 10, "matches that ended by the rules"


@pytest.mark.parametrize("name", GREEDY)
def test_a_match_is_one_by_the_rules(name: str) -> None:
    """The learner sees the state, is told what is legal, and is rewarded by its rank."""
    env = without_core(name, 1, ["random", None], careless=0)
    (place,) = env._batch._places  # type: ignore[attr-defined]
    luck, rules = np.random.default_rng(1), game(name)
    seen, info = env.reset(seed=1)
    over = np.zeros(1, np.bool_)
    while not over[0]:
        assert np.array_equal(seen[0], np.array(observation(name, place._state, 1), np.float32))
        assert tuple(np.flatnonzero(info["action_mask"][0])) == tuple(rules.pending(place._state)[1])
        seen, reward, over, _, info = env.step(choices(info["action_mask"], luck))
    assert reward[0] == rewards(rules.ranks(place._state))[1]
    assert not info["action_mask"].any()
    before = seen.copy()
    seen, reward, over, _, info = env.step(np.array([0]))
    assert (reward[0], over[0], np.array_equal(seen, before)) == (0, False, False)
    assert info["action_mask"].any()


def test_a_seed_decides_all_matches() -> None:
    """And no two places play the same."""

    def course(seed: int | None) -> Any:
        env, luck = VectorEnvironment("birth", 8), np.random.default_rng(1)
        seen, info = env.reset(seed=seed)
        shown = [seen.copy()]
        for _ in range(30):
            seen, _, _, _, info = env.step(choices(info["action_mask"], luck))
            shown.append(seen.copy())
        return np.array(shown)

    assert np.array_equal(course(5), course(5))
    assert not np.array_equal(course(5), course(6))
    assert not np.array_equal(course(None), course(None))
    assert len({row.tobytes() for row in course(5)[0]}) == 8


def test_arrays_stay_as_they_are_for_one_more_step() -> None:
    """A trainer compares what it saw with what it sees."""
    env = VectorEnvironment("birth", 3)
    seen, info = env.reset(seed=1)
    kept = seen.copy()
    after, _, _, _, info = env.step(choices(info["action_mask"], np.random.default_rng(1)))
    assert np.array_equal(seen, kept)
    assert not np.shares_memory(seen, after)
    assert env.observation_space.contains(after)
    assert env.action_space.contains(np.zeros(3, np.int64))


def test_what_is_not_legal_loses() -> None:
    """And the next match begins, as after any other end."""
    env = VectorEnvironment("birth", 2)
    _, info = env.reset(seed=1)
    good = choices(info["action_mask"], np.random.default_rng(1))[1]
    _, reward, over, _, info = env.step(np.array([99, good]))
    assert (reward.tolist(), over.tolist()) == ([-1, 0], [True, False])
    assert info["illegal"].tolist() == [True, False]
    assert not info["action_mask"][0].any()
    _, reward, over, _, info = env.step(choices(info["action_mask"], np.random.default_rng(1)))
    assert (reward.tolist(), over.tolist()) == ([0, 0], [False, False])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("birth", 4, [None, None]), "one seat learns"),
        (("birth", 4, ["greedy", "random"]), "one seat learns"),
        (("birth", 4, [None, "wise"]), "no policy"),
        (("birth", 4, [None]), "needs a list for 2 … 3 seats"),
        (("birth", 4, "greedy"), "needs a list"),
        (("birth", 0), "at least 1"),
        (("birth", ["greedy", None]), "count is the number of matches"),
    ],
)
def test_what_cannot_be_made_is_said(args: Any, said: str) -> None:
    """With what can be."""
    with pytest.raises(ValueError, match=said):
        VectorEnvironment(*args)


def test_a_match_has_to_be_begun() -> None:
    """As in other environments."""
    with pytest.raises(ResetNeeded):
        VectorEnvironment("birth", 1).step(np.array([0]))


@pytest.mark.needs("core")
def test_a_batch_has_to_be_begun() -> None:
    """For those who use the core without the environment: it would read what nobody wrote."""
    env = VectorEnvironment("birth", 2)
    with pytest.raises(ValueError, match="begin with a reset"):
        env._batch.step(np.array([0, 0]), *env._arrays)


@pytest.mark.parametrize(
    "actions", [[0], [0, 0, 0], [[0, 0]], [[0], [0]], 0, None, [0.0, 0.0], [True, True], ["0", "0"]], ids=repr
)
def test_other_actions_than_one_for_each_match_are_refused(actions: Any) -> None:
    """With the core and without it, before any match goes on."""
    for env in (VectorEnvironment("birth", 2), without_core("birth", 2)):
        _, info = env.reset(seed=1)
        with pytest.raises(ValueError, match=re.escape("actions is an array of shape (2,) of integers")):
            env.step(actions)
        assert not env.step(info["action_mask"].argmax(axis=1))[4]["illegal"].any()


@pytest.mark.needs("core")
def test_the_core_refuses_arrays_of_another_size() -> None:
    """Nothing is written beyond their ends."""
    env = VectorEnvironment("birth", 2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="an array of 16 bytes is needed, not of 24"):
        env._batch.step(np.array([0, 0, 0]), *env._arrays)


def test_the_program_on_the_page_runs() -> None:
    """With fewer steps."""
    (program,) = re.findall(r"```python vector\n((?s:.*?))```", PAGE)
    exec(program.replace("1000", "20").replace("256", "4"), {})
    assert policy_of("greedy", 0.1).is_greedy
