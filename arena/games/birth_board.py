"""The pieces of BIRTH's rules: heaps of dice, moving a pawn, placing a die, points.

Phrases in 「」 are the rule sheet's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

from arena.games.dice import Dice
from arena.games.rules import Seat

AREAS = (1, 2, 3, 5, 8)
SPACES = 15
DICE = 11

Heap: TypeAlias = int
"""Dice of one colour, four bits a face, ones lowest: heaps add and subtract like the dice they hold."""

Area: TypeAlias = tuple[Heap, ...]
"""The dice in one area, a heap for each owner."""

Pips = TypeVar("Pips", int, float)

ONE_DIE: tuple[Heap, ...] = (0, *(1 << 4 * action for action in range(6)))
"""The heap of a single die, by its face."""


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
    """Dice of these faces."""
    return sum([ONE_DIE[face] for face in faces])


# Up to eleven dice make 12,376 heaps, so what is cached by heap stays small.


@cache
def counts(dice: Heap) -> tuple[int, ...]:
    """How many ones, twos, … sixes."""
    return tuple(dice >> 4 * action & 15 for action in range(6))


@cache
def faces(dice: Heap) -> tuple[int, ...]:
    """The faces, ascending."""
    return tuple(face for face, count in enumerate(counts(dice), 1) for _ in range(count))


@cache
def actions(hand: Heap) -> tuple[int, ...]:
    """The choices of a hand: equal dice are one choice, and there is no passing."""
    return tuple(action for action, count in enumerate(counts(hand)) if count)


def path(pawns: Sequence[int], mover: Seat, face: int) -> list[int]:
    """The spaces on which the mover's pawn touches down; it stays on the last, the others hold opponents.

    A five may find opponents both five and ten ahead: its third landing is the space it has just left.
    """
    origin = pawns[mover]
    landings = [(origin + face) % SPACES]
    while landings[-1] in pawns and landings[-1] != origin:
        landings.append((landings[-1] + face) % SPACES)
    return landings


def equal_dice(area: Area, face: int) -> list[int]:
    """How many dice of a face each owner has in an area."""
    shift = 4 * (face - 1)
    return [dice >> shift & 15 for dice in area]


def place(area: Area, mover: Seat, face: int, dice: Dice, key: str) -> Area:
    """The area after the mover's die came in; beside a die of the same face that is a Birth.

    A Birth throws all dice of that face once, whosever they are: 「同じ目のダイス全てを取り出して振り直し」.
    Dice that come out equal stay: 「それを振り直すことはありません」.
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
    """The points of one colour's heaps in the order of AREAS: a die scores the number of its area."""
    return sum(number * len(faces(dice)) for number, dice in zip(AREAS, heaps, strict=True))


def contested(sums: Sequence[Pips]) -> tuple[Pips, ...]:
    """The relative points for pip sums in one area: the largest scores itself, for everybody who has it."""
    top = max(sums)
    return tuple(own if own == top else 0 for own in sums)


@lru_cache(maxsize=1 << 14)
def relative(area: Area) -> tuple[int, ...]:
    """The relative points in one area, by owner."""
    return contested([sum(faces(dice)) for dice in area])


def points(placed: Sequence[Area]) -> Points:
    """The points of the areas in the order of AREAS, as if the match ended now."""
    return Points(
        tuple(map(absolute, zip(*placed, strict=True))),
        tuple(map(sum, zip(*map(relative, placed), strict=True))),
    )


def replaced(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    """The items with another one at `index`."""
    changed = list(items)
    changed[index] = item
    return tuple(changed)
