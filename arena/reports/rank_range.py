"""Where a bot may stand by its rating alone, as long as its points tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder.store.records import Row

_ERRORS = 1.96
"""Standard deviations of a difference of skills from which on it counts as certain: 95 % to both sides."""


def rank_range(row: Row, rows: Sequence[Row]) -> tuple[int, int]:
    """Return the best and the worst place by skill that are credible for a bot among all.

    Bots that are better with certainty stand before it, those that are worse with certainty behind it. The board sorts
    by what a bot is almost certainly worth, so a bot with few matches may stand below its range.
    """
    better = worse = 0
    mu, variance, certain = row.mu, row.sigma * row.sigma, _ERRORS * _ERRORS
    for other in rows:
        gap = other.mu - mu
        if gap * gap > certain * (variance + other.sigma * other.sigma):
            if gap > 0:
                better += 1
            else:
                worse += 1
    return better + 1, len(rows) - worse
