"""Building blocks of BIRTH's rules: heaps of dice, moving a pawn, placing a die, points.

Phrases in 「」 are quoted from the rule sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

from arena.games.dice import Dice
from arena.games.rules import Seat

AREAS = (1, 2, 3, 5, 8)
"""Numbers of the areas, by the rules; each space has one of them."""
SPACES = 15
"""Spaces of the ring, by the rules."""
DICE = 11
"""Dice of each seat, by the rules."""

Heap: TypeAlias = int
"""Dice of one colour, four bits for the number of each face, ones lowest; heaps can be added and subtracted."""

Area: TypeAlias = tuple[Heap, ...]
"""Dice in one area, one heap for each owner."""

Pips = TypeVar("Pips", int, float)

ONE_DIE: tuple[Heap, ...] = (0, *(1 << 4 * action for action in range(6)))
"""Heap of a single die, by its face."""


class Board(NamedTuple):
    """The ring, clockwise: the area number of every space, and the index of the start space."""

    areas: tuple[int, ...]
    start: int


class Points(NamedTuple):
    """Both kinds of points, by seat."""

    absolute: tuple[int, ...]
    relative: tuple[int, ...]

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(map(sum, zip(*self, strict=True)))


def heap(faces: Iterable[int]) -> Heap:
    """Return the heap of dice with these faces."""
    return sum([ONE_DIE[face] for face in faces])


# Up to eleven dice make 12,376 different heaps, so caches by heap stay small.


@cache
def counts(dice: Heap) -> tuple[int, ...]:
    """Return the number of ones, twos, … sixes in a heap."""
    return tuple(dice >> 4 * action & 15 for action in range(6))


@cache
def faces(dice: Heap) -> tuple[int, ...]:
    """Return the faces of a heap, ascending."""
    return tuple(face for face, count in enumerate(counts(dice), 1) for _ in range(count))


@cache
def actions(hand: Heap) -> tuple[int, ...]:
    """Return the legal actions for a hand: equal dice are one action, and passing is not allowed."""
    return tuple(action for action, count in enumerate(counts(hand)) if count)


def path(pawns: Sequence[int], mover: Seat, face: int) -> list[int]:
    """Return the spaces where the mover's pawn lands; it stays on the last one, the others hold opponents.

    A five may find opponents both five and ten spaces ahead: its third landing is then the space it started from.
    """
    origin = pawns[mover]
    landings = [(origin + face) % SPACES]
    while landings[-1] in pawns and landings[-1] != origin:
        landings.append((landings[-1] + face) % SPACES)
    return landings


def equal_dice(area: Area, face: int) -> list[int]:
    """Count the dice with this face in an area, for each owner."""
    shift = 4 * (face - 1)
    return [dice >> shift & 15 for dice in area]


def place(area: Area, mover: Seat, face: int, dice: Dice, key: str) -> Area:
    """Return the area after the mover has placed a die; if the area already has a die of that face, it is a Birth.

    A Birth rolls all dice of that face once, whoever owns them:
    「同じ目のダイス全てを取り出して振り直し」. Dice that are equal after the roll stay:
    「それを振り直すことはありません」.
    """
    area = replaced(area, mover, area[mover] + ONE_DIE[face])
    equal = equal_dice(area, face)
    if sum(equal) == 1:
        return area
    heaps, thrown = list(area), iter(dice.roll(key, sum(equal)))
    for owner, count in enumerate(equal):
        if count:
            heaps[owner] += heap(islice(thrown, count)) - count * ONE_DIE[face]
    return tuple(heaps)


@lru_cache(maxsize=1 << 14)
def absolute(heaps: tuple[Heap, ...]) -> int:
    """Return the absolute points of one colour, heaps in the order of AREAS: a die scores the number of its area."""
    return sum(number * len(faces(dice)) for number, dice in zip(AREAS, heaps, strict=True))


def contested(sums: Sequence[Pips]) -> tuple[Pips, ...]:
    """Return the relative points for sums of pips in one area: each owner of the largest sum scores it, others 0."""
    top = max(sums)
    return tuple(total if total == top else 0 for total in sums)


@lru_cache(maxsize=1 << 14)
def relative(area: Area) -> tuple[int, ...]:
    """Return the relative points in one area, by owner."""
    return contested([sum(faces(dice)) for dice in area])


def points(placed: Sequence[Area]) -> Points:
    """Return the points of all areas, in the order of AREAS, as if the match ended now."""
    return Points(
        tuple(map(absolute, zip(*placed, strict=True))),
        tuple(map(sum, zip(*map(relative, placed), strict=True))),
    )


def replaced(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    """Return the items with the one at `index` replaced."""
    changed = list(items)
    changed[index] = item
    return tuple(changed)
