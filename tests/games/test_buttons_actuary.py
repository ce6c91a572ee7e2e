"""The strongest player of Buttons: its reckoning against rolls counted one by one, and what it must never miss."""

from __future__ import annotations

import random
from importlib import import_module
from itertools import product

import pytest

from arena.games.buttons import HAS_BUST, HAS_QUIT, PASS, PLACE, QUIT, ROLL, STAR, State
from arena.games.buttons_board import active_cells, is_won
from builtin.buttons.actuary import PAIR, Outlook, actuary, starred
from tests.games.test_buttons import GAME, at, cell, decide, opening, wins_as

STARS = at((1, 1), (1, 2), (1, 4), (3, 3), (4, 6))
FOUR = at((2, 1), (2, 2), (2, 3), (2, 4))
"""One short of a line."""


def choice(state: State) -> int:
    return actuary(state, 0, GAME.pending(state)[0], random.Random(1))


def counted(outlook: Outlook, state: State, buttons: int, rolls: int) -> float:
    """The mean over every throw of the dice, of what the best button then leads to."""
    if not rolls:
        return outlook.stop(buttons, PAIR)
    values: dict[int, float] = {}
    throws = [active_cells(dice, buttons, STARS) for dice in product(range(1, 7), repeat=state.dice_left)]
    for action in set().union(*throws):
        placed = buttons | 1 << action
        rolled = counted(outlook, state, placed, rolls - 1)
        values[action] = max(rolled, outlook.stop(placed)) if rolls > 1 else rolled
    bust = outlook.stop(0)
    return sum(max([values[action] for action in there], default=bust) for there in throws) / len(throws)


@pytest.mark.parametrize("buttons", [0, at((5, 2)), at((5, 2), (6, 1), (6, 5), (2, 3), (3, 1))])
@pytest.mark.parametrize("rolls", [1, 2])
def test_the_outlook_is_the_mean_over_all_rolls(rolls: int, buttons: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the last three dice, with every column looked behind: a slip in the odds would only make it a bit weaker."""
    monkeypatch.setattr(import_module("builtin.buttons.actuary"), "COLUMNS", 6)
    state = opening(4)
    state = state._replace(stars=(STARS, FOUR, 0, 0), status=(state.status[0], HAS_QUIT, HAS_BUST, HAS_BUST))
    outlook = Outlook(state, 0)
    assert outlook.roll(buttons, rolls) == pytest.approx(counted(outlook, state, buttons, rolls), rel=1e-9)


def test_it_quits_when_that_wins_the_match() -> None:
    """The line is complete as soon as the button is a star, however good the next roll may be."""
    state = opening()
    ready = state._replace(stars=(FOUR, 0), buttons=(at((2, 5)), 0))
    assert choice(ready) == QUIT
    assert choice(ready._replace(buttons=(at((2, 6)), 0))) == ROLL


def test_it_puts_the_button_that_wins() -> None:
    """Whether the roll is its own or another's."""
    state = opening()._replace(phase=PLACE, stars=(FOUR, 0), dice=(2, 5, 6, 6, 6, 6))
    assert choice(state) == cell(2, 5)
    state = state._replace(active=1)
    assert sorted(GAME.pending(state)[0]) == [cell(2, 5), PASS]
    assert choice(state) == cell(2, 5)


def test_it_rolls_on_behind_somebody_who_has_won() -> None:
    """Stars that do not win are worth nothing any more."""
    state = opening()
    behind = state._replace(stars=(STARS, FOUR), buttons=(at((2, 5), (6, 6)), at((2, 5))))
    behind = behind._replace(status=(state.status[0], HAS_QUIT))
    assert choice(behind) == ROLL


def test_its_stars_complete_a_line_that_needs_two() -> None:
    """They are chosen together, with buttons before and behind them that are worth less."""
    buttons = at((1, 1), (2, 4), (2, 6), (4, 4), (6, 6))
    stars = at((2, 2), (2, 3), (2, 5), (4, 1), (4, 2), (4, 3))
    assert is_won([starred(stars, buttons, 2)])
    state = opening()._replace(phase=STAR, stars=(stars, 0), buttons=(buttons, 0), due=(2, 0))
    first = choice(state)
    state = decide(state, s0=first)
    assert {first, choice(state)} == {cell(2, 4), cell(2, 6)}


@pytest.mark.long
def test_it_hardly_ever_loses_to_uniform_choices() -> None:
    """Half of the matches at two seats, half at four; it is too slow for as many as the others play."""
    seats = (2, 4) * 5
    assert sum(wins_as("actuary", number // 2 % 2, seats[number], number) for number in range(10)) >= 8
