"""What one bot can be expected to take from another if shares add up: each bot has one offset against all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import copysign

_SWEEPS = 20
"""Most passes over all bots; where nearly all met, three are enough."""
_CLOSE = 1e-3
"""A pass that moves no offset by more than this part of the points is the last: no spread is known that well."""


def offsets(taken: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the offset of every bot, from what each took from each opponent, as a share less a half.

    Least squares by Gauss and Seidel: each bot in turn gets the offset that fits best with those of its opponents.
    """
    means = {bot: sum(row.values()) / len(row) for bot, row in taken.items()}
    found = dict(means)
    for _ in range(_SWEEPS):
        moved = 0.0
        for bot, row in taken.items():
            before = found[bot]
            found[bot] = after = means[bot] + sum(map(found.__getitem__, row)) / len(row)
            moved = max(moved, abs(after - before))
        if moved <= _CLOSE:
            break
    return found


def expected(offset: float, others: Iterable[float]) -> list[float]:
    """Return what a bot with the first offset takes from one with each of the others, as a share less a half."""
    gaps = [offset - other for other in others]
    return [gap if -0.5 < gap < 0.5 else copysign(0.5, gap) for gap in gaps]
