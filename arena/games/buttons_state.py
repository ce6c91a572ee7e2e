"""The position in a match of Buttons, as a value; the rules that change it are in the module `buttons`."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from arena.games.rules import Seat
from arena.v1 import buttons_pb2 as wire

Phase: TypeAlias = "wire.ButtonsPhase.ValueType"
Status: TypeAlias = "wire.ButtonsStatus.ValueType"


class Position(NamedTuple):
    """Complete position of a match. A set of cells is an integer whose bit n is cell n."""

    phase: Phase
    round: int
    """Number of the round, from 0. `round` and `turn` are part of the keys by which the dice are rolled."""
    turn: int
    """Number of the turn, from 0."""
    active: Seat
    starter: Seat
    dice: tuple[int, ...]
    """The current roll: white, gold black, plain blacks; empty if nothing has been rolled in this turn."""
    sides: tuple[tuple[str, ...], ...]
    """Front and back of each seat's board while sides are being chosen, then empty.

    This field and all fields below except `max_rounds` are indexed by seat.
    """
    boards: tuple[str, ...]
    """Colour of each cell; empty while sides are being chosen."""
    cards: tuple[str, ...]
    buttons: tuple[int, ...]
    stars: tuple[int, ...]
    status: tuple[Status, ...]
    due: tuple[int, ...]
    """Stars that each seat still has to place in scoring."""
    max_rounds: int
