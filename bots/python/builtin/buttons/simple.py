"""Three ways to play Buttons: to stop early, to collect colours, and to reckon with the next roll."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from arena.games.buttons import FRONT, HAS_QUIT, PASS, PLACE, QUIT, ROLL, SIDE, State
from arena.games.buttons_board import LINES, cells, colour_cells, open_cells, reward

SAFE, BOLD = 0.15, 0.3
"""The chances of a bust that cautious and greedy put up with."""
WON = 50.0
GAIN = (0.05, 0.2, 1.0, 5.0, WON, 0.0)
"""What a star adds on a line with 0 … 5 of them, where any star is worth 1; found by trying."""
NEARLY = 0.2
"""What the stars of a colour are worth when one of its three buttons is missing."""
MISSED = [[((6 - columns) / 6) ** black for columns in range(7)] for black in range(6)]
"""The chance that so many black dice all miss so many columns."""
LINES_OF = [[line for line in LINES if line >> cell & 1] for cell in range(36)]


def cautious(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Quits with the first colour that is worth a star, or when one roll in seven would bust.

    It puts buttons where they leave most of the board open, stars where a line has most, and uses the others' rolls
    only while that is safe.
    """
    if len(legal) == 1:
        return legal[0]
    placed, stars, dice = state.buttons[seat], state.stars[seat], state.dice_left
    if state.phase == SIDE:
        return random.choice(legal)
    if QUIT in legal:
        risky = bust_chance(placed, stars, dice) > SAFE
        return QUIT if risky or earned(state, seat, placed) > 1 else ROLL
    if PASS in legal:
        return legal[0] if bust_chance(after(placed, legal[0]), stars, dice) <= SAFE else PASS
    if state.phase == PLACE:
        return min(legal, key=lambda cell: bust_chance(after(placed, cell), stars, dice))
    return max(legal, key=lambda cell: longest(stars, cell))


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Rolls on until it has three of a card's colour or of two colours, or three rolls in ten would bust.

    It takes every button, where it earns most now, and puts its stars where a line has most already.
    """
    if len(legal) == 1:
        return legal[0]
    placed, stars = state.buttons[seat], state.stars[seat]
    if state.phase == SIDE:
        return random.choice(legal)
    if QUIT in legal:
        risky = bust_chance(placed, stars, state.dice_left) > BOLD
        return QUIT if risky or earned(state, seat, placed) > 2 else ROLL
    if state.phase == PLACE:
        return max(legal, key=lambda action: progress(state, seat, after(placed, action)))
    return max(legal, key=lambda cell: longest(stars, cell))


def planner(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Weighs quitting now against all that the next roll may bring, a star being worth what it does for a line.

    Buttons, passes and sides are chosen by the same reckoning, and it never quits behind somebody who has won.
    """
    if len(legal) == 1:
        return legal[0]
    if state.phase == SIDE:
        return max(legal, key=lambda action: pairs(state.sides[seat][action - FRONT]))
    plan, placed, dice = Plan(state, seat), state.buttons[seat], state.dice_left
    if QUIT in legal:
        if any(wins(state, other) for other, status in enumerate(state.status) if status == HAS_QUIT):
            return QUIT if wins(state, seat) else ROLL
        return QUIT if plan.worth(placed) >= plan.after_roll(placed, dice) else ROLL
    if state.phase == PLACE:
        return max(legal, key=lambda action: plan.outlook(after(placed, action), dice))
    return max(legal, key=plan.values.__getitem__)


def after(buttons: int, action: int) -> int:
    """The buttons after a placement or a pass."""
    return buttons if action == PASS else buttons | 1 << action


def bust_chance(buttons: int, stars: int, dice: int) -> float:
    """How likely a roll of so many dice, the white one among them, hits no open cell."""
    free = open_cells(buttons, stars)
    return sum([MISSED[dice - 1][(free >> row & 63).bit_count()] for row in range(0, 36, 6)]) / 6


