"""One turn of Burning Desire, played best for any worth of its points: exact, by dynamic programming.

A hand is what is kept of the seven dice: some ordinary ones, and the bonus die or not. Faces 2 and 3 are alike, and
so are 4, 5 and 6: hands that differ by exchanging those are one, which leaves 1,170 of 6,468.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import factorial, fsum, prod
from operator import mul
from typing import NamedTuple, TypeAlias

from arena.games.burning_desire_dice import DICE, MULTIPLIERS, ROLES, score

FACES = range(1, 7)
ALIKE = ((1,), (2, 3), (4, 5, 6))
"""Faces that may be exchanged: they count for the same role."""
_PRODUCTS = Counter(a * b for a, b in product(*MULTIPLIERS))
FACTORS = {factor: ways / _PRODUCTS.total() for factor, ways in _PRODUCTS.items()}
"""How likely it is that the multiplier dice multiply by a number."""

Faces: TypeAlias = tuple[int, ...]
Worth: TypeAlias = Callable[[int], float]
"""What it is worth to have these points."""
Values: TypeAlias = Sequence[float]
"""By hand, numbered as in `_Hands`."""


def plan(worth: Worth) -> tuple[Values, Values]:
    """What it is worth to keep a hand and throw the other dice, after the first roll and after the second."""
    hands = _hands()
    worths = {points: worth(points) for points in hands.scores}
    second = _thrown([max(worths[points] for points in options) for options in hands.points])
    return array("d", _thrown(_best(second))), array("d", second)


def mean(worth: Worth) -> float:
    """What the whole turn is worth before its first roll."""
    first, _ = plan(worth)
    return fsum(map(mul, _hands().odds, _best(first)))


def keep(dice: Sequence[int], values: Values) -> int:
    """The action that keeps the best hand of these dice; of equal dice the first ones, of equal hands the largest."""
    _, kept, bonus = max(_choices(tuple(sorted(dice[:-1])), dice[-1]), key=lambda choice: values[choice[0]])
    missing = list(kept)
    mask = 1 << DICE - 1 if bonus else 0
    for die, face in enumerate(dice[:-1]):
        if face in missing:
            missing.remove(face)
            mask |= 1 << die
    return mask


@lru_cache(maxsize=1 << 12)
def _choices(ordinary: Faces, bonus: int) -> list[tuple[int, Faces, int]]:
    """What may be kept: the hand's number, its ordinary faces and the bonus die's, 0 if that is thrown."""
    parts = {part for size in range(DICE) for part in combinations(ordinary, size)}
    kept = sorted(product(parts, (bonus, 0)), key=lambda hand: (-len(hand[0]), hand[1] == 0, hand[0]))
    return [(_hands().numbers[_pattern(*hand)], *hand) for hand in kept]


class _Hands(NamedTuple):
    """All hands, full ones first; then the more dice the earlier."""

    numbers: dict[object, int]
    throws: list[Faces]
    """Of each hand that is not full: the hands that throwing one more die makes of it."""
    parts: list[Faces]
    """Of each hand: the hands that lack one of its dice."""
    points: list[tuple[int, ...]]
    """Of each full hand: the points of every role."""
    odds: list[float]
    """Of each full hand: how likely the first roll shows it."""
    scores: list[int]


@cache
def _hands() -> _Hands:
    shown: dict[object, tuple[Faces, int]] = {}
    odds = Counter[object]()
    for size in range(DICE, -1, -1):
        for bonus in (*FACES, 0) if size else (0,):
            for kept in combinations_with_replacement(FACES, size - bool(bonus)):
                if len(kept) < DICE:
                    hand = _pattern(kept, bonus)
                    shown.setdefault(hand, (kept, bonus))
                    odds[hand] += _ways(kept)
    numbers = {hand: number for number, hand in enumerate(shown)}
    full = [dice for dice in shown.values() if len(dice[0]) == DICE - 1 and dice[1]]
    points = [tuple(score(role, (*kept, bonus)) for role in ROLES) for kept, bonus in full]
    return _Hands(
        numbers,
        [tuple(numbers[hand] for hand in _thrown_one(*dice)) for dice in list(shown.values())[len(full) :]],
        [tuple({numbers[hand] for hand in _without_one(*dice)}) for dice in shown.values()],
        points,
        [odds[_pattern(*dice)] / len(FACES) ** DICE for dice in full],
        sorted({score for options in points for score in options}),
    )


def _pattern(kept: Faces, bonus: int) -> object:
    """The same for hands that differ only by exchanging faces that are alike."""
    return bonus == 0, *(tuple(sorted((kept.count(face), face == bonus) for face in alike)) for alike in ALIKE)


def _ways(kept: Faces) -> int:
    """In how many orders dice can show these faces."""
    return factorial(len(kept)) // prod(map(factorial, Counter(kept).values()))


def _thrown_one(kept: Faces, bonus: int) -> list[object]:
    """The bonus die first: fewer hands have none."""
    if not bonus:
        return [_pattern(kept, face) for face in FACES]
    return [_pattern((*kept, face), bonus) for face in FACES]


def _without_one(kept: Faces, bonus: int) -> list[object]:
    fewer = [_pattern((*kept[:die], *kept[die + 1 :]), bonus) for die in range(len(kept))]
    return [*fewer, _pattern(kept, 0)] if bonus else fewer


def _thrown(full: list[float]) -> list[float]:
    """The mean over all throws of the missing dice, of every hand; from the values of full ones."""
    values = full.copy()
    for a, b, c, d, e, f in _hands().throws:
        values.append((values[a] + values[b] + values[c] + values[d] + values[e] + values[f]) / 6)
    return values


def _best(values: Sequence[float]) -> list[float]:
    """Of each full hand: the value of the best of all its parts, itself included."""
    best, parts = list(values), _hands().parts
    for hand in range(len(best) - 2, -1, -1):
        for part in parts[hand]:
            if best[part] > best[hand]:
                best[hand] = best[part]
    return best[: len(_hands().points)]
