"""Two ways to play BIRTH: without risk, and for the most points now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple, TypeAlias

from arena.games.birth import State
from arena.games.birth_board import AREAS, contested, equal_dice, faces, path, relative

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
    """Avoids every Birth it can, and among what is left takes the most points now.

    A Birth may turn good dice into bad ones, its own included; to never risk it costs more than it saves.
    """

    def safety(action: int) -> tuple[bool, float, int]:
        landing = land(state, seat, action)
        return not landing.birth, gain(state, seat, landing), -action

    return max(legal, key=safety)


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Takes the most points now, of both kinds, with the lowest die that does.

    Dice that a Birth throws again count as 3.5 pips; what comes after its turn it does not think about.
    """
    return max(legal, key=lambda action: (gain(state, seat, land(state, seat, action)), -action))


def gain(state: State, seat: int, landing: Landing) -> float:
    """What a landing adds to the seat's own points, a Birth's dice at their mean."""
    area = state.placed[landing.area]
    sums: list[float] = [sum(faces(dice)) for dice in area]
    sums[seat] += landing.face
    if landing.birth:
        sums = [own + count * (MEAN_FACE - landing.face) for own, count in zip(sums, landing.equal, strict=True)]
    return AREAS[landing.area] + contested(sums)[seat] - relative(area)[seat]


STRATEGIES: Mapping[str, Strategy] = {"cautious": cautious, "greedy": greedy}
