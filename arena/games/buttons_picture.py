"""Draws the table of Buttons in plain text, the seats side by side: (R) is a button on red, * a star."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arena.games import buttons_board as on
from arena.games.buttons_state import Position
from arena.games.rules import Mark
from arena.v1 import buttons_pb2 as wire

_COLOURS = {"r": "red", "g": "green", "b": "blue", "y": "yellow"}
"""Names of the colours that stand on a board."""
_WIDTH = 17
"""Columns from one seat to the next."""
_STATUS = {wire.BUTTONS_STATUS_IN: "in", wire.BUTTONS_STATUS_QUIT: "quit", wire.BUTTONS_STATUS_BUST: "bust"}
"""What the picture says of a seat's status."""


def picture(state: Position, dice_left: int) -> str:
    """Draw the position, at most 65 characters wide, with the number of dice in the next roll."""
    columns = [_column(state, seat) for seat in range(len(state.status))]
    rows = ["   ".join(row).rstrip() for row in zip(*columns, strict=True)]
    return "\n".join([_headline(state, dice_left), *rows])


def marks(state: Position, seat: int, cells: Collection[int]) -> list[Mark]:
    """Return the colours of all cells, and these cells of a seat, which are legal, in its picture."""
    choosing = state.phase == wire.BUTTONS_PHASE_SIDE
    all_marks = []
    for owner, sides in enumerate(state.sides):
        boards = sides if choosing else (state.boards[owner],)
        all_marks += [mark for at, board in enumerate(boards) for mark in _colours(board, owner, 4 + 8 * at)]
    all_marks.append(Mark(1, _WIDTH * seat, len(f"seat {seat}"), "own"))
    return [*all_marks, *(Mark(4 + cell // 6, _column_of(seat, cell), 1, "legal") for cell in cells)]


def _colours(board: str, seat: int, first: int) -> Iterator[Mark]:
    for cell, colour in enumerate(board):
        yield Mark(first + cell // 6, _column_of(seat, cell), 1, _COLOURS[colour.lower()])


def _column_of(seat: int, cell: int) -> int:
    return _WIDTH * seat + 2 + 2 * (cell % 6)


def _headline(state: Position, dice_left: int) -> str:
    turn = f"round {state.round + 1}, turn {state.turn + 1}: seat {state.active}"
    white, gold, *plain = state.dice or (0, 0)
    return {
        wire.BUTTONS_PHASE_SIDE: "choosing sides",
        wire.BUTTONS_PHASE_TURN: f"{turn} may roll {dice_left} dice",
        wire.BUTTONS_PHASE_PLACE: f"{turn} rolled row {white}, gold {gold}, black {' '.join(map(str, plain))}",
        wire.BUTTONS_PHASE_STAR: f"round {state.round + 1}: placing stars",
        wire.BUTTONS_PHASE_OVER: f"over after round {state.round + 1}{_lines(state)}",
    }[state.phase]


def _lines(state: Position) -> str:
    """Name the seats with five stars in a line, since they win although others may have more stars."""
    lined = [str(seat) for seat, stars in enumerate(state.stars) if on.has_line(stars)]
    return f"; five stars in a line: seat {' and '.join(lined)}" if lined else ""


def _column(state: Position, seat: int) -> list[str]:
    if state.phase == wire.BUTTONS_PHASE_SIDE:
        front, back = (_board(side, 0, 0) for side in state.sides[seat])
        lines = [f"seat {seat}", "front", *front, "back", *back]
    else:
        board, buttons, stars = state.boards[seat], state.buttons[seat], state.stars[seat]
        due = f" +{state.due[seat]}" if state.due[seat] else ""
        count = f"{_STATUS[state.status[seat]]}  {stars.bit_count()}*{due}"
        lines = [f"seat {seat}  {state.cards[seat]}", count, *_board(board, buttons, stars)]
    return [line.ljust(14) for line in lines]


def _board(board: str, buttons: int, stars: int) -> list[str]:
    return ["  1 2 3 4 5 6 ", *(_row(board, buttons, stars, row) for row in range(6))]


def _row(board: str, buttons: int, stars: int, row: int) -> str:
    line = [" "] * 13
    for column in range(6):
        cell, at = 6 * row + column, 2 * column + 1
        line[at] = "*" if stars >> cell & 1 else board[cell].lower()
        if buttons >> cell & 1:  # no two buttons are neighbours, so their brackets do not overlap
            line[at - 1 : at + 2] = "(", board[cell], ")"
    return f"{row + 1}{''.join(line)}"