def earned(state: State, seat: int, buttons: int) -> int:
    """The stars for quitting with these buttons."""
    return reward(state.boards[seat], state.cards[seat], buttons)


def colour_stars(state: State, seat: int) -> list[tuple[int, int]]:
    """The cells of each colour on a seat's board, and the stars for three buttons there."""
    cards = state.cards[seat]
    return [(its, 1 + (colour in cards)) for colour, its in colour_cells(state.boards[seat]).items()]


def counted(colours: Sequence[tuple[int, int]], buttons: int, nearly: float) -> tuple[int, float]:
    """The stars for quitting, as `earned` but quicker; and for each colour that lacks one button a part of its own."""
    count, hope = 1, 0.0
    for its, stars in colours:
        have = (buttons & its).bit_count()
        if have >= 3:
            count += stars
        elif have == 2:
            hope += nearly * stars
    return count, hope


def progress(state: State, seat: int, buttons: int) -> tuple[int, list[float]]:
    """The stars so far, then how far each colour is, best first, half a button more for a card."""
    counts = [
        min(3, (buttons & its).bit_count()) + (colour in state.cards[seat]) / 2
        for colour, its in colour_cells(state.boards[seat]).items()
    ]
    return earned(state, seat, buttons), sorted(counts, reverse=True)


def longest(stars: int, cell: int) -> int:
    """The most stars on any line through the cell."""
    return max((stars & line).bit_count() for line in LINES_OF[cell])


def pairs(side: str) -> int:
    """How many pairs of one colour the best column has whose buttons do not touch."""
    columns = [side[column::6] for column in range(6)]
    return max(sum(c[i] == c[j] for i in range(6) for j in range(i + 2, 6)) for c in columns)


def wins(state: State, seat: int) -> bool:
    """Whether quitting with its buttons gives the seat a line or twelve stars."""
    buttons, stars = state.buttons[seat], state.stars[seat]
    count = earned(state, seat, buttons)
    missing = [line & ~stars for line in LINES if not line & ~(stars | buttons)]
    return stars.bit_count() + count >= 12 or any(lacking.bit_count() <= count for lacking in missing)


@lru_cache(maxsize=256)  # stars change once a round
def star_values(stars: int) -> list[float]:
    """What a star would be worth on each cell."""
    gains = {line: GAIN[(stars & line).bit_count()] for line in LINES}
    return [1 + sum([gains[line] for line in LINES_OF[cell]]) for cell in range(36)]


class Plan:
    """What buttons are worth to one seat in this round."""

    def __init__(self, state: State, seat: int) -> None:
        self.stars = state.stars[seat]
        self.values = star_values(self.stars)
        self._colours = colour_stars(state, seat)

    def worth(self, buttons: int, nearly: float = 0.0) -> float:
        """The value of the stars for quitting, and a part of those for colours that lack one button."""
        if not buttons:
            return 0.0
        count, hope = counted(self._colours, buttons, nearly)
        best = sorted([self.values[cell] for cell in cells(buttons)], reverse=True)[:count]
        return sum(best) + hope + (WON if self.stars.bit_count() + count >= 12 else 0)

    def after_roll(self, buttons: int, dice: int) -> float:
        """The mean over all rolls of what the best button then is worth; nothing after a bust."""
        free, missed = open_cells(buttons, self.stars), MISSED[dice - 1]
        total = 0.0
        for row in range(6):
            open_here = cells(free & 63 << 6 * row)
            values = sorted([self.worth(buttons | 1 << cell, NEARLY) for cell in open_here], reverse=True)
            # the n-th best is the button where all better columns are missed and its own is not
            total += sum([value * (missed[n] - missed[n + 1]) for n, value in enumerate(values)])
        return total / 6

    def outlook(self, buttons: int, dice: int) -> float:
        """What buttons are worth if the seat then does the better of quitting and rolling once."""
        return max(self.worth(buttons), self.after_roll(buttons, dice))
