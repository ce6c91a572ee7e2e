"""What bots took from each other in complete groups, pair by pair, and how much that varies from group to group.

A pair that met in several groups shows by itself how much they differ. One that met once does not: its group is
compared with what the two take from all others. So a single round of many bots tells how much groups differ, too.
"""

from __future__ import annotations

from collections import defaultdict
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
    """What bots took from each other, made of sums of whole numbers, with the spread of every pair.

    A field of thousands has a million pairs. So what is done for each of them is done in one place, without a call.
    """

    def __init__(self, seats: int, sums: PairTable) -> None:
        self._unit = unit = 2 * seats  # half points of a pair in a group
        self._sums = sums
        self._errors: dict[str, dict[str, float]] = {}
        taken: defaultdict[str, dict[str, float]] = defaultdict(dict)
        several: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for first, row in sums.items():
            own = taken[first]
            for second, (groups, halves, _) in row.items():
                own[second] = share = halves / (unit * groups) - 0.5
                taken[second][first] = -share
                if groups > 1:
                    several[first][second] = several[second][first] = groups
        self.taken: Mapping[str, Mapping[str, float]] = dict(sorted(taken.items()))
        """Mean share less a half by bot and opponent, in one order, since sums of fractions depend on it."""
        self.several: Mapping[str, Mapping[str, int]] = {bot: several.get(bot, {}) for bot in self.taken}
        """By bot the opponents that it met in several groups, with their number."""
        self.groups_of = {  # each group has all other seats
            bot: (len(row) + sum(self.several[bot].values()) - len(self.several[bot])) // (seats - 1)
            for bot, row in self.taken.items()
        }
        """Number of groups of each bot."""
        self._fitted = {bot: 1 / len(row) for bot, row in self.taken.items()}
        """Part that a bot's offset has in the variance of each of its pairs: it is fitted to them."""

    def have_met(self, bot: str, rival: str) -> bool:
        """Tell whether two bots were in a group together."""
        return rival in self.taken.get(bot, {})

    def groups(self, bot: str, rival: str) -> int:
        """Return in how many groups two bots met that did."""
        return self.several[bot].get(rival, 1)

    def sums(self, pair: Pair) -> PairSums:
        """Return the sums of a pair that met."""
        return self._sums[pair[0]][pair[1]]

    def pairing(self, pair: Pair) -> Pairing:
        """Return what the groups of a pair that met come to."""
        groups, halves, squares = self.sums(pair)
        several = groups * (groups - 1) * self._unit * self._unit
        variance = scatter(groups, halves, squares) / several if several else 0.0
        return Pairing(groups, halves / (self._unit * groups), variance)

    def errors(self, bot: str) -> Mapping[str, float]:
        """Return by opponent the squared standard error of what a bot took from it.

        Of a pair that met once it is how far the group is from what was expected, squared, and the ladder's usual
        variance for the part that the offsets explain.
        """
        if bot in self._errors:
            return self._errors[bot]
        row, several, own, usual = self.taken[bot], self.several[bot], self._fitted[bot], self.usual / 4
        likely = expected(self._offsets[bot], map(self._offsets.__getitem__, row))
        explained = [own + part if own + part < 1 else 1.0 for part in map(self._fitted.__getitem__, row)]
        distances = map(float.__sub__, row.values(), likely)
        self._errors[bot] = errors = {
            opponent: distance * distance + part * usual * (1 - taken * taken)
            for (opponent, taken), distance, part in zip(row.items(), distances, explained, strict=True)
        }
        for opponent, groups in several.items():
            errors[opponent] = self._variance(as_pair(bot, opponent)[0]) / groups
        return errors

    def _variance(self, pair: Pair) -> float:
        """Return the variance of a pair's share from group to group, blended with the ladder's usual one."""
        pairing = self.pairing(pair)
        own = (pairing.groups - 1) * pairing.variance
        return (own + _PRIOR_GROUPS * self.usual * pairing.widest) / (pairing.groups - 1 + _PRIOR_GROUPS)

    def middle(self, pair: Pair) -> tuple[float, float]:
        """Return around how many half points the groups of a pair lie, and the sum of the squares of how far."""
        groups, halves, squares = self.sums(pair)
        if groups > 1:
            return halves / groups, scatter(groups, halves, squares) / groups
        (likely,) = expected(self._offsets[pair[0]], [self._offsets[pair[1]]])
        return self._unit * (0.5 + likely), self._unit**2 * self.errors(pair[0])[pair[1]]

    @cached_property
    def usual(self) -> float:
        """Usual variance in this ladder as a part of the largest possible, with one all-or-nothing group added.

        A pair's share is itself uncertain, by its variance over its groups, which is added to what the share leaves of
        the largest possible. A single group says how far it is from what was expected.
        """
        total = widest = 0.0
        for first, row in self._sums.items():
            taken, several, own, fitted = self.taken[first], self.several[first], self._fitted[first], self._fitted
            expectation = expected(self._offsets[first], map(self._offsets.__getitem__, row))
            for second, likely in zip(row, expectation, strict=True):
                if second in several:
                    groups, share, variance = self.pairing((first, second))
                    total += (groups - 1) * variance
                    widest += (groups - 1) * (share * (1 - share) + variance / groups)
                else:
                    distance = taken[second] - likely
                    total += distance * distance
                    widest += max(0.0, 1 - own - fitted[second]) * (0.25 - likely * likely)
        return (total + 0.25) / (widest + 0.25)

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom of all pairs together."""
        several = sum(sum(row.values()) - len(row) for row in self.several.values())
        single = sum(self.left_over(bot, self.once(bot, row)) for bot, row in self.taken.items())
        return max(1.0, (several + single) / 2)  # each pair is there from either side

    def once(self, bot: str, opponents: Iterable[str]) -> Sequence[str]:
        """Return those of a bot's opponents that it met in a single group."""
        several = self.several[bot]
        return [opponent for opponent in opponents if opponent not in several] if several else [*opponents]

    def left_over(self, bot: str, once: Sequence[str]) -> float:
        """Return the degrees of freedom that are left to groups with bots met once."""
        return max(0.0, len(once) * (1 - self._fitted[bot]) - sum(map(self._fitted.__getitem__, once)))

    @cached_property
    def _offsets(self) -> dict[str, float]:
        return offsets(self.taken)


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
