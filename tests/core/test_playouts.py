"""Playouts answer what a position is worth, the same for everybody."""

from __future__ import annotations

from typing import Any

import pytest

from arena.base.compiler import SWITCH
from arena.core.compilation import core
from arena.core.playouts import playouts
from arena.games import game
from arena.games.buttons import STAR
from arena.games.dice import FastDice
from arena.games.greedy import GREEDY
from tests.referee.toy import Toy


def beginning(name: str, seats: int) -> Any:
    """The state before the first decision."""
    rules = game(name)
    return rules.start(seats, FastDice(3), rules.options({}))


def test_fast_dice_are_splitmix64() -> None:
    """These are the first numbers that its published code gives for this seed."""
    dice = FastDice(1234567)
    assert [dice.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert {face for _ in range(100) for face in dice.roll("any", 6)} == {1, 2, 3, 4, 5, 6}
    assert all(0 <= drawn < bound for bound in (1, 2, 256) for drawn in dice.draws("any", [bound] * 50))


@pytest.mark.parametrize("name", GREEDY)
def test_a_seed_decides_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the core and without it; another seed has other playouts."""
    state = beginning(name, 2)
    with_core = playouts(game(name), state, 8, seed=5, policy="greedy")
    monkeypatch.setenv(SWITCH, "0")
    core.cache_clear()
    try:
        assert core() is None
        assert playouts(game(name), state, 8, seed=5, policy="greedy") == with_core
        assert playouts(game(name), state, 8, seed=6, policy="greedy") != with_core
        assert playouts(game(name), state, 4, seed=5, policy="greedy") == with_core[:4]
    finally:
        core.cache_clear()


@pytest.mark.parametrize("name", GREEDY)
def test_greedy_plays_otherwise_than_random(name: str) -> None:
    """And a share of its choices is random, up to all of them."""
    state = beginning(name, game(name).seats[-1])

    def scores(policy: Any, careless: float) -> list[tuple[int, ...]]:
        return [end.scores for end in playouts(game(name), state, 20, seed=1, policy=policy, careless=careless)]

    assert len({str(scores("greedy", careless)) for careless in (0, 0.5, 1)} | {str(scores("random", 0))}) == 4


def test_the_first_actions_can_be_given() -> None:
    """So a searcher asks what each of its actions may lead to."""
    rules = game("birth")
    state = beginning("birth", 2)
    (legal,) = rules.pending(state).values()
    chosen = legal[-1]
    after = rules.apply(state, {0: chosen}, FastDice(1))
    begun, went_on = playouts(rules, state, 20, seed=4, first={0: chosen}), playouts(rules, after, 20, seed=4)
    assert begun == [end._replace(decisions=end.decisions + 1) for end in went_on]
    with pytest.raises(ValueError, match="seat 1 cannot choose 0"):
        playouts(rules, state, 1, seed=4, first={1: 0})


def test_what_is_over_has_ended() -> None:
    """Nothing is chosen any more."""
    rules = game("birth")
    state = beginning("birth", 3)
    while pending := rules.pending(state):
        state = rules.apply(state, {seat: legal[0] for seat, legal in pending.items()}, FastDice(1))
    assert playouts(rules, state, 2, seed=1) == [(rules.ranks(state), rules.scores(state), 0)] * 2


def test_games_of_other_packages_are_played_at_random() -> None:
    """They have no greedy policy."""
    rules = Toy()
    state = rules.start(2, FastDice(1), rules.options({}))
    assert len(playouts(rules, state, 5, seed=1)) == 5
    with pytest.raises(ValueError, match="has no greedy policy"):
        playouts(rules, state, 5, seed=1, policy="greedy", careless=0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"policy": "wise"}, "no policy"),
        ({"careless": 1.5}, "a share from 0 to 1"),
        ({"count": -1}, "a number of playouts"),
        ({"first": {0: "0"}}, "cannot choose '0'"),
        ({"first": 0}, "actions by seat"),
    ],
)
def test_what_cannot_be_asked_is_said(wrong: Any, said: str) -> None:
    """With what can be."""
    with pytest.raises((ValueError, TypeError), match=said):
        playouts(game("birth"), beginning("birth", 2), **{"count": 1, "seed": 1} | wrong)


def test_a_state_in_which_nobody_can_choose_is_refused() -> None:
    """No match reaches it, so there is nothing to play out; compiled or not, it is the same error."""
    stuck = beginning("buttons", 2)._replace(phase=STAR, due=(1, 0), buttons=(0, 0))
    with pytest.raises(ValueError, match=r"^no match of buttons reaches this state: seat 0 has nothing to choose$"):
        playouts(game("buttons"), stuck, 1, seed=1)
