"""Figures made of what bots took from each other, and how certain they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple, TypeAlias

from ladder.pairs import Pair, Pairs, PairTable, as_pair, scatter
from ladder.student import probability, quantile, root, wilson

_SURE = 0.98
"""Probability from which on an order counts as certain.

In theory 0.975 is enough, but it calls 5.4 % of equal pairs different in the worst ladder.
"""
_DRAWS = 4000
"""Draws for the probabilities of places. So their standard error is 0.008 at most, and they are told in whole
percents."""
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


class JointSums(NamedTuple):
    """Of the groups that two pairs have in common: how many, half points in each pair, and their products."""

    groups: int
    halves: int
    other_halves: int
    products: int


class _Part(NamedTuple):
    """Part of a figure: the sum of what a bot took from some opponents, each less a half, times a weight."""

    bot: str
    opponents: Sequence[str]
    weight: float


_Figure: TypeAlias = Sequence[_Part]
"""A figure as the sum of its parts, of which no two have a pair of bots in common."""


class Shares:
    """What bots took from each other in complete groups, and how the shares of pairs go together.

    It is computed from sums of whole numbers, so it is the same wherever these come from. `joint` returns those of any
    two pairs that were in the same groups. Where it leaves out some pairs of a bot, only the bot's figures against a
    single other one are right.
    """

    def __init__(self, seats: int, sums: PairTable, joint: Callable[[], Mapping[tuple[Pair, Pair], JointSums]]) -> None:
        self._seats = seats
        self._pairs = Pairs(seats, sums)
        self._joint = joint

    @property
    def bots(self) -> list[str]:
        """Bots that played a complete group, in alphabetical order."""
        return [*self._pairs.taken]

    def head_to_head(self, bot: str, rival: str) -> Estimate | None:
        """Return the share of points that one bot takes from the other; None if they never met.

        Wilson's interval for as many matches as the groups are worth, given their variance (L. Kish's effective size).
        """
        if not self._pairs.have_met(bot, rival):
            return None
        pair, sign = as_pair(bot, rival)
        groups, share, variance = pairing = self._pairs.pairing(pair)
        prior = _PRIOR_GROUPS_ALONE * pairing.widest
        spread = ((groups - 1) * variance + prior * self._pairs.usual) / (groups * share * (1 - share) + prior)
        freedom = min(groups - 1 + _PRIOR_GROUPS_ALONE, self._pairs.freedom)
        mean = 0.5 + sign * (share - 0.5)
        return Estimate(mean, *wilson(mean, groups / max(spread, _LEAST_SPREAD), quantile(freedom)), groups)

    def score(self, bot: str) -> Estimate | None:
        """Return the share of points that a bot takes, with equal weight for every opponent; None if it met nobody.

        Opponents met in a single group are left out where that makes the mean more certain, as far as numbers of groups
        tell: one group would say little, but count as much as many.
        """
        if bot not in self._pairs.taken:
            return None
        lead = self._estimate([_mean_of(bot, self._counted(bot))], self._pairs.groups_of[bot])
        return lead._replace(mean=lead.mean + 0.5, low=max(0.0, lead.low + 0.5), high=min(1.0, lead.high + 0.5))

    def lead(self, bot: str, rival: str) -> Estimate | None:
        """Return how far one bot's share is above the other's, from their own matches and common opponents.

        None if they never met, because their shares are then not compared.
        """
        figure = self._lead(bot, rival)
        return self._estimate(figure, self._either(bot, rival)) if figure else None

    def above(self, bot: str, rival: str) -> float | None:
        """Return the probability that one bot takes more points than the other, as in `lead`.

        None if they never met.
        """
        figure = self._lead(bot, rival)
        if not figure:
            return None
        freedom = self._freedom_of(figure, self._either(bot, rival))
        return probability(self._mean(figure) / self._error(figure), freedom)

    def in_order(self, bot: str, rival: str) -> bool:
        """Tell whether one bot is better with certainty `_SURE`: of equal pairs at most one in twenty is told apart."""
        above = self.above(bot, rival)
        return above is not None and above >= _SURE

    def places(self, bots: Sequence[str], field: Collection[str]) -> dict[str, list[float]]:
        """Return for each bot the probability of each place among these, by points from matches among the field.

        Bots that met none of the field are left out.

        Groups are resampled: each gets a random weight that all its bots share (the multiplier, or wild cluster,
        bootstrap of Cameron, Gelbach and Miller, 2008). A sum of so many is normal, and is drawn as one.
        """
        within = {*field}
        others = {bot: [other for other in self._pairs.taken.get(bot, ()) if other in within] for bot in bots}
        bots = [bot for bot in bots if others[bot]]
        scores = [[_mean_of(bot, others[bot])] for bot in bots]
        means = [self._mean(score) for score in scores]
        spreads = root([[self._covariance(line, column) for column in scores] for line in scores])
        freedom = min(map(self._freedom_of, scores, map(self._pairs.groups_of.__getitem__, bots)), default=1.0)
        random, places = Random(0), [Counter[int]() for _ in bots]
        for _ in range(_DRAWS):
            normal = [random.gauss() for _ in bots]
            tails = math.sqrt(freedom / random.gammavariate(freedom / 2, 2))
            drawn = [
                mean + tails * sum(map(float.__mul__, row, normal)) for mean, row in zip(means, spreads, strict=True)
            ]
            for place, bot in enumerate(sorted(range(len(bots)), key=drawn.__getitem__, reverse=True)):
                places[bot][place] += 1
        chances = ([count[place] / _DRAWS for place in range(len(bots))] for count in places)
        return dict(zip(bots, chances, strict=True))

    def _counted(self, bot: str) -> Sequence[str]:
        """Return the opponents against whom a bot's points are counted."""
        opponents, several = [*self._pairs.taken[bot]], self._pairs.several[bot]
        once = len(opponents) - len(several)
        if not once or not several:
            return opponents
        variance = sum(1 / groups for groups in several.values())  # of a mean of one group: 1
        with_once = (variance + once) / len(opponents) ** 2
        if with_once < variance / len(several) ** 2:
            return opponents
        return [opponent for opponent in opponents if opponent in several]

    def _lead(self, bot: str, rival: str) -> _Figure:
        """Return the figure of `lead`; empty if the two never met.

        The pair itself is part of both scores, so it counts twice.
        """
        if not self._pairs.have_met(bot, rival):
            return []
        common = [opponent for opponent in self._pairs.taken[bot] if opponent in self._pairs.taken[rival]]
        weight = 1 / (len(common) + 1)
        return [_Part(bot, common, weight), _Part(rival, common, -weight), _Part(bot, [rival], 2 * weight)]

    def _mean(self, figure: _Figure) -> float:
        return sum(
            weight * sum(map(self._pairs.taken[bot].__getitem__, opponents)) for bot, opponents, weight in figure
        )

    def _estimate(self, figure: _Figure, groups: int) -> Estimate:
        mean, half = self._mean(figure), self._error(figure) * quantile(self._freedom_of(figure, groups))
        return Estimate(mean, mean - half, mean + half, groups)

    def _either(self, bot: str, rival: str) -> int:
        """Count the groups that have either of two bots that met."""
        return self._pairs.groups_of[bot] + self._pairs.groups_of[rival] - self._pairs.groups(bot, rival)

    def _error(self, figure: _Figure) -> float:
        """Return the standard error of a figure, never 0: that pairs balance each other in few groups is no proof."""
        apart = sum(weight**2 * self._error_sum(bot, opponents) for bot, opponents, weight in figure)
        together = self._covariance(figure, figure) if self._correlations else apart
        return math.sqrt(max(together, _LEAST_SPREAD * apart))

    def _covariance(self, first: _Figure, second: _Figure) -> float:
        """Return the covariance of two figures. Pairs that were in the same groups are correlated."""
        weights, others = _weights(first), _weights(second)
        return sum(
            weight * others[pair_] * correlation * self._spread(pair) * self._spread(pair_)
            for pair, weight in weights.items()
            for pair_, correlation in self._correlations.get(pair, {pair: 1.0}).items()
            if pair_ in others
        )

    def _spread(self, pair: Pair) -> float:
        """Return the standard error of a pair's mean share."""
        return math.sqrt(self._pairs.errors(pair[0])[pair[1]])

    def _error_sum(self, bot: str, opponents: Sequence[str]) -> float:
        return sum(map(self._pairs.errors(bot).__getitem__, opponents))

    def _freedom_of(self, figure: _Figure, groups: int) -> float:
        """Return the degrees of freedom of a weighted sum of variances (Satterthwaite, 1946).

        Pairs that met once are taken together, since each has no more than one. At most the number of groups less the
        number of pairs, since pairs may share groups and each has a mean of its own.
        """
        variance = squares = single = free = 0.0
        for bot, opponents, weight in figure:
            errors, several = self._pairs.errors(bot), self._pairs.several[bot]
            once = self._pairs.once(bot, opponents)
            single += weight**2 * self._error_sum(bot, once)
            free += self._pairs.left_over(bot, once)
            parts = {opponent: weight**2 * errors[opponent] for opponent in opponents if opponent in several}
            variance += sum(parts.values())
            squares += sum(part**2 / (several[opponent] - 1) for opponent, part in parts.items())
        freedom_of_sum = (variance + single) ** 2 / (squares + single**2 / max(free, 1.0))
        fitted = sum(len(part.opponents) for part in figure) - free
        return max(1.0, min(freedom_of_sum, groups - fitted / (self._seats - 1)))

    @cached_property
    def _correlations(self) -> dict[Pair, dict[Pair, float]]:
        """Correlations of the shares of pairs that were in the same groups; none where a share never changed."""
        correlations: dict[Pair, dict[Pair, float]] = {}
        for (pair, pair_), joint in sorted(self._joint().items()):  # since sums of fractions depend on the order
            correlation = self._correlation(pair, pair_, joint)
            if correlation:
                correlations.setdefault(pair, {pair: 1.0})[pair_] = correlation
                correlations.setdefault(pair_, {pair_: 1.0})[pair] = correlation
        return correlations

    def _correlation(self, pair: Pair, pair_: Pair, joint: JointSums) -> float:
        """Return the correlation of two pairs' shares by their common groups; 0 where a share never changed."""
        (groups, halves, squares), (groups_, halves_, squares_) = map(self._pairs.sums, (pair, pair_))
        if groups > 1 and groups_ > 1:  # in whole numbers
            spreads = groups * groups_ * scatter(groups, halves, squares) * scatter(groups_, halves_, squares_)
            together = groups * (groups_ * joint.products - halves_ * joint.halves) - halves * (
                groups_ * joint.other_halves - halves_ * joint.groups
            )
            return together / math.sqrt(spreads) if spreads else 0.0
        (middle, apart), (middle_, apart_) = map(self._pairs.middle, (pair, pair_))
        constant = joint.groups * middle * middle_
        product = joint.products - middle_ * joint.halves - middle * joint.other_halves + constant
        return product / math.sqrt(apart * apart_) if apart * apart_ else 0.0


def _mean_of(bot: str, opponents: Sequence[str]) -> _Part:
    """Return a bot's share of points, the same weight for every opponent."""
    return _Part(bot, opponents, 1 / len(opponents))


def _weights(figure: _Figure) -> dict[Pair, float]:
    """Return a figure as a weighted sum over pairs of what the first takes from the second."""
    pairs = ((as_pair(bot, opponent), weight) for bot, opponents, weight in figure for opponent in opponents)
    return {pair: sign * weight for (pair, sign), weight in pairs}
