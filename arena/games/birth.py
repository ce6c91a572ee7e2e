"""BIRTH by Takashi Sakaue: two or three players walk a ring of 15 spaces and leave a die where they stop.

Three things here are not from the rule sheet. The sheet shows only in a picture which space belongs to which area and
which one is the start, so the default board is our own and can be changed (options `areas`, `start`). Seat 0 begins.
When totals are equal, a pawn on the start space itself counts as the least far.

Action 0 … 5 plays a die of face 1 … 6. Keys of the dice, with numbers from 0:

- `setup/seat/S`: the eleven dice of seat S;
- `turn/T/birth`: the dice of a Birth in turn T of the match, grouped by owner, seats ascending;
- `turn/T/break`: the hand of the seat whose turn it is, rolled after the Birth if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import ClassVar, NamedTuple

from google.protobuf.message import Message

from arena.games.birth_board import (
    AREAS,
    DICE,
    ONE_DIE,
    SPACES,
    Area,
    Board,
    Heap,
    actions,
    faces,
    heap,
    path,
    place,
    points,
    replaced,
)
from arena.games.dice import Dice
from arena.games.encoding import block, number
from arena.games.rules import BadOption, Game, Mark, Options, Seat, places
from arena.v1.birth_pb2 import BirthView


class State(NamedTuple):
    """Complete position; nothing is hidden in this game."""

    board: Board
    turn: int
    """Turn of the match, from 0; the seats take turns in order."""
    pawns: tuple[int, ...]
    """Index on the ring of each seat's pawn."""
    hands: tuple[Heap, ...]
    placed: tuple[Area, ...]
    """Dice placed in each area, in the order of AREAS."""

    @property
    def mover(self) -> Seat:
        return self.turn % len(self.pawns)


class Birth(Game[State]):
    name = "birth"
    title = "BIRTH"
    seats = range(2, 4)
    actions = 6
    rules_version = 1
    view_field = "birth"
    hides = False
    draw_probability = 0.001  # only seats that forfeit together tie; with 0, a tie would make TrueSkill less certain
    beyond_scores = "if scores are equal, the pawn that is farther along comes first"
    defaults: ClassVar[Options] = {
        # Areas worth more have fewer spaces; the start is in the cheapest area, because a Break is an advantage.
        "areas": [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 5, 5, 8],
        "start": 0,
    }

    def check_options(self, options: Options) -> None:
        areas, start = options["areas"], options["start"]
        if not isinstance(areas, list | tuple) or len(areas) != SPACES or not all(map(_is_area, areas)):
            raise BadOption(f"areas {areas!r}: expected {SPACES} numbers, each one of {AREAS}")
        if type(start) is not int or start not in range(SPACES):
            raise BadOption(f"start {start!r}: expected the index of a space, 0 … {SPACES - 1}")

    def start(self, seats: int, dice: Dice, options: Options) -> State:
        board = Board(tuple(options["areas"]), options["start"])
        return State(
            board,
            turn=0,
            pawns=tuple((board.start + seat) % SPACES for seat in range(seats)),
            hands=tuple(heap(dice.roll(f"setup/seat/{seat}", DICE)) for seat in range(seats)),
            placed=((0,) * seats,) * len(AREAS),
        )

    def pending(self, state: State) -> Mapping[Seat, tuple[int, ...]]:
        mover = state.mover
        hand = state.hands[mover]
        return {mover: actions(hand)} if hand else {}

    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        board, turn, pawns, hands, placed = state
        mover = state.mover
        face, hand = decisions[mover] + 1, hands[mover]
        if face - 1 not in actions(hand):
            raise ValueError(f"seat {mover} cannot play a {face}: its hand is {faces(hand)}")
        space = path(pawns, mover, face)[-1]
        area = AREAS.index(board.areas[space])
        grown = place(placed[area], mover, face, dice, f"turn/{turn}/birth")
        hand -= ONE_DIE[face]
        if space == board.start and hand:  # a Break; 「振り直します」 is an obligation, not an option
            hand = heap(dice.roll(f"turn/{turn}/break", len(faces(hand))))
        return State(
            board,
            turn + 1,
            replaced(pawns, mover, space),
            replaced(hands, mover, hand),
            replaced(placed, area, grown),
        )

    def ranks(self, state: State) -> tuple[int, ...]:
        # Equal totals: 「より先のマスにコマが置かれているプレイヤー」, whose pawn is farther from the start.
        distances = [(pawn - state.board.start) % SPACES for pawn in state.pawns]
        return places(list(zip(self.scores(state), distances, strict=True)))

    def scores(self, state: State) -> tuple[int, ...]:
        return points(state.placed).totals

    def default_action(self, state: State, seat: Seat) -> int:
        return actions(state.hands[seat])[0]

    def view(self, state: State, seat: Seat | None) -> BirthView:
        return BirthView.FromString(self.wire_view(state, seat))

    def wire_view(self, state: State, seat: Seat | None) -> bytes:  # noqa: ARG002 - all seats see the same
        board, turn, pawns, hands, placed = state
        seats = map(_shown_seat, pawns, hands, zip(*placed, strict=True))
        return b"".join([_shown_board(board), number(2, turn), number(1, state.mover), *seats])

    def from_view(self, view: Message, options: Options) -> State:  # noqa: ARG002 - the view has the board
        assert isinstance(view, BirthView)
        seats = view.seats
        placed = [_decoded(tuple(seat.placed)) for seat in seats]
        return State(
            Board(tuple(view.areas), view.start),
            view.turn,
            tuple([seat.pawn for seat in seats]),
            tuple([heap(seat.hand) for seat in seats]),
            tuple(zip(*placed, strict=True)),
        )

    def action_name(self, action: int) -> str:
        return _NAMES[action]

    def action(self, name: str) -> int:
        if name not in _NAMES:
            raise ValueError(f"unknown action {name!r} of birth: actions are {', '.join(_NAMES)}")
        return _NAMES.index(name)

    def picture(self, state: State) -> str:
        return "\n".join([_headline(state), "", *_ring(state), "", *_table(state)])

    def marks(self, state: State, seat: Seat, legal: Sequence[int]) -> Sequence[Mark]:
        ring = _ring(state)
        starts = [label.start() for label in re.finditer(r"(?<=  )\S+", ring[1])]
        where = sorted({path(state.pawns, seat, action + 1)[-1] for action in legal})
        legal_spaces = [Mark(2, starts[space], len(f"{state.board.areas[space]}"), "legal") for space in where]
        name = len(f"seat {seat}")
        return [*legal_spaces, Mark(3, starts[state.pawns[seat]], 1, "own"), Mark(6 + seat, 0, name, "own")]

    def events(self, before: State, decisions: Mapping[Seat, int], after: State) -> Sequence[str]:
        mover, space = before.mover, after.pawns[before.mover]
        face, area = decisions[mover] + 1, before.board.areas[space]
        equal = sum(faces(dice).count(face) for dice in before.placed[AREAS.index(area)])
        happened = [f"Birth: the {equal + 1} dice of face {face} in area {area} are rolled again"] if equal else []
        if space == before.board.start and after.hands[mover]:
            happened.append(f"Break: seat {mover} rolls its hand again")
        return happened


