"""Buttons as a race: every choice is the one after which the match is won most often.

From the stars of all seats follows each one's chance to win the match, by weights that were fitted to 60,000 matches,
half of them from positions drawn at random: those with which the actual winners were most likely. What dice may bring
to the own stars within the round is reckoned exactly, but for rolls that need a row's fourth column, two rolls deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from math import exp, log
from random import Random

from arena.games.buttons import FRONT, HAS_QUIT, PLACE, QUIT, ROLL, SIDE, State
from arena.games.buttons_board import LINES, cells, open_cells

from .simple import MISSED, after, colour_stars, counted, earned, pairs

ROLLS = 2
"""How many of its own rolls it looks ahead."""
COLUMNS = 3
"""How many columns of a row it looks behind, the best ones; a roll hardly ever hits none but the others."""
PAIR = 0.1
"""The weight, where the outlook ends, of each star of a colour that lacks one button."""

NUMBER = (0.0, 0.38, 0.64, 0.86, 1.10, 1.28, 1.41, 1.52, 1.56, 1.79, 1.95, 2.29)
"""The weight of so many stars, wherever they lie."""
TWO, THREE = 0.08, 0.23
"""The weights of a line of five cells with so many stars."""
LACKING = (0.0, 1.07, 1.72, 2.19)
"""The weight of so many cells, or more, each of which would make a line."""
WON = 8.0
"""The weight of stars that end the match, to which come a line and their number, by which winners are compared."""


def actuary(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Takes what wins the match most often, by the mean over its next two rolls."""
    if len(legal) == 1:
        return legal[0]
    stars, buttons = state.stars[seat], state.buttons[seat]
    if state.phase == SIDE:
        return max(legal, key=lambda action: pairs(state.sides[seat][action - FRONT]))
    if state.phase == PLACE:
        outlook = Outlook(state, seat)
        return max(legal, key=lambda action: outlook.best(after(buttons, action), ROLLS))
    if QUIT in legal:
        outlook = Outlook(state, seat)
        return QUIT if outlook.stop(buttons) >= outlook.roll(buttons, ROLLS) else ROLL
    return cells(starred(stars, buttons, state.due[seat]) & ~stars)[0]


@lru_cache(maxsize=1 << 14)
def weight(stars: int) -> float:
    """How good a seat's stars are: the chances to win the match are in proportion to the exponentials of this."""
    number, on_line = stars.bit_count(), [(stars & line).bit_count() for line in LINES]
    if 5 in on_line or number >= 12:
        return WON + 3 * number + 50 * (5 in on_line)
    lacking = 0
    if 4 in on_line:
        for line, have in zip(LINES, on_line, strict=True):
            if have == 4:
                lacking |= line & ~stars
    return NUMBER[number] + TWO * on_line.count(2) + THREE * on_line.count(3) + LACKING[min(3, lacking.bit_count())]


@lru_cache(maxsize=1 << 14)
def starred(stars: int, buttons: int, count: int) -> int:
    """The stars after the best so many buttons have become some."""
    chosen = combinations([1 << cell for cell in cells(buttons)], min(count, buttons.bit_count()))
    return max([stars | sum(new) for new in chosen], key=weight)


def to_come(state: State, seat: int) -> int:
    """A seat's stars, and if it has quit those it will get."""
    stars, buttons = state.stars[seat], state.buttons[seat]
    return starred(stars, buttons, earned(state, seat, buttons)) if state.status[seat] == HAS_QUIT else stars


class Outlook:
    """The chance of one seat to win the match, by what it does in this round."""

    def __init__(self, state: State, seat: int) -> None:
        self._stars = state.stars[seat]
        self._missed = MISSED[state.dice_left - 1]
        self._colours = colour_stars(state, seat)
        others = [other for other in range(len(state.status)) if other != seat]
        self._against = log(sum([exp(weight(to_come(state, other))) for other in others]))
        self._bust = self._chance(weight(self._stars))
        self._best: dict[tuple[int, int], float] = {}

    def _chance(self, own: float) -> float:
        return 1 / (1 + exp(self._against - own))

    def stop(self, buttons: int, pair: float = 0.0) -> float:
        """After quitting with these buttons, a colour that lacks one of three adding `pair` for each of its stars."""
        count, hope = counted(self._colours, buttons, pair)
        return self._chance(weight(starred(self._stars, buttons, count)) + hope)

    def best(self, buttons: int, rolls: int) -> float:
        """After the better of quitting and rolling, at most so often."""
        key = buttons, rolls
        if key not in self._best:
            self._best[key] = self._better(buttons, rolls) if rolls else self.stop(buttons, PAIR)
        return self._best[key]

    def _better(self, buttons: int, rolls: int) -> float:
        rolled = self.roll(buttons, rolls)
        return max(rolled, self.stop(buttons)) if buttons else rolled

    def roll(self, buttons: int, rolls: int) -> float:
        """The mean over all rolls of what the best button then leads to, and of what a bust leaves."""
        free, total = open_cells(buttons, self._stars), 0.0
        for row in range(0, 36, 6):
            filled = [buttons | 1 << cell for cell in cells(free & 63 << row)]
            bust = self._missed[len(filled)]
            if rolls > 1:
                filled = sorted(filled, key=lambda each: self.best(each, 0), reverse=True)[:COLUMNS]
            values = sorted([self.best(each, rolls - 1) for each in filled], reverse=True)
            # the n-th best is what all better columns being missed leaves; the last stands for those not looked behind
            missed = [*self._missed[: len(values)], bust]
            total += sum([value * (more - less) for value, (more, less) in zip(values, pairwise(missed), strict=True)])
            total += bust * self._bust
        return total / 6
