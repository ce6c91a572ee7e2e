"""Turns positions into rows of numbers for learners: of fixed length, from 0 to 1, the observer's seat first.

A row consists of named blocks, which docs/environments.md lists. Some of what a seat is shown is left out: the options;
in Buttons the colours of a board's two sides while one of them is being chosen; in Burning Desire the turns already
played and the number of multiplications. Missing seats, and whatever does not apply, are zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log10
from typing import Any, TypeAlias

from arena.games import birth, burning_desire, buttons
from arena.games.birth_board import AREAS, DICE, SPACES, counts, equal_dice, path, points
from arena.games.burning_desire_dice import ROLES, score
from arena.games.buttons_board import COLOURS, colour_cells
from arena.games.rules import Seat

Row: TypeAlias = list[float]
Blocks: TypeAlias = dict[str, Row]


class NoObservation(LookupError):
    """Error for a game without observations; the message lists the games that have them."""


def observation(game: str, state: Any, seat: Seat) -> Row:
    """Return a position as a seat sees it, as one row of all blocks. Raises NoObservation."""
    return list(chain.from_iterable(blocks(game, state, seat).values()))


def blocks(game: str, state: Any, seat: Seat) -> Blocks:
    """Return a position as a seat sees it, as blocks by name. Raises NoObservation."""
    if game not in _BLOCKS:
        raise NoObservation(f"positions of {game} have no numbers: those of {', '.join(_BLOCKS)} have")
    return _BLOCKS[game](state, seat)


# --- BIRTH


def _birth(state: birth.State, seat: Seat) -> Blocks:
    board, seats, most = state.board, len(state.pawns), max(birth.Birth.seats)
    order = _from(seat, seats)
    scored = points(state.placed)
    heaps = [[area[player] for player in order] for area in state.placed]
    return {
        "hand": _table((_counts(state.hands[player]) for player in order), most, 6),
        "board": list(chain.from_iterable(_table(map(_counts, area), most, 6) for area in heaps)),
        "pawn": _table(
            (_one_hot((state.pawns[player] - board.start) % SPACES, SPACES) for player in order), most, SPACES
        ),
        "areas": [board.areas[(board.start + step) % SPACES] / AREAS[-1] for step in range(SPACES)],
        "to_move": _marks(order, [state.mover] if any(state.hands) else [], most),
        "players": [seats / most],
        "absolute": _table(([scored.absolute[player] / (DICE * AREAS[-1])] for player in order), most, 1),
        "relative": _table(([scored.relative[player] / (DICE * 6)] for player in order), most, 1),
        "landing": list(chain.from_iterable(_landing(state, seat, action) for action in range(birth.Birth.actions))),
    }


def _landing(state: birth.State, seat: Seat, action: int) -> Row:
    """Describe the effect of an action: the area's number, the dice of the Birth, whether there is a Break."""
    if seat != state.mover or not counts(state.hands[seat])[action]:
        return [0.0, 0.0, 0.0]
    space = path(state.pawns, seat, action + 1)[-1]
    area = state.board.areas[space]
    equal = sum(equal_dice(state.placed[AREAS.index(area)], action + 1))
    born = (equal + 1) / (DICE * max(birth.Birth.seats)) if equal else 0.0
    return [area / AREAS[-1], born, float(space == state.board.start)]


@lru_cache(maxsize=1 << 14)
def _counts(heap: int) -> Row:
    return [count / DICE for count in counts(heap)]


# --- Burning Desire


def _burning_desire(state: burning_desire.State, seat: Seat) -> Blocks:
    seats, most = len(state.totals), max(burning_desire.BurningDesire.seats)
    order = _from(seat, seats)
    roles, total = [score(role, state.dice) for role in ROLES], state.totals[state.current]
    return {
        "dice": list(chain.from_iterable(_one_hot(face - 1, 6) for face in state.dice[:6])),
        "bonus": _one_hot(state.dice[6] - 1, 6),
        "counts": [state.dice[:6].count(face) / 6 for face in range(1, 7)],
        "rolls": _one_hot(state.rolls - 1, burning_desire.ROLLS),
        "phase": _one_hot(state.phase - 1, 3),
        "points": [_share(state.score, 2 * state.goal), _share(log10(1 + state.score), 6)],
        "totals": _table(([_share(state.totals[player], 2 * state.goal)] for player in order), most, 1),
        "players": _marks(order, order, most),
        "stage": _one_hot(state.stage - 1, 3),
        "trigger": _marks(order, [] if state.trigger is None else [state.trigger], most),
        "queue": _marks(order, state.queue, most),
        "to_move": _marks(order, [] if state.stage is burning_desire.Stage.OVER else [state.current], most),
        "behind": [_share(max(state.totals) - state.totals[seat], state.goal)],
        "to_goal": [_share(max(0, state.goal - state.totals[seat]), state.goal)],
        "roles": [_share(value, state.goal) for value in roles],
        "offer": [float(burning_desire.may_multiply(state.stage, total, max(roles), state.goal))],
    }


