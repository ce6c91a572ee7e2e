"""How certain results are: head to head, in points, in order, by seat. The statistical unit is the group.

Matches of a group share their dice, so they say more or less than as many matches with dice of their own. But groups
are independent of each other: every figure is a mean over groups, and its error comes from how groups differ.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from random import Random
from statistics import fmean
from typing import NamedTuple, TypeAlias

from ladder.points import point, points
from ladder.student import moments, probability, quantile, root, wilson

GroupResult: TypeAlias = tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]
"""The cyclic order of a group and, by rotation, the ranks by seat."""
Pair: TypeAlias = tuple[str, str]
"""Two labels in alphabetical order."""
Weights: TypeAlias = Mapping[Pair, float]
"""A figure as a weighted sum over pairs of the points that the first takes from the second, less a half."""

_SURE = 0.98
"""Probability from which on an order counts as certain.

In theory 0.975 is enough, but it calls 5.4 % of equal pairs different in the worst ladder.
"""
_DRAWS = 4000
"""Draws for the probabilities of places. So their standard error is 0.008 at most, and they are told in whole
percents."""
_PRIOR_GROUPS = 1
"""Groups of the ladder's usual spread that are blended into each pair's own: two groups that agree prove nothing.

Intervals are hardly different if it is 3 or 10. If it is 0.33, those of points and leads are wider after two rounds.
"""
_PRIOR_GROUPS_ALONE = 10
"""Groups blended in for the interval of one pair; its own spread says little where one bot nearly always wins.

With 1, such intervals are a quarter wider after four rounds. With 30 they are hardly narrower, and hold the truth less
often than they promise after a dozen rounds.
"""
_LEAST_SPREAD = 0.02
"""Smallest variance, as a part of the largest possible one: no group says more than fifty matches."""


class Estimate(NamedTuple):
    """A mean over groups and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float
    groups: int


class PairSums(NamedTuple):
    """Of the groups of two bots: how many, half points that the first took from the second, and their squares."""

    groups: int
    halves: int
    squares: int

    @property
    def spread(self) -> int:
        """Sum of squares of what the first took, less its mean; times the number of groups, to be a whole number."""
        return self.groups * self.squares - self.halves * self.halves


class JointSums(NamedTuple):
    """Of the groups that two pairs have in common: how many, half points in each pair, and their products."""

    groups: int
    halves: int
    other_halves: int
    products: int


class _Pairing(NamedTuple):
    """The groups of two bots: how many, the first one's mean share of points, and its variance from group to group."""

    groups: int
    share: float
    variance: float

    @property
    def widest(self) -> float:
        """Variance if each group were all or nothing; not 0, even if every group went the same way."""
        guarded = (self.groups * self.share + 0.5) / (self.groups + 1)
        return guarded * (1 - guarded)


