"""What a terminal with colours marks in the picture of a game, for a person who has to choose."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from arena import games
from arena.games import Game, KeyedDice
from arena.games.birth_board import path
from arena.games.buttons import ROLL

KINDS = {"legal", "own", "red", "green", "blue", "yellow"}


def positions(game: Game[Any], seats: int) -> Iterator[Any]:
    """The states of a match with random choices."""
    luck, dice = Random(seats), KeyedDice(bytes(32))
    state = game.start(seats, dice, game.options({}))
    while pending := game.pending(state):
        yield state
        state = game.apply(state, {seat: luck.choice(legal) for seat, legal in pending.items()}, dice)


@pytest.mark.parametrize("name", games.names())
def test_marks_lie_in_the_picture(name: str) -> None:
    """Each on text of one line, of a kind that is known; what is owned is the seat's own name or bears its number."""
    game = games.game(name)
    for seats in game.seats:
        for state in positions(game, seats):
            lines = game.picture(state).split("\n")
            for seat, legal in game.pending(state).items():
                marks = game.marks(state, seat, legal)
                told = [(mark.kind, lines[mark.line][mark.column : mark.column + mark.width]) for mark in marks]
                assert all(len(text) == mark.width > 0 for (_, text), mark in zip(told, marks, strict=True))
                assert {kind for kind, _ in told} <= KINDS
                assert {text for kind, text in told if kind == "own"} <= {f"seat {seat}", str(seat)}
                assert f"seat {seat}" in {text for kind, text in told if kind == "own"}


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_cell_of_buttons_has_its_colour_and_the_legal_ones_are_marked(seats: int) -> None:
    """Of all boards, whether a button or a star lies there or not."""
    game = games.game("buttons")
    marked = 0
    for state in positions(game, seats):
        lines = game.picture(state).split("\n")
        for seat, legal in game.pending(state).items():
            marks = game.marks(state, seat, legal)
            shown = [
                (mark.kind[0], lines[mark.line][mark.column].lower())
                for mark in marks
                if mark.kind not in ("own", "legal")
            ]
            assert len(shown) % 36 == 0
            assert all(letter in (colour, "*") for colour, letter in shown)
            cells = [mark for mark in marks if mark.kind == "legal"]
            assert len(cells) == sum(action < ROLL for action in legal)
            for mark, action in zip(cells, legal, strict=False):
                row, column = game.action_name(action).removeprefix("place ").split(",")
                assert lines[mark.line][17 * seat] == row
                assert lines[3][mark.column] == column
                marked += 1
    assert marked


def test_where_a_pawn_of_birth_can_stop_is_marked() -> None:
    """Past other pawns, as the rules have it."""
    game = games.game("birth")
    for state in positions(game, 3):
        ring = game.picture(state).split("\n")[3].split()[3:]
        ((seat, legal),) = game.pending(state).items()
        assert ring[state.pawns[seat]] == str(seat)
        columns = [mark.column for mark in game.marks(state, seat, legal) if mark.kind == "legal"]
        assert len(columns) == len({path(state.pawns, seat, action + 1)[-1] for action in legal})
        assert columns == sorted(columns)
