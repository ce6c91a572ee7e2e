"""One player's board in Buttons: its cells, where a button may be put, and what the buttons and stars are worth.

A set of cells is an integer whose bit n is cell n; cell n is in row n // 6 + 1 and column n % 6 + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

COLOURS = "RBYG"
"""The colours of cells, as boards and cards name them: red, blue, yellow and green."""

_ALL = (1 << 36) - 1
"""The set of all cells."""
_LEFT = sum(1 << 6 * row for row in range(6))
"""The set of the cells in the first column."""
_RIGHT = _LEFT << 5
"""The set of the cells in the last column."""
_FIRST_TWO = _LEFT | _LEFT << 1
"""The two columns where a line of five cells along a row can begin."""
_CELLS_OF_ROW = [
    [tuple(6 * row + column for column in range(6) if marked >> column & 1) for marked in range(64)] for row in range(6)
]
"""Numbers of the cells of a set in one row: by the row, and by the set's six bits there."""
LINES = [
    *(0b11111 << 6 * row + column for row in range(6) for column in (0, 1)),
    *((_LEFT & (1 << 30) - 1) << 6 * row + column for row in (0, 1) for column in range(6)),
]
"""Sets of five cells next to each other, in a row or a column."""


def cells(marked: int) -> tuple[int, ...]:
    """Return the numbers of the cells in a set, ascending."""
    a, b, c, d, e, f = _CELLS_OF_ROW
    upper = a[marked & 63] + b[marked >> 6 & 63] + c[marked >> 12 & 63]
    return upper + d[marked >> 18 & 63] + e[marked >> 24 & 63] + f[marked >> 30]


def cell_set(members: Iterable[int]) -> int:
    """Return the set that contains the cells with these numbers."""
    marked = 0
    for cell in members:
        marked |= 1 << cell
    return marked


def open_cells(buttons: int, stars: int) -> int:
    """Return the set of cells where a button may lie: not on a button or a star, not orthogonally next to a button."""
    beside = (buttons & ~_RIGHT) << 1 | (buttons & ~_LEFT) >> 1
    return _ALL & ~(buttons | beside | buttons << 6 | buttons >> 6 | stars)


def active_cells(dice: Sequence[int], buttons: int, stars: int) -> tuple[int, ...]:
    """Return the cells where the active player may put a button: in the row of the white die and a black die's column.

    `dice` has the white die, then the black ones.
    """
    columns = 0
    for face in dice[1:]:
        columns |= 1 << face - 1
    row = dice[0] - 1
    return _CELLS_OF_ROW[row][open_cells(buttons, stars) >> 6 * row & columns]


def passive_cells(dice: Sequence[int], buttons: int, stars: int) -> tuple[int, ...]:
    """Return the one cell where another player may put a button, if it is open; otherwise nothing.

    Its row is that of the white die, its column that of the black die with gold pips.
    """
    cell = 6 * dice[0] + dice[1] - 7
    return () if stars >> cell & 1 or buttons & _AROUND[cell] else (cell,)


_AROUND = [_ALL & ~open_cells(1 << cell, 0) for cell in range(36)]
"""For each cell, the set of the cell itself and its orthogonal neighbours."""


@cache
def colour_cells(board: str) -> Mapping[str, int]:
    """Return, for each colour, the set of the board's cells that have it."""
    return {colour: cell_set(cell for cell in range(36) if board[cell] == colour) for colour in COLOURS}


def reward(board: str, cards: str, buttons: int) -> int:
    """Return the number of stars that a player gets for quitting.

    It is one, and one for each colour with three or more buttons, and one more for each of these colours whose card the
    player holds.
    """
    full = [colour for colour, its in colour_cells(board).items() if (buttons & its).bit_count() >= 3]
    return 1 + len(full) + sum(card in full for card in cards)


def has_line(stars: int) -> bool:
    """Tell whether five stars are next to each other in a row or a column."""
    across = stars & stars >> 1 & stars >> 2 & stars >> 3 & stars >> 4 & _FIRST_TWO
    return bool(across | stars & stars >> 6 & stars >> 12 & stars >> 18 & stars >> 24)


def standing(stars: int) -> tuple[bool, int]:
    """Return the key by which players are ranked, larger is better: first a line of five stars, then their number."""
    return has_line(stars), stars.bit_count()


def is_won(boards: Iterable[int]) -> bool:
    """Tell whether the match ends after this round: some player has a line of five stars, or twelve stars.

    `boards` has each player's set of stars.
    """
    return any(stars.bit_count() >= 12 or has_line(stars) for stars in boards)
