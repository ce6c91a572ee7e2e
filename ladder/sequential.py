"""Tests whether a mean is above or below a half, and may be looked at after every value.

Testing by betting (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024): a bettor
bets on values in [0, 1] against the claim that their mean is m, whatever came before. If the claim is true the capital
does not tend to grow: it ever reaches 40 times the stake with a probability of at most 1/40 (Ville's inequality). Here
the stake is spread over fixed bets of several sizes (their diversified Kelly bettor) on "more than m", and the same
again on "less". So the order of the values does not matter, only how often each occurred.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

ALPHA = 0.05
"""Upper bound of the probability that a decision is wrong, or that an interval ever misses the mean. It holds however
often one looks; a test may have another."""
_BETS = tuple(0.9 / 2**step for step in range(10))
"""Parts of the capital that are staked each time: from nearly all of it to a five-hundredth."""


class SequentialTest:
    """Values between 0 and 1, counted; their mean is compared with a half."""

    def __init__(self, alpha: float = ALPHA, difference: float | None = None, beta: float = ALPHA) -> None:
        """Bound the probability of a wrong `decided` by `alpha`.

        With a `difference`, bound that of a wrong `alike` by `beta`.
        """
        self._values = Counter[float]()
        self._difference = difference
        self._enough = math.log(2 / alpha)
        """Logarithm of the capital that decides, for each of the two bettors."""
        self._refuted = math.log(1 / beta)
        """Logarithm of the capital that rules a difference out, in one direction."""

    def add(self, value: float) -> None:
        """Add one value."""
        self._values[value] += 1

    @property
    def count(self) -> int:
        """Number of values so far."""
        return self._values.total()

    @property
    def mean(self) -> float:
        """Mean of the values so far; a half before the first."""
        return sum(value * times for value, times in self._values.items()) / self.count if self._values else 0.5

    @property
    def decided(self) -> bool:
        """Whether the mean is known not to be a half."""
        return max(_capital(self._values, 0.5), _capital(_mirrored(self._values), 0.5)) >= self._enough

    @property
    def alike(self) -> bool:
        """Whether the mean is known to be less than the difference away from a half; False without a difference."""
        if self._difference is None:
            return False
        closest = 0.5 - self._difference
        return min(_capital(self._values, closest), _capital(_mirrored(self._values), closest)) >= self._refuted

    @property
    def interval(self) -> tuple[float, float]:
        """Interval for the mean. With probability 1 - alpha all intervals, at whatever times, contain it."""
        return _least(self._values, self._enough), 1 - _least(_mirrored(self._values), self._enough)

    def still(self, difference: float) -> int:
        """Estimate how many more values would decide if the mean were this far above a half, varying as so far.

        The smallest bet needs a difference of at least 0.0005 to grow.
        """
        growths = _growths(_moved(self._values, self.mean, 0.5 + difference), 0.5)
        needed = next(2**power for power in range(64) if _mixed(growths, 2**power) >= self._enough)
        needed = bisect_left(range(needed), self._enough, key=lambda count: _mixed(growths, count))
        return max(0, needed - self.count)


def _capital(values: Mapping[float, float], mean: float) -> float:
    """Return the logarithm of the capital of bets on "more than this mean"; it falls with the mean."""
    return _mixed(_growths(values, mean), 1)


def _growths(values: Mapping[float, float], mean: float) -> list[float]:
    return [sum(times * math.log1p(bet * (value / mean - 1)) for value, times in values.items()) for bet in _BETS]


def _mixed(growths: Sequence[float], times: float) -> float:
    """Return the logarithm of the mean capital of the bets after each has grown this many times."""
    most = times * max(growths)
    return most + math.log(sum(math.exp(times * growth - most) for growth in growths) / len(growths))


def _moved(values: Mapping[float, float], mean: float, wanted: float) -> dict[float, float]:
    """Return how often each value came, all moved towards 0 or 1 until `wanted` is their mean; none leaves [0, 1]."""
    end = float(wanted > mean)
    part = (wanted - mean) / (end - mean) if wanted != mean else 0.0
    count, moved = sum(values.values()), defaultdict[float, float](float)
    for value, times in values.items():
        moved[value + part * (end - value)] += times / count
    return moved


def _mirrored(values: Mapping[float, float]) -> dict[float, float]:
    return {1 - value: times for value, times in values.items()}


def _least(values: Mapping[float, float], enough: float) -> float:
    """Return the largest mean that the bets rule out as too small, to a ten-thousandth."""
    return bisect_left(range(1, 10_000), -enough, key=lambda part: -_capital(values, part / 10_000)) / 10_000
