"""Buttons as a race: every choice is the one after which the match is won most often.

What stars are worth was learned, what dice may bring is reckoned. From the stars of all seats follows each one's chance
to win the match, by weights that were fitted to matches of this bot against itself (a softmax over the seats, and the
weights that make the actual winners most likely). Within a round the mean of that chance
is taken over all rolls, two deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import exp, log
from random import Random

from arena.games.buttons import FRONT, HAS_QUIT, PLACE, QUIT, ROLL, SIDE, State
from arena.games.buttons_board import cells, colour_cells, has_line, is_won, open_cells

from .simple import MISSED, after, earned, pairs

ROLLS = 2
"""How many of its own rolls it looks ahead."""
COLUMNS = 3
"""How many columns of a row it looks behind, the best ones; that a roll hits none but the others is rare."""
PAIR = 0.1
"""The weight of a star that lacks one button of its colour, where the outlook ends."""

NUMBER = (0.0, 0.36, 0.77, 1.07, 1.35, 1.56, 1.77, 1.87, 1.90, 2.07, 2.06, 2.04)
"""The weight of so many stars."""
PATTERNS: Mapping[str, float] = {
    "ooo...": 0.19,
    ".o.o..": 0.15,
    "oo.o..": 0.31,
    "o.oo..": 0.30,
    ".ooo..": 0.35,
    "oooo..": 1.09,
    ".o..o.": 0.12,
    "oo..o.": 0.22,
    "o.o.o.": 0.38,
    ".oo.o.": 0.52,
    "ooo.o.": 1.16,
    "o..oo.": 0.19,
    "oo.oo.": 1.15,
    "o.ooo.": 1.12,
    ".oooo.": 1.58,
    "oo...o": 0.17,
    "ooo..o": 0.27,
    "oo.o.o": 0.39,
    "o.oo.o": 0.37,
    "oooo.o": 1.12,
    "oo..oo": 0.23,
    "ooo.oo": 1.26,
}
"""The weights of a row or a column by its stars, from either end; others have none."""
WON = 8.0
"""The weight of stars that end the match; a line and more stars add to it, since they decide among several."""


def _weight(line: int) -> float:
    marks = "".join(".o"[line >> cell & 1] for cell in range(6))
    return PATTERNS.get(marks, PATTERNS.get(marks[::-1], 0.0))


LINE = [_weight(line) for line in range(64)]
TURNED = [
    [sum((line >> column & 1) << 6 * column + row for column in range(6)) for line in range(64)] for row in range(6)
]
"""The cells of a row as those of a column, by row and its cells."""


def actuary(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Takes what wins the match most often, by the mean over its next two rolls; see the module."""
    if len(legal) == 1:
        return legal[0]
    buttons = state.buttons[seat]
    if state.phase == SIDE:
        return max(legal, key=lambda action: pairs(state.sides[seat][action - FRONT]))
    if state.phase == PLACE:
        outlook = Outlook(state, seat)
        return max(legal, key=lambda action: outlook.best(after(buttons, action), ROLLS))
    if QUIT in legal:
        outlook = Outlook(state, seat)
        return QUIT if outlook.stop(buttons) >= outlook.roll(buttons, ROLLS) else ROLL
    choices = map(sum, combinations([1 << cell for cell in legal], state.due[seat]))
    return cells(max(choices, key=lambda chosen: weight(state.stars[seat] | chosen)))[0]


@lru_cache(maxsize=1 << 14)
def weight(stars: int) -> float:
    """How good a seat's stars are: the chance to win the match is a softmax of this over the seats."""
    number, turned = stars.bit_count(), 0
    if is_won([stars]):
        return WON + 3 * number + 50 * has_line(stars)
    total = NUMBER[number]
    for row in range(6):
        line = stars >> 6 * row & 63
        total += LINE[line]
        turned |= TURNED[row][line]
    return total + sum([LINE[turned >> 6 * column & 63] for column in range(6)])


@lru_cache(maxsize=1 << 14)
def starred(stars: int, buttons: int, count: int) -> int:
    """The stars when so many of the buttons have become some, one after the other, each the best then."""
    for _ in range(min(count, buttons.bit_count())):
        stars = max([stars | 1 << cell for cell in cells(buttons & ~stars)], key=weight)
    return stars


class Outlook:
    """What buttons are worth to one seat in this round: its chance to win the match."""

    def __init__(self, state: State, seat: int) -> None:
        self._stars = state.stars[seat]
        self._missed = MISSED[state.dice_left - 1]
        cards = state.cards[seat]
        self._colours = [(its, 1 + (c in cards)) for c, its in colour_cells(state.boards[seat]).items()]
        others = [other for other in range(len(state.status)) if other != seat]
        self._against = log(sum([exp(weight(to_come(state, other))) for other in others]))
        self._bust = self._chance(weight(self._stars))
        self._ends: dict[int, float] = {}
        self._best: dict[tuple[int, int], float] = {}

    def _chance(self, own: float) -> float:
        return 1 / (1 + exp(self._against - own))

    def stop(self, buttons: int, pair: float = 0.0) -> float:
        """After quitting with these buttons, a colour that lacks one of three adding `pair` for each of its stars."""
        count, hope = 1, 0.0
        for its, stars in self._colours:
            have = (buttons & its).bit_count()
            if have >= 3:
                count += stars
            elif have == 2:
                hope += pair * stars
        return self._chance(weight(starred(self._stars, buttons, count)) + hope)

    def end(self, buttons: int) -> float:
        """Where the outlook ends."""
        if buttons not in self._ends:
            self._ends[buttons] = self.stop(buttons, PAIR)
        return self._ends[buttons]

    def best(self, buttons: int, rolls: int) -> float:
        """After the better of quitting and rolling, at most so often."""
        if not rolls:
            return self.end(buttons)
        key = buttons, rolls
        if key not in self._best:
            rolled = self.roll(buttons, rolls)
            self._best[key] = max(rolled, self.stop(buttons)) if buttons else rolled
        return self._best[key]

    def roll(self, buttons: int, rolls: int) -> float:
        """The mean over all rolls of what the best button then leads to; what is rarely needed is not looked at."""
        free, total = open_cells(buttons, self._stars), 0.0
        for row in range(0, 36, 6):
            after = [buttons | 1 << cell for cell in cells(free & 63 << row)]
            bust = self._missed[len(after)]
            if rolls > 1:
                after = sorted(after, key=self.end, reverse=True)[:COLUMNS]
            values = sorted([self.best(each, rolls - 1) for each in after], reverse=True)
            # the n-th best is the button where all better columns are missed; the last stands for those not looked at
            chances = [*self._missed[: len(values)], bust]
            total += bust * self._bust
            total += sum([value * (chances[n] - chances[n + 1]) for n, value in enumerate(values)])
        return total / 6


def to_come(state: State, seat: int) -> int:
    """A seat's stars, and if it has quit those it will get."""
    stars, buttons = state.stars[seat], state.buttons[seat]
    return starred(stars, buttons, earned(state, seat, buttons)) if state.status[seat] == HAS_QUIT else stars
