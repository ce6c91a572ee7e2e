"""The games as environments for learners: by PettingZoo's own tests, and what they do not ask."""

from __future__ import annotations

import contextlib
import io
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from arena import games
from arena.games import RandomDice
from arena.games.observation import NoObservation, blocks, observation
from arena.rl import Environment, rewards

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/learning.md").read_text()
DETAILS = (ROOT / "docs/environments.md").read_text()
TABLES = [(name, seats) for name in games.names() for seats in games.game(name).seats]
every_table = pytest.mark.parametrize(("name", "seats"), TABLES)


def choose(env: Environment, luck: np.random.Generator) -> int | None:
    """What luck does when the selected agent is asked."""
    if env.terminations[env.agent_selection]:
        return None
    return int(luck.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))


@every_table
@pytest.mark.filterwarnings("ignore:Observation")  # a dictionary, as wherever there is a mask
def test_pettingzoo_finds_nothing_wrong(name: str, seats: int) -> None:
    """Whatever is written for its environments works with these."""

    def made(render_mode: str | None = None) -> Environment:
        return Environment(name, seats, render_mode=render_mode)

    with contextlib.redirect_stdout(io.StringIO()):
        api_test(made(), num_cycles=300)
        seed_test(made, num_cycles=100)
        render_test(made)


@every_table
@pytest.mark.filterwarnings("ignore:Observation")
def test_pettingzoo_finds_nothing_wrong_with_opponents(name: str, seats: int) -> None:
    """Agents are then fewer than seats."""
    api_test(Environment(name, opponents=["greedy", *[None] * (seats - 1)]), num_cycles=100)


@every_table
def test_what_is_seen_stays_within_bounds_to_the_end(name: str, seats: int) -> None:
    """By everybody, whoever is asked; and the rewards of the end are those of the ranks."""
    env, luck = Environment(name, seats), np.random.default_rng(1)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        for agent in env.agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        env.step(choose(env, luck))
    assert list(env.rewards.values()) == rewards(env.game.ranks(env.position))
    assert all(env.observation_space(agent).contains(env.observe(agent)) for agent in env.agents)


def test_rewards_are_shares_of_those_beaten() -> None:
    """Ties lie in between, and nobody gains by a table's size."""
    assert rewards((0, 1)) == [1, -1]
    assert rewards((2, 0, 0)) == [-1, 0.5, 0.5]
    assert rewards((0, 1, 2)) == [1, 0, -1]
    assert rewards((0, 0, 0, 0)) == [0, 0, 0, 0]


def test_a_seed_is_a_match_and_those_after_it() -> None:
    """Runs repeat, and yet no two matches of a run are the same."""

    def dice(seed: int) -> list[Any]:
        env = Environment("birth")
        env.reset(seed=seed)
        first = env.position
        env.reset()
        return [first, env.position]

    assert dice(1) == dice(1)
    assert len({*dice(1), *dice(2)}) == 4


def test_simultaneous_choices_are_not_shown_before_all_are_in() -> None:
    """The seat that is asked last must not know more than the first."""
    seen = []
    for choice in games.game("buttons").action("front"), games.game("buttons").action("back"):
        env = Environment("buttons", 3)
        env.reset(seed=3)
        env.step(choice)
        assert env.agent_selection == "seat_1"
        assert not env.observe("seat_0")["action_mask"].any()
        seen.append(env.observe("seat_1"))
    assert all(np.array_equal(seen[0][key], seen[1][key]) for key in seen[0])


def test_the_observer_is_the_first_of_the_seats() -> None:
    """So that one policy plays every seat."""
    env, luck = Environment("birth", 3), np.random.default_rng(5)
    env.reset(seed=5)
    for _ in range(7):
        env.step(choose(env, luck))
    mine, theirs = (blocks("birth", env.position, seat) for seat in (1, 2))
    assert mine["to_move"] == [1, 0, 0]
    assert theirs["to_move"] == [0, 0, 1]
    assert mine["pawn"][15:] + mine["pawn"][:15] == theirs["pawn"]


def test_landings_are_what_the_rules_make_of_a_move() -> None:
    """The one block that is worked out, not read off."""
    env, luck = Environment("birth"), np.random.default_rng(2)
    env.reset(seed=2)
    while not any(env.terminations.values()):
        seat = env.position.mover
        landing = blocks("birth", env.position, seat)["landing"]
        action = choose(env, luck)
        assert action is not None
        after = env.game.apply(env.position, {seat: action}, RandomDice(random.Random(1)))
        assert landing[3 * action] == after.board.areas[after.pawns[seat]] / 8
        assert landing[3 * action + 2] == (after.pawns[seat] == after.board.start)
        env.step(action)


def test_mistakes_are_named() -> None:
    """In a learner's loop a silent one costs a night."""
    env = Environment("birth")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"^seat_0 chose 77, legal: [\d, ]+$"):
        env.step(77)
    with pytest.raises(ValueError, match=r"^birth cannot be played by 4: players are 2 … 3$"):
        Environment("birth", 4)
    with pytest.raises(NoObservation, match=r"^positions of chess have no numbers: those of birth, "):
        observation("chess", None, 0)


@pytest.mark.parametrize("name", games.names())
def test_the_page_lists_the_blocks(name: str) -> None:
    """In their order, with their sizes: who reads weights counts along."""
    env = Environment(name)
    section = DETAILS.split(f"\n### {env.game.title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    listed = {block: int(size) for block, size in re.findall(r"^\| `(\w+)` \| (\d+) \|", section, re.MULTILINE)}
    made = {block: len(row) for block, row in blocks(name, env.position, 0).items()}
    assert list(listed.items()) == list(made.items())
    assert f"{sum(made.values())} in {env.game.title}" in " ".join(DETAILS.split())


def test_the_loop_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It is what everybody begins with."""
    (text,) = re.findall(r"^```python rl\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    exec(text, {})
    assert re.fullmatch(r"seat_0 (1\.0|-1\.0)\nseat_1 (1\.0|-1\.0)\n", capsys.readouterr().out)
