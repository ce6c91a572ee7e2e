"""Three ways to play Buttons: to stop early, to collect colours, and to reckon with what the next roll may bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from arena.games.buttons import PASS, PLACE, QUIT, ROLL, SIDE, STAR, State
from arena.games.buttons_board import LINES, cells, colour_cells, open_cells, reward

Strategy: TypeAlias = Callable[[State, int, Sequence[int], Random], int]

LINES_OF = [[line for line in LINES if line >> cell & 1] for cell in range(36)]
GAIN = (0.05, 0.15, 0.5, 1.5, 30.0)
"""What a star adds on a line that has 0 … 4 of them: the fifth wins."""
MISSED = [[((6 - columns) / 6) ** dice for columns in range(7)] for dice in range(6)]
"""The chance that so many black dice all miss so many columns."""


def bust_chance(buttons: int, stars: int, dice: int) -> float:
    """How likely a roll of so many dice, the white one among them, leaves no cell to put a button."""
    free = open_cells(buttons, stars)
    return sum(MISSED[dice - 1][(free >> 6 * row & 63).bit_count()] for row in range(6)) / 6


def earned(state: State, seat: int, buttons: int) -> int:
    """The stars for quitting with these buttons."""
    return reward(state.boards[seat], state.cards[seat], buttons)


def star_value(stars: int, cell: int) -> float:
    """How much a star on a cell brings one nearer to a line or to twelve."""
    return 1 + sum(GAIN[(stars & line).bit_count()] for line in LINES_OF[cell])


def cautious(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Quits with the first star that a colour brings, or once a roll would bust in more than one of twelve cases.

    It takes no button from the others' rolls beyond its first, and keeps its board open.
    """
    placed, stars = state.buttons[seat], state.stars[seat]
    if state.phase == SIDE:
        return random.choice(legal)
    if QUIT in legal:
        risky = bust_chance(placed, stars, state.dice_left) > 1 / 12
        return QUIT if risky or earned(state, seat, placed) > 1 else ROLL
    if PASS in legal:
        return PASS if placed else legal[0]
    return min(legal, key=lambda action: bust_chance(placed | 1 << action, stars, 5)) if state.phase == PLACE else legal[0]


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Rolls until three buttons of a colour earn their stars, or half of all rolls would bust.

    It puts buttons where they are worth most stars at once, else on the colour that it has most of, and looks at no line.
    """
    placed, stars = state.buttons[seat], state.stars[seat]
    if state.phase == SIDE:
        return random.choice(legal)
    if QUIT in legal:
        return QUIT if earned(state, seat, placed) >= 3 or bust_chance(placed, stars, state.dice_left) > 0.5 else ROLL
    if state.phase == PLACE:
        ...
