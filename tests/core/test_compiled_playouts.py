"""Playouts of the core are those of Python."""

from __future__ import annotations

import gc
import random
import signal
import time
from typing import Any

import numpy as np
import pytest

from arena.core.compilation import core
from arena.core.core_games import encoded_options
from arena.core.playouts import Policy, _by_core, _by_python, playouts
from arena.games import game
from arena.games.birth import Birth, State
from arena.games.dice import FastDice, KeyedDice
from arena.v1.buttons_pb2 import BUTTONS_PHASE_STAR
from tests.core.side_by_side import VIEWS, Table, table

pytestmark = pytest.mark.needs("core")


def position(match: Table, luck: random.Random) -> Any:
    """Somewhere in a random match, now and then at its end."""
    rules, dice = match.game, KeyedDice(match.seed)
    state = rules.start(match.seats, dice, match.options)
    for _ in range(luck.choice((0, 1, 2, 10, 40, 400))):
        if pending := rules.pending(state):
            state = rules.apply(state, {seat: luck.choice(legal) for seat, legal in pending.items()}, dice)
    return state


@pytest.mark.parametrize("name", VIEWS)
def test_every_playout_is_that_of_python(name: str) -> None:
    """Of all policies, from anywhere in matches of all sizes, and with actions given for the first step."""
    luck = random.Random(name)
    ended = 0
    for number in range(200):
        match = table(name, number)
        state = position(match, luck)
        first = {seat: luck.choice(legal) for seat, legal in match.game.pending(state).items() if luck.random() < 0.3}
        policy = Policy(luck.random() < 0.7, luck.choice((0, 2**30, 2**32)))
        seed = luck.getrandbits(64)
        ends = _by_core(match.game, state, 3, seed, first, policy)
        assert ends == _by_python(match.game, state, 3, seed, first, policy), (number, policy, first)
        ended += not match.game.pending(state)
    assert 0 < ended < 100


def test_a_seed_is_of_64_bits() -> None:
    """More are left out, in both."""
    rules = game("birth")
    state = rules.start(2, FastDice(1), rules.options({}))
    ends = playouts(rules, state, 50, seed=2**64 - 1)
    assert ends == playouts(rules, state, 50, seed=-1) == _by_python(rules, state, 50, -1, {}, Policy(False, 0))
    assert len({end.scores for end in ends}) > 40


def test_points_beyond_its_numbers_are_left_to_python() -> None:
    """They are rare, and Python has no largest number."""
    rules = game("burning-desire")
    state = rules.start(2, FastDice(1), rules.options({}))._replace(totals=(2**62, 3))
    assert _by_core(rules, state, 3, 1, {}, Policy(False, 0)) is None
    assert all(end.scores[0] >= 2**62 for end in playouts(rules, state, 3, seed=1))


def test_a_seed_may_be_a_number_of_numpy() -> None:
    """Trainers have such."""
    rules = game("birth")
    state = rules.start(2, FastDice(1), rules.options({}))
    drawn = np.random.default_rng(1).integers(2**63)
    assert playouts(rules, state, 5, seed=drawn) == playouts(rules, state, 5, seed=int(drawn))


def test_rules_that_were_changed_are_not_the_compiled_ones() -> None:
    """Whoever derives a game from ours gets playouts of that one."""

    class Worthless(Birth):
        def scores(self, state: State) -> tuple[int, ...]:
            return tuple(7 for _ in state.pawns)

    rules = Worthless()
    state = rules.start(2, FastDice(1), rules.options({}))
    assert {end.scores for end in playouts(rules, state, 5, seed=1)} == {(7, 7)}


def test_states_that_no_match_has_are_left_to_python() -> None:
    """The core counts on what is true in every match."""
    rules = game("buttons")
    dice, options = FastDice(1), rules.options({})
    state = rules.apply(rules.start(2, dice, options), dict.fromkeys((0, 1), 39), dice)
    module = core()
    assert module is not None
    compiled = module.Game("buttons", encoded_options("buttons", options))
    compiled.read(rules.wire_view(state, None))
    for changed in (
        {"boards": (state.boards[0], "")},
        {"phase": 258},
        {"starter": 257},
        {"phase": BUTTONS_PHASE_STAR, "due": (2, 0), "buttons": (1, 0)},
    ):
        with pytest.raises(ValueError, match="does not show all"):
            compiled.read(rules.wire_view(state._replace(**changed), None))


class Late(ValueError):
    """What a signal's handler raises: not one of the errors that the core has."""


def test_ctrl_c_ends_playouts() -> None:
    """However many were asked for."""
    rules = game("buttons")
    state = rules.start(4, FastDice(1), rules.options({}))

    def interrupt(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what a handler raises inside of a callback of the collector is lost, and the run would not end
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        begun = time.monotonic()
        with pytest.raises(Late):
            playouts(rules, state, 10**9, seed=1)
        assert time.monotonic() - begun < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
