"""How certain results are: head to head, in points, in order, by seat. The statistical unit is the group.

Matches of a group share their dice, so they say more or less than as many matches with dice of their own. But groups
are independent of each other: every figure is a mean over groups, and its error comes from how groups differ.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from statistics import fmean
from typing import TypeAlias

from ladder.pairs import Pair, table_of
from ladder.points import point, points
from ladder.shares import Estimate, JointSums, Shares
from ladder.student import moments, quantile

GroupResult: TypeAlias = tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]
"""The cyclic order of a group and, by rotation, the ranks by seat."""


class Evidence(Shares):
    """The complete groups of a ladder, counted by their results."""

    def __init__(self, groups: Mapping[GroupResult, int]) -> None:
        self._groups = groups
        self._size = len(next(iter(groups))[0]) if groups else 2
        sums: defaultdict[Pair, list[int]] = defaultdict(lambda: [0] * 3)
        for group, count in groups.items():
            for pair, halves in half_points(group).items():
                add_result(sums[pair], (1, halves, halves * halves), count)
        super().__init__(self._size, table_of(sums), self._all_joint)

    def seats(self) -> list[Estimate]:
        """Return by seat the share of points of whoever sits there.

        In every group all its bots sit there equally often.
        """
        return [self._seat(seat) for seat in range(self._size if self._groups else 0)]

    def _seat(self, seat: int) -> Estimate:
        """Estimate the share of points of one seat.

        A group that is split evenly says nothing about the variance, so it counts as no degree of freedom.
        """
        values = Counter[float]()
        for (_, rotations), count in self._groups.items():
            values[fmean(points(ranks)[seat] for ranks in rotations)] += count
        groups, mean, variance = moments(values)
        freedom = max(1, groups - values[0.5] - 1)
        half = quantile(freedom) * math.sqrt(variance / groups) if groups > 1 else 1.0
        return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), groups)

    def saved(self) -> float | None:
        """Return the part of a group's variance that shared dice remove; below 0 if they add to it.

        The comparison is with as many matches with independent dice, and so independent results. None if nothing
        varies.
        """
        together = alone = 0.0
        for pair, by_seats in _by_seats(self._groups).items():
            freedom = sum(many - 1 for many, _, _ in by_seats)
            if freedom:
                one_match = sum((many - 1) * variance for many, _, variance in by_seats) / freedom
                groups, _, variance = self._pairs.pairing(pair)
                together += groups * variance
                alone += groups * one_match / self._size
        return 1 - together / alone if alone else None

    def _all_joint(self) -> dict[tuple[Pair, Pair], JointSums]:
        sums: defaultdict[tuple[Pair, Pair], list[int]] = defaultdict(lambda: [0] * 4)
        for group, count in self._groups.items():
            for (pair, halves), (pair_, halves_) in combinations(sorted(half_points(group).items()), 2):
                add_result(sums[pair, pair_], (1, halves, halves_, halves * halves_), count)
        return {pairs: JointSums(*row) for pairs, row in sums.items()}


def add_result(sums: list[int], values: Sequence[int], count: int) -> None:
    """Add values to sums as often as this."""
    for number, value in enumerate(values):
        sums[number] += value * count


@lru_cache(maxsize=1 << 10)  # with few bots most groups repeat a result
def half_points(group: GroupResult) -> Mapping[Pair, int]:
    """Return the half points that the first bot of each pair took from the second over the matches of a group."""
    points_of_pairs: defaultdict[Pair, int] = defaultdict(int)
    for pair, _, won in _meetings(group):
        points_of_pairs[pair] += int(2 * won)
    return points_of_pairs


def _meetings(group: GroupResult) -> Iterator[tuple[Pair, tuple[int, int], float]]:
    """Yield every two bots of a group in each of its matches: their seats, and the first one's point."""
    order, rotations = group
    pairs = [sorted(both, key=order.__getitem__) for both in combinations(range(len(order)), 2)]
    for rotation, ranks in enumerate(rotations):
        for first, second in pairs:
            seats = (first - rotation) % len(order), (second - rotation) % len(order)
            yield (order[first], order[second]), seats, point(ranks[seats[0]], ranks[seats[1]])


def _by_seats(groups: Mapping[GroupResult, int]) -> dict[Pair, list[tuple[int, float, float]]]:
    """Return by pair the moments of its single matches, for every two seats that it sat in."""
    values: defaultdict[Pair, defaultdict[tuple[int, int], Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    for group, count in groups.items():
        for pair, seats, won in _meetings(group):
            values[pair][seats][won] += count
    return {pair: [moments(counts) for counts in by_seats.values()] for pair, by_seats in values.items()}
