"""The dice of Burning Desire: what they score, how they are rerolled and how points are multiplied.

The rules are taken literally, even where it is surprising: a single die in "2-3" or "4-6" scores 0 points and still
earns the bonus.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Role(NamedTuple):
    """Role that can be scored: dice that show one of `faces` count, and `points` is indexed by their number."""

    name: str
    faces: frozenset[int]
    points: tuple[int, ...]


ROLES = (
    Role("1", frozenset({1}), (0, 10, 25, 60, 120, 250, 500)),
    Role("2-3", frozenset({2, 3}), (0, 0, 10, 20, 30, 100, 180)),
    Role("4-6", frozenset({4, 5, 6}), (0, 0, 5, 10, 20, 30, 80)),
)
"""The roles, by the rules, in the order of the actions that choose them."""
_ONES = ROLES[0]
"""The role in which the bonus die doubles the points if it shows a one."""
MULTIPLIERS = ((0, 0, 1, 1, 1, 2), (0, 0, 0, 2, 2, 3))
"""The sides of the multiplier dice A and B, by the rules."""
DICE = 7
"""Six ordinary dice and the bonus die."""

REROLLED = tuple(tuple(die for die in range(DICE) if not mask >> die & 1) for mask in range(1 << DICE))
"""Dice that are rerolled, by the mask of dice kept."""


def score(role: Role, dice: Sequence[int]) -> int:
    """Return the points of seven dice, the bonus die last, in a role."""
    *ordinary, bonus = dice
    used = [face for face in ordinary if face in role.faces]
    points = role.points[len(used)]
    if role is _ONES:
        return 2 * points if bonus == 1 else points
    return points + used.count(bonus) * (20 if len(used) == len(ordinary) else 10)


def best_role(dice: Sequence[int]) -> int:
    """Return the index of the role that scores most; the lowest index if several are equal."""
    points = [score(role, dice) for role in ROLES]
    return points.index(max(points))


def reroll(dice: Sequence[int], kept: int, thrown: Iterable[int]) -> tuple[int, ...]:
    """Return the dice after a reroll: those in the mask `kept` stay, the others get the thrown faces in order."""
    after = list(dice)
    for die, face in zip(REROLLED[kept], thrown, strict=True):
        after[die] = face
    return tuple(after)


def multiplied(points: int, faces: Sequence[int]) -> int:
    """Return the points after one roll of the multiplier dice, A then B."""
    for sides, face in zip(MULTIPLIERS, faces, strict=True):
        points *= sides[face - 1]
    return points
