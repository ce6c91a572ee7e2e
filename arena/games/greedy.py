"""What a greedy player takes of several legal actions, in each of our own games: one of the policies of playouts.

All is reckoned in whole numbers, because `arena/core` does the same in C, and both must choose alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from arena.games import birth, birth_board, burning_desire, burning_desire_dice, buttons, buttons_board
from arena.games.rules import Seat

Greedy: TypeAlias = Callable[[Any, Seat, Sequence[int]], int]
"""From a state, a seat and its legal actions, which are several, to one of them."""

ENOUGH = 60
"""Points with which it stops rolling in Burning Desire, as the built-in bot `cautious` does."""


def _of_birth(state: birth.State, seat: Seat, legal: Sequence[int]) -> int:
    """Take the most points now, of both kinds, with the lowest die that does.

    Dice that a Birth rolls again count as 3.5 pips.
    """
    return max(legal, key=lambda action: (_twice_gained(state, seat, action + 1), -action))


def _twice_gained(state: birth.State, seat: Seat, face: int) -> int:
    space = birth_board.path(state.pawns, seat, face)[-1]
    number = state.board.areas[space]
    area = state.placed[birth_board.AREAS.index(number)]
    equal = birth_board.equal_dice(area, face)
    equal[seat] += 1
    sums = [2 * sum(birth_board.faces(dice)) for dice in area]
    sums[seat] += 2 * face
    if sum(equal) > 1:
        sums = [pips + count * (7 - 2 * face) for pips, count in zip(sums, equal, strict=True)]
    return 2 * number + birth_board.contested(sums)[seat] - 2 * birth_board.relative(area)[seat]


def _of_burning_desire(state: burning_desire.State, seat: Seat, legal: Sequence[int]) -> int:  # noqa: ARG001
    """Keep the dice of the role that is worth most, stop with enough points, and never multiply."""
    if state.phase is burning_desire.Phase.MULTIPLY:
        return burning_desire.BANK
    best = burning_desire_dice.best_role(state.dice)
    if state.phase is burning_desire.Phase.ROLE:
        return burning_desire.FIRST_ROLE + best
    role = burning_desire_dice.ROLES[best]
    if burning_desire_dice.score(role, state.dice) >= ENOUGH:
        return burning_desire.STOP
    return sum(1 << die for die, face in enumerate(state.dice) if face in role.faces)


def _of_buttons(state: buttons.State, seat: Seat, legal: Sequence[int]) -> int:
    """Roll until it has three of a card's colour or of two colours, or more than three rolls in ten would bust.

    It takes the front of its board and every button, where it earns most now, and puts its stars where a line has most
    already.
    """
    placed, stars = state.buttons[seat], state.stars[seat]
    if state.phase == buttons.SIDE:
        return buttons.FRONT
    if state.phase == buttons.TURN:
        is_rich = buttons_board.reward(state.boards[seat], state.cards[seat], placed) > 2
        return buttons.QUIT if is_rich or _is_risky(placed, stars, state.dice_left - 1) else buttons.ROLL
    if state.phase == buttons.PLACE:
        return max(legal, key=lambda action: _progress(state, seat, action))
    return max(legal, key=lambda cell: max((stars & line).bit_count() for line in _LINES_OF[cell]))


def _is_risky(placed: int, stars: int, black: int) -> bool:
    """Tell whether a roll of a white and so many black dice would hit no open cell in more than three of ten cases."""
    free = buttons_board.open_cells(placed, stars)
    missed = sum((6 - (free >> row & 63).bit_count()) ** black for row in range(0, 36, 6))
    return bool(10 * missed > 3 * 6 * 6**black)


def _progress(state: buttons.State, seat: Seat, action: int) -> tuple[int, list[int]]:
    """Return the stars for quitting then, and twice how far each colour is, best first, one more for a card."""
    placed = state.buttons[seat] | (0 if action == buttons.PASS else 1 << action)
    board, cards = state.boards[seat], state.cards[seat]
    far = [
        2 * min(3, (placed & its).bit_count()) + (colour in cards)
        for colour, its in buttons_board.colour_cells(board).items()
    ]
    return buttons_board.reward(board, cards, placed), sorted(far, reverse=True)


_LINES_OF = [[line for line in buttons_board.LINES if line >> cell & 1] for cell in range(36)]
"""The lines of five that have a cell, by the cell."""

GREEDY: Mapping[str, Greedy] = {"birth": _of_birth, "burning-desire": _of_burning_desire, "buttons": _of_buttons}
"""By the name of the game."""
