"""Intervals and probabilities for means whose spread is itself estimated from few values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

_LEVEL = 0.95
"""Confidence level of every interval."""


def quantile(freedom: float) -> float:
    """Return how many standard errors a two-sided interval reaches to each side, by Student's t.

    D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square distributions" (1959): within 1.2 %
    from 3 degrees of freedom on, and on the careful side below.
    """
    normal = NormalDist().inv_cdf((1 + _LEVEL) / 2) * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(normal**2 / freedom))


def probability(errors: float, freedom: float) -> float:
    """Return the probability that the truth is above 0 if the estimate is this many standard errors above it.

    The inverse of `quantile`.
    """
    normal = math.sqrt(freedom * math.log1p(errors**2 / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return NormalDist().cdf(math.copysign(normal, errors))


def wilson(share: float, trials: float, errors: float) -> tuple[float, float]:
    """Return E. B. Wilson's interval (1927) for a share of this many independent trials.

    The interval stays within 0 and 1, and is wider than a point even for a share of 0 or 1.
    """
    shrunk = 1 + errors**2 / trials
    middle = (share + errors**2 / trials / 2) / shrunk
    half = errors / shrunk * math.sqrt(share * (1 - share) / trials + (errors / trials / 2) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


def moments(counts: Mapping[float, int]) -> tuple[int, float, float]:
    """Return the number of values with these counts, their mean, and their variance, which is 0 for a single value."""
    many = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / many
    squares = sum((value - mean) ** 2 * count for value, count in counts.items())
    return many, mean, squares / (many - 1) if many > 1 else 0.0


def root(covariance: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the lower triangular matrix whose product with its transpose is this matrix (Cholesky).

    Directions without variance stay 0.
    """
    rows: list[list[float]] = []
    for i, wanted in enumerate(covariance):
        row: list[float] = []
        for j, earlier in enumerate([*rows, row]):
            rest = wanted[j] - sum(map(float.__mul__, row, earlier))
            if i == j:
                row.append(math.sqrt(max(0.0, rest)))
            else:
                row.append(rest / earlier[j] if earlier[j] > 1e-12 else 0.0)
        rows.append(row)
    return rows
