"""Intervals and probabilities where the spread itself is known from few values only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

LEVEL = 0.95
"""Of every interval."""


def quantile(freedom: float) -> float:
    """How many standard errors a two-sided interval reaches, by Student's t.

    D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square distributions" (1959): within
    1.2 % from 3 degrees of freedom on, and on the careful side below.
    """
    normal = NormalDist().inv_cdf((1 + LEVEL) / 2) * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(normal**2 / freedom))


def probability(errors: float, freedom: float) -> float:
    """That the truth is above 0 if the estimate is so many standard errors above it; the inverse of `quantile`."""
    normal = math.sqrt(freedom * math.log1p(errors**2 / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return NormalDist().cdf(math.copysign(normal, errors))


def wilson(share: float, trials: float, errors: float) -> tuple[float, float]:
    """E. B. Wilson's interval (1927) of a share of so many independent trials: within 0 and 1, and not empty there."""
    shrunk = 1 + errors**2 / trials
    middle = (share + errors**2 / trials / 2) / shrunk
    half = errors / shrunk * math.sqrt(share * (1 - share) / trials + (errors / trials / 2) ** 2)
    return middle - half, middle + half


def moments(counts: Mapping[float, int]) -> tuple[int, float, float]:
    """Of values with their counts: how many, their mean, and their variance, which is 0 for one."""
    many = sum(counts.values())
    mean = sum(value * count for value, count in counts.items()) / many
    squares = sum((value - mean) ** 2 * count for value, count in counts.items())
    return many, mean, squares / (many - 1) if many > 1 else 0.0


def root(covariance: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangle whose product with itself is this (Cholesky); directions without variance stay empty."""
    rows: list[list[float]] = []
    for i, wanted in enumerate(covariance):
        row: list[float] = []
        for j, other in enumerate([*rows, row]):
            left = wanted[j] - sum(map(float.__mul__, row, other))
            if i == j:
                row.append(math.sqrt(max(0.0, left)))
            else:
                row.append(left / other[j] if other[j] > 1e-12 else 0.0)
        rows.append(row)
    return rows
