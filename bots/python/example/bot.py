"""A few rules of thumb for every game; the example bot of every language plays by them."""

from __future__ import annotations

from collections.abc import Sequence

from arena.v1.birth_pb2 import BirthView
from arena.v1.burning_desire_pb2 import BURNING_DESIRE_PHASE_ROLE, BURNING_DESIRE_PHASE_ROLL, BurningDesireView
from arena.v1.buttons_pb2 import BUTTONS_PHASE_SIDE, BUTTONS_PHASE_TURN, ButtonsSeat, ButtonsView
from arena_bot import Bot, Turn, run

ROLES = (
    ({1}, (0, 10, 25, 60, 120, 250, 500)),
    ({2, 3}, (0, 0, 10, 20, 30, 100, 180)),
    ({4, 5, 6}, (0, 0, 5, 10, 20, 30, 80)),
)
"""The faces that count for each role of Burning Desire, and the points for so many dice."""
FIRST_ROLE, BANK = 128, 131
CELLS, ROLL, QUIT, PASS, FRONT = 36, 36, 37, 38, 39
"""Actions of Buttons; those below CELLS are the cells."""


class Example(Bot):
    """Plays by rules of thumb, and games that it does not know at random."""

    def choose(self, turn: Turn) -> int:
        match self.game:
            case "birth":
                return birth(turn.birth, self.seat, turn.legal)
            case "burning-desire":
                return burning_desire(turn.burning_desire)
            case "buttons":
                return buttons(turn.buttons, self.seat, turn.legal)
        return self.random.choice(turn.legal)


def birth(view: BirthView, seat: int, legal: Sequence[int]) -> int:
    """Choose the die whose move lands in the dearest area, of equal ones the lowest."""
    return max(legal, key=lambda action: view.areas[landing(view, seat, action + 1)])


def landing(view: BirthView, seat: int, face: int) -> int:
    """Find the space where a move ends; it goes on as long as somebody else's pawn is in the way."""
    taken = {other.pawn for place, other in enumerate(view.seats) if place != seat}
    space = (view.seats[seat].pawn + face) % len(view.areas)
    while space in taken:
        space = (space + face) % len(view.areas)
    return space


def burning_desire(view: BurningDesireView) -> int:
    """Roll for ones, take the role that makes most, and never multiply."""
    if view.phase == BURNING_DESIRE_PHASE_ROLL:
        return sum(1 << place for place, face in enumerate(view.dice) if face == 1)
    if view.phase == BURNING_DESIRE_PHASE_ROLE:
        points = [table[sum(face in faces for face in view.dice)] for faces, table in ROLES]
        return FIRST_ROLE + points.index(max(points))
    return BANK


def buttons(view: ButtonsView, seat: int, legal: Sequence[int]) -> int:
    """Leave the round with three buttons, and put them where stars are in line."""
    own = view.seats[seat]
    if view.phase == BUTTONS_PHASE_SIDE:
        return FRONT
    if view.phase == BUTTONS_PHASE_TURN:
        return QUIT if QUIT in legal and len(own.buttons) >= 3 else ROLL
    cells = [action for action in legal if action < CELLS]
    return max(cells, key=lambda cell: stars_in_line(own, cell), default=PASS)


def stars_in_line(own: ButtonsSeat, cell: int) -> int:
    """Count the stars in a cell's row or in its column, whichever has more."""
    row, column = divmod(cell, 6)
    return max(
        sum(star // 6 == row for star in own.stars),
        sum(star % 6 == column for star in own.stars),
    )


run(Example)
