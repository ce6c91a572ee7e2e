"""What bots took from each other in complete groups, pair by pair, and how much that varies from group to group.

A pair that met in several groups shows by itself how much they differ. One that met once does not: its group is
compared with what the two take from all others. So a single round of many bots tells how much groups differ, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from ladder.additive import expected, offsets

Pair: TypeAlias = tuple[str, str]
"""Two labels in alphabetical order."""
PairSums: TypeAlias = tuple[int, int, int]
"""Of the groups of two bots: how many, half points that the first took from the second, and their squares."""
PairTable: TypeAlias = Mapping[str, Mapping[str, PairSums]]
"""Sums by the first label of a pair and then by the second, each in alphabetical order."""

_PRIOR_GROUPS = 1
"""Groups of the ladder's usual spread that are blended into each pair's own: two groups that agree prove nothing.

Intervals are hardly different if it is 3 or 10. If it is 0.33, those of points and leads are wider after two rounds.
"""


class Pairing(NamedTuple):
    """The groups of two bots: how many, the first one's mean share of points, and its variance from group to group."""

    groups: int
    share: float
    variance: float

    @property
    def widest(self) -> float:
        """Variance if each group were all or nothing; not 0, even if every group went the same way."""
        guarded = (self.groups * self.share + 0.5) / (self.groups + 1)
        return guarded * (1 - guarded)


class Pairs:
    """What bots took from each other, made of sums of whole numbers, with the spread of every pair."""

    def __init__(self, seats: int, sums: PairTable) -> None:
        self._unit = 2 * seats  # half points of a pair in a group
        self._sums = sums
        self._once: dict[str, set[str]] = defaultdict(set)
        self._errors: dict[str, dict[str, float]] = {}
        met = Counter[str]()
        taken: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for first, row in sums.items():
            own = taken[first]
            for second, (groups, halves, _) in row.items():
                own[second] = share = halves / (self._unit * groups) - 0.5
                taken[second][first] = -share
                met[second] += groups
                if groups == 1:
                    self._once[first].add(second)
                    self._once[second].add(first)
            met[first] += sum(groups for groups, _, _ in row.values())
        self.taken: Mapping[str, Mapping[str, float]] = dict(sorted(taken.items()))
        """Mean share less a half by bot and opponent, in one order, since sums of fractions depend on it."""
        self.groups_of = {bot: met[bot] // (seats - 1) for bot in self.taken}  # each group has all other seats
        """Number of groups of each bot."""

    def have_met(self, bot: str, rival: str) -> bool:
        """Tell whether two bots were in a group together."""
        return rival in self.taken.get(bot, {})

    def groups(self, bot: str, rival: str) -> int:
        """Return in how many groups two bots met that did."""
        return self.sums(as_pair(bot, rival)[0])[0]

    def sums(self, pair: Pair) -> PairSums:
        """Return the sums of a pair that met."""
        return self._sums[pair[0]][pair[1]]

    def once(self, bot: str) -> set[str]:
        """Return those that a bot met in a single group."""
        return self._once[bot]

    def pairing(self, pair: Pair) -> Pairing:
        """Return what the groups of a pair that met come to."""
        groups, halves, squares = self.sums(pair)
        several = groups * (groups - 1) * self._unit * self._unit
        variance = scatter(groups, halves, squares) / several if several else 0.0
        return Pairing(groups, halves / (self._unit * groups), variance)

    def errors(self, bot: str) -> Mapping[str, float]:
        """Return by opponent the squared standard error of what a bot took from it."""
        if bot not in self._errors:
            self._errors[bot] = {
                opponent: self.variance(as_pair(bot, opponent)[0]) / self.groups(bot, opponent)
                for opponent in self.taken[bot]
            }
        return self._errors[bot]

    def variance(self, pair: Pair) -> float:
        """Return the variance of a pair's share from group to group, blended with the ladder's usual one.

        Of a pair that met once it is how far the group is from what was expected, squared, and the usual one for the
        part that the offsets explain.
        """
        pairing = self.pairing(pair)
        usual = self.usual * pairing.widest
        if pairing.groups == 1:
            return (pairing.share - self._expected(pair)) ** 2 + self._explained(*pair) * usual
        own = (pairing.groups - 1) * pairing.variance
        return (own + _PRIOR_GROUPS * usual) / (pairing.groups - 1 + _PRIOR_GROUPS)

    def middle(self, pair: Pair) -> tuple[float, float]:
        """Return around how many half points the groups of a pair lie, and the sum of the squares of how far."""
        groups, halves, squares = self.sums(pair)
        if groups == 1:
            return self._unit * self._expected(pair), self._unit**2 * self.variance(pair)
        return halves / groups, scatter(groups, halves, squares) / groups

    @cached_property
    def usual(self) -> float:
        """Usual variance in this ladder as a part of the largest possible, with one all-or-nothing group added.

        A pair's share is itself uncertain, by its variance over its groups, which is added to what the share leaves of
        the largest possible. A single group says how far it is from what was expected.
        """
        total = widest = 0.0
        for first, row in self._sums.items():
            for second, (groups, _, _) in row.items():
                pair = first, second
                _, share, variance = self.pairing(pair)
                if groups > 1:
                    total += (groups - 1) * variance
                    widest += (groups - 1) * (share * (1 - share) + variance / groups)
                else:
                    likely = self._expected(pair)
                    total += (share - likely) ** 2
                    widest += (1 - self._explained(first, second)) * likely * (1 - likely)
        return (total + 0.25) / (widest + 0.25)

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of all pairs together."""
        several = sum(groups - 1 for row in self._sums.values() for groups, _, _ in row.values())
        return max(1.0, several + sum(self.left_over(bot, once) for bot, once in self._once.items()) / 2)

    def left_over(self, bot: str, once: Iterable[str]) -> float:
        """Return the degrees of freedom that are left to groups with bots met once."""
        return sum(1 - self._explained(bot, opponent) for opponent in once)

    @cached_property
    def _offsets(self) -> dict[str, float]:
        return offsets(self.taken)

    def _expected(self, pair: Pair) -> float:
        """Return the share that the first of a pair should take by all their matches with others."""
        return 0.5 + expected(self._offsets[pair[0]], self._offsets[pair[1]])

    def _explained(self, bot: str, opponent: str) -> float:
        """Return the part of the variance of a pair's only group that is gone, as offsets are fitted to it, too."""
        return min(1.0, 1 / len(self.taken[bot]) + 1 / len(self.taken[opponent]))


def table_of(sums: Mapping[Pair, Sequence[int]]) -> PairTable:
    """Return the sums of pairs as a table."""
    table: defaultdict[str, dict[str, PairSums]] = defaultdict(dict)
    for (first, second), (groups, halves, squares) in sorted(sums.items()):
        table[first][second] = groups, halves, squares
    return table


def as_pair(first: str, second: str) -> tuple[Pair, int]:
    """Return the two labels as a pair, and -1 if it begins with the other one, else 1."""
    return ((first, second), 1) if first < second else ((second, first), -1)


def scatter(groups: int, halves: int, squares: int) -> int:
    """Return the sum of squares of what the first took less its mean, times `groups`, to be a whole number."""
    return groups * squares - halves * halves
