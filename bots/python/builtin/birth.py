"""Two ways to play BIRTH: for safe points, and for the most points now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeAlias

from arena.games.birth import State
from arena.games.birth_board import AREAS, contested, equal_dice, faces, path, points, relative

Strategy: TypeAlias = Callable[[State, int, Sequence[int], Random], int]

MEAN_FACE = 3.5


class Landing(NamedTuple):
    """Where an action takes its die: an index of AREAS, and how many dice of that face each seat has there then."""

    face: int
    area: int
    equal: list[int]

    @property
    def birth(self) -> bool:
        return sum(self.equal) > 1


def land(state: State, seat: int, action: int) -> Landing:
    face = action + 1
    space = path(state.pawns, seat, face)[-1]
    area = AREAS.index(state.board.areas[space])
    equal = equal_dice(state.placed[area], face)
    equal[seat] += 1
    return Landing(face, area, equal)


def cautious(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Takes the dearest area that it can reach without a Birth, with its lowest die.

    It counts absolute points only, which nobody can take away, and looks at no opponent.
    """

    def safety(action: int) -> tuple[bool, int, int]:
        landing = land(state, seat, action)
        return not landing.birth, AREAS[landing.area], -action

    return max(legal, key=safety)


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Takes the most points now: its own total less the best of the others', both kinds of points counted.

    Dice that a Birth throws again count as 3.5 pips; what comes after its turn it does not think about.
    """
    totals = points(state.placed).totals

    def lead(action: int) -> tuple[float, float]:
        more = gains(state, seat, land(state, seat, action))
        after = [total + gained for total, gained in zip(totals, more, strict=True)]
        return after.pop(seat) - max(after), random.random()

    return max(legal, key=lead)


def gains(state: State, seat: int, landing: Landing) -> list[float]:
    """What a landing adds to each seat's total, a Birth's dice at their mean."""
    area = state.placed[landing.area]
    sums: list[float] = [sum(faces(dice)) for dice in area]
    sums[seat] += landing.face
    if landing.birth:
        sums = [own + count * (MEAN_FACE - landing.face) for own, count in zip(sums, landing.equal, strict=True)]
    gained = [now - before for now, before in zip(contested(sums), relative(area), strict=True)]
    gained[seat] += AREAS[landing.area]
    return gained


STRATEGIES: Mapping[str, Strategy] = {"cautious": cautious, "greedy": greedy}
