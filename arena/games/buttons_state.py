"""The parts of a position in Buttons; the module `buttons` has what can be done in it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from arena.games.rules import Seat
from arena.v1 import buttons_pb2 as wire

Phase: TypeAlias = "wire.ButtonsPhase.ValueType"
Status: TypeAlias = "wire.ButtonsStatus.ValueType"


class Position(NamedTuple):
    """Everything on the table. A set of cells is an integer whose bit n is cell n."""

    phase: Phase
    round: int
    """Counted from 0, like `turn`; both are part of the keys of the dice."""
    turn: int
    active: Seat
    starter: Seat
    dice: tuple[int, ...]
    """The current roll: white, gold black, plain blacks; empty if nothing has been rolled in this turn."""
    sides: tuple[tuple[str, ...], ...]
    """By seat, like all fields below except `max_rounds`: front and back while sides are being chosen, then empty."""
    boards: tuple[str, ...]
    """Colour of each cell; empty while sides are being chosen."""
    cards: tuple[str, ...]
    buttons: tuple[int, ...]
    stars: tuple[int, ...]
    status: tuple[Status, ...]
    due: tuple[int, ...]
    """Stars that each seat still has to place in scoring."""
    max_rounds: int
