"""One player's board in Buttons: its cells, where a button may lie, what lies there and what it is worth.

A set of cells is an integer whose bit n is cell n; cell n is in row n // 6 + 1 and column n % 6 + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

COLOURS = "RBYG"

_ALL = (1 << 36) - 1
_LEFT = sum(1 << 6 * row for row in range(6))  # the first column
_RIGHT = _LEFT << 5
_FIRST_TWO = _LEFT | _LEFT << 1  # the cells where a line of five along a row can begin
_CELLS_OF_ROW = [
    [tuple(6 * row + column for column in range(6) if marked >> column & 1) for marked in range(64)] for row in range(6)
]
LINES = [0b11111 << 6 * row + column for row in range(6) for column in (0, 1)]
LINES += [(_LEFT & (1 << 30) - 1) << 6 * row + column for row in (0, 1) for column in range(6)]


def cells(marked: int) -> tuple[int, ...]:
    """Return the members of a set of cells, ascending."""
    a, b, c, d, e, f = _CELLS_OF_ROW
    upper = a[marked & 63] + b[marked >> 6 & 63] + c[marked >> 12 & 63]
    return upper + d[marked >> 18 & 63] + e[marked >> 24 & 63] + f[marked >> 30]


def cell_set(members: Iterable[int]) -> int:
    """Return the set of these cells."""
    marked = 0
    for cell in members:
        marked |= 1 << cell
    return marked


def open_cells(buttons: int, stars: int) -> int:
    """Return the set of cells where a button may lie: not on a button or a star, not orthogonally next to a button."""
    beside = (buttons & ~_RIGHT) << 1 | (buttons & ~_LEFT) >> 1
    return _ALL & ~(buttons | beside | buttons << 6 | buttons >> 6 | stars)


def active_cells(dice: Sequence[int], buttons: int, stars: int) -> tuple[int, ...]:
    """Return the cells where the active player may put a button: in the white die's row and any black die's column."""
    columns = 0
    for face in dice[1:]:
        columns |= 1 << face - 1
    row = dice[0] - 1
    return _CELLS_OF_ROW[row][open_cells(buttons, stars) >> 6 * row & columns]


def passive_cells(dice: Sequence[int], buttons: int, stars: int) -> tuple[int, ...]:
    """Return the cell where another player may put a button: where the white and the gold die meet, if it is open."""
    cell = 6 * dice[0] + dice[1] - 7
    return () if stars >> cell & 1 or buttons & _AROUND[cell] else (cell,)


_AROUND = [_ALL & ~open_cells(1 << cell, 0) for cell in range(36)]
"""Set of each cell with its orthogonal neighbours."""


@cache
def colour_cells(board: str) -> Mapping[str, int]:
    """Return the set of cells of each colour."""
    return {colour: cell_set(cell for cell in range(36) if board[cell] == colour) for colour in COLOURS}


def reward(board: str, cards: str, buttons: int) -> int:
    """Count the stars for quitting: one, one for each colour with three buttons, one more if its card is held."""
    full = [colour for colour, its in colour_cells(board).items() if (buttons & its).bit_count() >= 3]
    return 1 + len(full) + sum(card in full for card in cards)


def has_line(stars: int) -> bool:
    """Tell whether five stars are next to each other in a row or a column."""
    across = stars & stars >> 1 & stars >> 2 & stars >> 3 & stars >> 4 & _FIRST_TWO
    return bool(across | stars & stars >> 6 & stars >> 12 & stars >> 18 & stars >> 24)


def standing(stars: int) -> tuple[bool, int]:
    """Return the key that ranks players: a line of five stars beats none, then more stars beat fewer."""
    return has_line(stars), stars.bit_count()


def is_won(boards: Iterable[int]) -> bool:
    """Tell whether some player's stars end the match after a round: five in a line, or twelve of them."""
    return any(stars.bit_count() >= 12 or has_line(stars) for stars in boards)