# --- Buttons


def _buttons(state: buttons.State, seat: Seat) -> Blocks:
    seats, most = len(state.status), max(buttons.Buttons.seats)
    order = _from(seat, seats)
    white, gold, *plain = (face - 1 for face in state.dice) if state.dice else (-1, -1)
    return {
        "buttons": _table((_cells(state.buttons[player]) for player in order), most, 36),
        "stars": _table((_cells(state.stars[player]) for player in order), most, 36),
        "colours": _table((_colours(state.boards[player]) for player in order if state.boards[player]), most, 4 * 36),
        "status": _table((_one_hot(state.status[player] - 1, 3) for player in order), most, 3),
        "cards": _table(([float(card in state.cards[player]) for card in COLOURS] for player in order), most, 4),
        "star_count": _table(([_share(state.stars[player].bit_count(), 12)] for player in order), most, 1),
        "longest_run": _table(([_longest_run(state.stars[player]) / 6] for player in order), most, 1),
        "phase": _one_hot(state.phase - 1, 5),
        "to_move": _marks(order, state.pending, most),
        "active": _marks(order, [state.active], most),
        "starter": _marks(order, [state.starter], most),
        "white": _one_hot(white, 6),
        "gold": _one_hot(gold, 6),
        "plain": [plain.count(column) / 4 for column in range(6)],
        "dice_left": [state.dice_left / 6],
        "stars_to_place": _table(([state.due[player] / 9] for player in order), most, 1),
        "round": [_share(state.round, state.max_rounds)],
    }


@lru_cache(maxsize=1 << 12)
def _cells(marked: int) -> Row:
    return [float(marked >> cell & 1) for cell in range(36)]


@lru_cache(maxsize=64)
def _colours(board: str) -> Row:
    return list(chain.from_iterable(_cells(cells) for cells in colour_cells(board).values()))


_ROW = 0b111111
"""The cells of the first row."""


@lru_cache(maxsize=1 << 12)
def _longest_run(stars: int) -> int:
    """Return the largest number of stars that are next to each other in a row or a column."""
    rows = [stars >> 6 * row & _ROW for row in range(6)]
    columns = [sum((stars >> 6 * row + column & 1) << row for row in range(6)) for column in range(6)]
    return max(_run(line) for line in (*rows, *columns))


def _run(line: int) -> int:
    length = 0
    while line:
        line &= line << 1
        length += 1
    return length


# --- What all of them need


def _from(seat: Seat, seats: int) -> list[Seat]:
    """Return all seats clockwise, the observer first."""
    return [(seat + step) % seats for step in range(seats)]


def _one_hot(index: int, size: int) -> Row:
    """Return a row with 1 at an index and 0 elsewhere; all 0 if the index lies outside."""
    return [float(place == index) for place in range(size)]


def _marks(order: Sequence[Seat], marked: Iterable[Seat], most: int) -> Row:
    """Return 1 for each seat that is marked, else 0, in this order of seats."""
    return _table(([float(seat in marked)] for seat in order), most, 1)


def _table(rows: Iterable[Row], most: int, width: int) -> Row:
    """Join the rows of the seats in the match and fill up with zeros for the missing seats."""
    row = list(chain.from_iterable(rows))
    return row + [0.0] * (most * width - len(row))


def _share(value: float, of: float) -> float:
    return min(1.0, value / of)


_BLOCKS: Mapping[str, Callable[[Any, Seat], Blocks]] = {
    "birth": _birth,
    "burning-desire": _burning_desire,
    "buttons": _buttons,
}
"""What an observation shows, by the name of the game."""
