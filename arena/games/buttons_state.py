"""What a position of Buttons consists of; `buttons` has what may be done in it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from arena.games.rules import Seat
from arena.v1 import buttons_pb2 as wire

Phase: TypeAlias = "wire.ButtonsPhase.ValueType"
Status: TypeAlias = "wire.ButtonsStatus.ValueType"


class Position(NamedTuple):
    """All that is on the table. A set of cells is an integer whose bit n is cell n."""

    phase: Phase
    round: int
    """From 0, as is `turn`; the dice keys name them."""
    turn: int
    active: Seat
    starter: Seat
    dice: tuple[int, ...]
    """The roll on the table: white, gold black, plain blacks; empty if this turn has none."""
    sides: tuple[tuple[str, ...], ...]
    """By seat, as all that follow: front and back while the side is being chosen, then empty."""
    boards: tuple[str, ...]
    """The colour of each cell; empty while the side is being chosen."""
    cards: tuple[str, ...]
    buttons: tuple[int, ...]
    stars: tuple[int, ...]
    status: tuple[Status, ...]
    due: tuple[int, ...]
    """Stars still to place in scoring."""
    max_rounds: int