class Shares:
    """What bots took from each other in complete groups, and how the shares of pairs go together.

    It is computed from sums of whole numbers, so it is the same wherever these come from. `joint` returns those of any
    two pairs that were in the same groups. Where it leaves out some pairs of a bot, only the bot's figures against a
    single other one are right.
    """

    def __init__(
        self, seats: int, pairs: Mapping[Pair, PairSums], joint: Callable[[], Mapping[tuple[Pair, Pair], JointSums]]
    ) -> None:
        self._pairs = dict(sorted(pairs.items()))  # in one order, since sums of fractions depend on it
        self._joint = joint
        self._pairings = {pair: _pairing(sums, seats) for pair, sums in self._pairs.items()}
        self._opponents: dict[str, set[str]] = defaultdict(set)
        met = Counter[str]()
        for first, second in self._pairs:
            self._opponents[first].add(second)
            self._opponents[second].add(first)
            met.update(dict.fromkeys((first, second), pairs[first, second].groups))
        self._groups_of = {bot: count // (seats - 1) for bot, count in met.items()}  # each group has all other seats

    @property
    def bots(self) -> list[str]:
        """Bots that played a complete group, in alphabetical order."""
        return sorted(self._groups_of)

    def head_to_head(self, bot: str, rival: str) -> Estimate | None:
        """Return the share of points that one bot takes from the other; None if they never met.

        Wilson's interval for as many matches as the groups are worth, given their variance (L. Kish's effective size).
        """
        pair, sign = as_pair(bot, rival)
        if pair not in self._pairings:
            return None
        groups, share, variance = pairing = self._pairings[pair]
        prior = _PRIOR_GROUPS_ALONE * pairing.widest
        spread = ((groups - 1) * variance + prior * self._usual) / (groups * share * (1 - share) + prior)
        freedom = min(groups - 1 + _PRIOR_GROUPS_ALONE, self._freedom)
        mean = 0.5 + sign * (share - 0.5)
        return Estimate(mean, *wilson(mean, groups / max(spread, _LEAST_SPREAD), quantile(freedom)), groups)

    def score(self, bot: str) -> Estimate | None:
        """Return the share of points that a bot takes, with equal weight for every opponent; None if it met nobody.

        An opponent met in a single group is left out if others were met more often: it would say little, but count as
        much.
        """
        if bot not in self._groups_of:
            return None
        often = {opponent for opponent in self._opponents[bot] if self._pairings[as_pair(bot, opponent)[0]].groups > 1}
        lead = self._estimate(_score(bot, often or self._opponents[bot]), self._groups_of[bot])
        return lead._replace(mean=lead.mean + 0.5, low=max(0.0, lead.low + 0.5), high=min(1.0, lead.high + 0.5))

    def lead(self, bot: str, rival: str) -> Estimate | None:
        """Return how far one bot's share is above the other's, from their own matches and common opponents.

        None if they never met, because their shares are then not compared.
        """
        weights = self._lead(bot, rival)
        return self._estimate(weights, self._either(bot, rival)) if weights else None

    def above(self, bot: str, rival: str) -> float | None:
        """Return the probability that one bot takes more points than the other, as in `lead`.

        None if they never met.
        """
        weights = self._lead(bot, rival)
        if not weights:
            return None
        freedom = self._freedom_of(weights, self._either(bot, rival))
        return probability(self._mean(weights) / self._error(weights), freedom)

    def in_order(self, bot: str, rival: str) -> bool:
        """Tell whether one bot is better with certainty `_SURE`: of equal pairs at most one in twenty is told apart."""
        above = self.above(bot, rival)
        return above is not None and above >= _SURE

    def places(self, field: Sequence[str]) -> dict[str, list[float]]:
        """Return for each bot the probability of each place, first to last, by points from matches among these bots.

        Bots that met none of the others are left out.

        Groups are resampled: each gets a random weight that all its bots share (the multiplier, or wild cluster,
        bootstrap of Cameron, Gelbach and Miller, 2008). A sum of so many is normal, and is drawn as one.
        """
        field = [bot for bot in field if self._opponents.get(bot, set()) & {*field}]
        scores = [_score(bot, self._opponents[bot] & {*field}) for bot in field]
        means = [self._mean(weights) for weights in scores]
        spreads = root([[self._covariance(line, column) for column in scores] for line in scores])
        freedom = min(map(self._freedom_of, scores, map(self._groups_of.__getitem__, field)), default=1.0)
        random, places = Random(0), [Counter[int]() for _ in field]
        for _ in range(_DRAWS):
            normal = [random.gauss() for _ in field]
            tails = math.sqrt(freedom / random.gammavariate(freedom / 2, 2))
            drawn = [
                mean + tails * sum(map(float.__mul__, row, normal)) for mean, row in zip(means, spreads, strict=True)
            ]
            for place, bot in enumerate(sorted(range(len(field)), key=drawn.__getitem__, reverse=True)):
                places[bot][place] += 1
        chances = ([count[place] / _DRAWS for place in range(len(field))] for count in places)
        return dict(zip(field, chances, strict=True))

    def _lead(self, bot: str, rival: str) -> dict[Pair, float]:
        """Return the weights of `lead`; empty if the two never met.

        The pair itself is part of both scores, so it counts twice.
        """
        if rival not in self._opponents[bot]:
            return {}
        both = self._opponents[bot] & self._opponents[rival]
        scores_of_bot, scores_of_rival = _score(bot, both | {rival}), _score(rival, both | {bot})
        return {
            pair: scores_of_bot.get(pair, 0.0) - scores_of_rival.get(pair, 0.0)
            for pair in sorted(scores_of_bot | scores_of_rival)
        }

    def _mean(self, weights: Weights) -> float:
        return sum(weight * (self._pairings[pair].share - 0.5) for pair, weight in weights.items())

    def _estimate(self, weights: Weights, groups: int) -> Estimate:
        mean, half = self._mean(weights), self._error(weights) * quantile(self._freedom_of(weights, groups))
        return Estimate(mean, mean - half, mean + half, groups)

    def _either(self, bot: str, rival: str) -> int:
        """Count the groups that have either of two bots that met."""
        return self._groups_of[bot] + self._groups_of[rival] - self._pairings[as_pair(bot, rival)[0]].groups

    def _error(self, weights: Weights) -> float:
        """Return the standard error of a figure, never 0: that pairs balance each other in few groups is no proof."""
        apart = sum((weight * self._spreads[pair]) ** 2 for pair, weight in weights.items())
        return math.sqrt(max(self._covariance(weights, weights), _LEAST_SPREAD * apart))

    def _covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two figures. Pairs that were in the same groups are correlated."""
        spreads = self._spreads
        return sum(
            weight * second[pair_] * correlation * spreads[pair] * spreads[pair_]
            for pair, weight in first.items()
            for pair_, correlation in self._correlations[pair].items()
            if pair_ in second
        )

    @cached_property
    def _spreads(self) -> dict[Pair, float]:
        """Standard error of each pair's mean share."""
        return {pair: math.sqrt(self._variance(pair) / pairing.groups) for pair, pairing in self._pairings.items()}

    def _variance(self, pair: Pair) -> float:
        """Return the variance of a pair's share from group to group, blended with the ladder's usual one."""
        pairing = self._pairings[pair]
        prior = _PRIOR_GROUPS * self._usual * pairing.widest
        return ((pairing.groups - 1) * pairing.variance + prior) / (pairing.groups - 1 + _PRIOR_GROUPS)

    @cached_property
    def _usual(self) -> float:
        """Usual variance in this ladder as a part of the largest possible, with one all-or-nothing group added.

        A pair's share is itself uncertain, by its variance over its groups, which is added to what the share leaves of
        the largest possible. A single group shows no variance, and says nothing here.
        """
        several = [pairing for pairing in self._pairings.values() if pairing.groups > 1]
        total = sum((groups - 1) * variance for groups, _, variance in several)
        widest = sum((groups - 1) * (share * (1 - share) + variance / groups) for groups, share, variance in several)
        return (total + 0.25) / (widest + 0.25)

    @cached_property
    def _freedom(self) -> float:
        """Degrees of freedom of all pairs together."""
        return max(1, sum(pairing.groups - 1 for pairing in self._pairings.values()))

    def _freedom_of(self, weights: Weights, groups: int) -> float:
        """Return the degrees of freedom of a weighted sum of variances (Satterthwaite, 1946).

        At most the number of groups less the number of pairs, since pairs may share groups and each has a mean of its
        own.
        """
        parts = [(weight * self._spreads[pair]) ** 2 for pair, weight in weights.items()]
        freedoms = [max(1, self._pairings[pair].groups - 1) for pair in weights]
        freedom_of_sum = sum(parts) ** 2 / sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
        return max(1, min(freedom_of_sum, groups - len(weights)))

    @cached_property
    def _correlations(self) -> dict[Pair, dict[Pair, float]]:
        """Correlations of the shares of pairs that were in the same groups; none where a share never changed."""
        correlations: dict[Pair, dict[Pair, float]] = {pair: {pair: 1.0} for pair in self._pairs}
        for (pair, pair_), joint in sorted(self._joint().items()):  # since sums of fractions depend on the order
            first, second = self._pairs[pair], self._pairs[pair_]
            if spreads := first.groups * second.groups * first.spread * second.spread:
                together = first.groups * (
                    second.groups * joint.products - second.halves * joint.halves
                ) - first.halves * (second.groups * joint.other_halves - second.halves * joint.groups)
                correlations[pair][pair_] = correlations[pair_][pair] = together / math.sqrt(spreads)
        return correlations


class Evidence(Shares):
    """The complete groups of a ladder, counted by their results."""

    def __init__(self, groups: Mapping[GroupResult, int]) -> None:
        self._groups = groups
        self._size = len(next(iter(groups))[0]) if groups else 2
        sums: defaultdict[Pair, list[int]] = defaultdict(lambda: [0] * 3)
        for group, count in groups.items():
            for pair, halves in half_points(group).items():
                add_result(sums[pair], (1, halves, halves * halves), count)
        super().__init__(self._size, {pair: PairSums(*row) for pair, row in sums.items()}, self._all_joint)

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
                together += self._pairings[pair].groups * self._pairings[pair].variance
                alone += self._pairings[pair].groups * one_match / self._size
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


def _pairing(sums: PairSums, seats: int) -> _Pairing:
    groups, unit = sums.groups, 2 * seats  # half points of a pair in a group
    variance = sums.spread / (groups * (groups - 1) * unit * unit) if groups > 1 else 0.0
    return _Pairing(groups, sums.halves / (unit * groups), variance)


def as_pair(first: str, second: str) -> tuple[Pair, int]:
    """Return the two labels as a pair, and -1 if it begins with the other one, else 1."""
    return ((first, second), 1) if first < second else ((second, first), -1)


def _score(bot: str, opponents: set[str]) -> dict[Pair, float]:
    """Return the weights of a bot's share of points, the same weight for every opponent."""
    pairs = (as_pair(bot, opponent) for opponent in sorted(opponents))
    return {pair: sign / len(opponents) for pair, sign in pairs}


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
