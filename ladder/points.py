"""What a match is worth: the share of the others that a seat was placed before, a tie counting half."""

from __future__ import annotations

from collections.abc import Sequence


def point(own: int, other: int) -> float:
    """Of one seat against another, by their ranks: 1 for the better place, ½ for the same."""
    return 1.0 if own < other else 0.5 if own == other else 0.0


def points(ranks: Sequence[int]) -> tuple[float, ...]:
    """By seat, from 0 to 1; over all seats they come to half their number. Ranks are 0 best, equal for a tie."""
    others = len(ranks) - 1
    return tuple((sum(point(own, other) for other in ranks) - 0.5) / others for own in ranks)
