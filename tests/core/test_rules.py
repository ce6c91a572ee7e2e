"""The compiled rules are those of Python, to the byte."""

from __future__ import annotations

import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from arena.core.compilation import core
from arena.games.burning_desire import BurningDesire, Phase
from arena.games.dice import KeyedDice
from tests.core.side_by_side import VIEWS, brief, play_all, table

pytestmark = pytest.mark.needs("core")


@pytest.mark.parametrize("name", VIEWS)
def test_a_thousand_matches_are_the_same(name: str) -> None:
    """Views, legal actions, dice, scores, ranks and defaults, at all tables and with any options."""
    assert play_all(name, range(1000)) > 10_000


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", VIEWS)
def test_fifteen_thousand_matches_are_the_same(name: str) -> None:
    """What happens once in thousands of matches happens in both; most are short, so that it ends in time."""
    parts = [(range(first, first + 500), table if first < 2000 else brief) for first in range(1000, 16_000, 500)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        decided = sum(pool.map(play_all, [name] * len(parts), *zip(*parts, strict=True)))
    assert decided > 150_000


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_not_legal_is_refused(name: str) -> None:
    """An illegal action, and answers of others than those who must decide."""
    match = table(name, 1)
    game, dice = match.compiled, match.dice
    state = game.start(match.seats, dice)
    pending = game.pending(state)
    for action in (-1, 1000, 10**30):
        with pytest.raises((ValueError, OverflowError)):
            game.apply(state, dict.fromkeys(pending, action), dice)
    legal = {seat: actions[0] for seat, actions in pending.items()}
    for seats in ({}, {**legal, 7: 0}):
        with pytest.raises(ValueError, match="not exactly the seats"):
            game.apply(state, seats, dice)
    for seat in (-1, 5, 10**30):
        with pytest.raises((ValueError, OverflowError)):
            game.default_action(state, seat)
    with pytest.raises(ValueError, match="no match of 9 seats"):
        game.start(9, dice)


@pytest.mark.parametrize("name", VIEWS)
def test_arguments_of_the_wrong_kind_are_refused(name: str) -> None:
    """Nothing that Python can pass is taken for a state or for dice."""
    module: Any = core()
    game: Any = table(name, 1).compiled
    state = game.start(2, module.Dice(bytes(32)))
    tried: list[tuple[Any, ...]] = [(), (None,), (1, 2), (state, {}, None), (object(), {}, object()), ("x",) * 4]
    for method in ("pending", "apply", "default_action", "wire_view", "ranks", "scores", "read", "start"):
        for arguments in tried:
            with pytest.raises((TypeError, ValueError)):
                getattr(game, method)(*arguments)
    for made, given in ((module.Dice, (b"short",)), (module.Game, (name, b"")), (module.Game, ("chess", b""))):
        with pytest.raises(ValueError, match="bytes"):
            made(*given)
    with pytest.raises(TypeError):
        module.State()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_is_not_whole_is_refused(name: str) -> None:
    """Every beginning of a view, and a view with any byte changed, is read as a state or refused."""
    match = table(name, 3)
    game = match.compiled
    view = game.wire_view(game.start(match.seats, match.dice))
    refused = 0
    luck = random.Random(1)
    changed = [view[:place] + bytes([luck.randrange(256)]) + view[place + 1 :] for place in range(len(view))]
    for bytes_ in [*(view[:length] for length in range(len(view))), *changed]:
        try:
            game.wire_view(game.read(bytes_))
        except ValueError as error:
            assert "does not show all of a state" in str(error)  # noqa: PT017 - most are refused, and some may be read
            refused += 1
    assert refused > len(view)


def test_points_beyond_its_numbers_are_left_to_python() -> None:
    """Multiplying may go on for ever; the core says that it cannot follow instead of a wrong number."""
    match = table("burning-desire", 1)
    game = match.game
    state = game.start(2, KeyedDice(match.seed), BurningDesire().options({}))
    large = state._replace(phase=Phase.MULTIPLY, score=6 * 10**17, totals=(1000, 0))
    fast = match.compiled.read(game.wire_view(large, None))
    with pytest.raises(OverflowError, match="64 bits"):
        match.compiled.apply(fast, {0: 132}, match.dice)
    with pytest.raises(ValueError, match="does not show"):
        match.compiled.read(game.wire_view(state._replace(score=2**80), None))