_NAMES = tuple(f"play {face}" for face in range(1, 7))
"""Names of the actions: action n plays a die of face n + 1."""


@cache
def _shown_board(board: Board) -> bytes:
    return BirthView(areas=board.areas, start=board.start).SerializeToString()


@lru_cache(maxsize=1 << 13)
def _shown_seat(pawn: int, hand: Heap, placed: tuple[Heap, ...]) -> bytes:
    heaps = zip(AREAS, placed, strict=True)
    codes = bytes([10 * area + face for area, dice in heaps for face in faces(dice)])
    return block(5, number(1, pawn) + block(2, bytes(faces(hand))) + block(3, codes))


@lru_cache(maxsize=1 << 14)
def _decoded(codes: tuple[int, ...]) -> tuple[Heap, ...]:
    return tuple(heap(code % 10 for code in codes if code // 10 == number) for number in AREAS)


def _is_area(number: object) -> bool:
    return type(number) is int and number in AREAS


def _headline(state: State) -> str:
    if not any(state.hands):
        return "the match is over"
    return f"turn {state.turn + 1} of {DICE * len(state.pawns)}, seat {state.mover} to play"


def _ring(state: State) -> list[str]:
    board, pawns = state.board, state.pawns
    marks = ["*" if space == board.start else "" for space in range(SPACES)]
    areas = [f"{number}{mark}" for number, mark in zip(board.areas, marks, strict=True)]
    seats = [f"{pawns.index(space)}" if space in pawns else "." for space in range(SPACES)]
    return _columns([["area (* start)", *areas], ["pawn of seat", *seats]])


def _table(state: State) -> list[str]:
    scored = points(state.placed)
    heaps = zip(state.hands, *state.placed, strict=True)
    rows = [
        [f"seat {seat}", *("".join(map(str, faces(dice))) or "-" for dice in piles), *map(str, sums)]
        for seat, (piles, sums) in enumerate(zip(heaps, zip(*scored, scored.totals, strict=True), strict=True))
    ]
    areas = [f"in {number}" for number in AREAS]
    return _columns([["", "hand", *areas, "absolute", "relative", "total"], *rows])


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
