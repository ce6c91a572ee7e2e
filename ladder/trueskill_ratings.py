"""TrueSkill for versions that never change: takes ratings and ranks, returns ratings.

Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006), with tau = 0: a version's skill does
not change, and a tau above 0, which allows for change, would keep every rating uncertain for ever.
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import groupby
from statistics import fmean
from typing import Any, NamedTuple

from ladder import factor_graph


class Rating(NamedTuple):
    """Estimated skill (mu) and its uncertainty (sigma)."""

    mu: float
    sigma: float

    @property
    def shown(self) -> float:
        """Rating by which the leaderboard sorts: a skill that the bot almost certainly has."""
        return self.mu - 3 * self.sigma


NEW = Rating(25.0, 25 / 3)
"""Rating of a bot before its first match, as TrueSkill's authors have it."""
BETA = NEW.sigma / 2
"""Standard deviation of how well a bot plays in one match."""


def rate(ratings: Sequence[Rating], ranks: Sequence[int], draw_probability: float) -> tuple[Rating, ...]:
    """Return the ratings after one match of single players; ranks are 0 for the best, and equal for a tie.

    The order of the seats does not change a single bit. TrueSkill compares neighbours in a row, so with ties its result
    depends on the row; here the row is sorted, and seats with equal rank and rating get the mean of their new ratings.
    """

    def sameness(seat: int) -> tuple[int, Rating]:
        return ranks[seat], ratings[seat]

    row = sorted(range(len(ratings)), key=sameness)
    rated = factor_graph.rate_ranks(
        [ratings[seat] for seat in row], [ranks[seat] for seat in row], trueskill(draw_probability)
    )
    posterior = dict(zip(row, rated, strict=True))
    result: dict[int, Rating] = {}
    for _, group in groupby(row, key=sameness):
        alike = tuple(group)
        mu, sigma = map(fmean, zip(*(posterior[seat] for seat in alike), strict=True))
        result.update(dict.fromkeys(alike, Rating(mu, sigma)))
    return tuple(result[seat] for seat in range(len(ratings)))


@cache
def arithmetic() -> str:
    """Name the Python, C library, TrueSkill and beta that compute ratings here.

    With another Python or library the last bits may differ; with another beta, everything does.
    """
    python = f"{platform.python_implementation()} {platform.python_version()}"
    libc = " ".join(platform.libc_ver())
    return f"{python}, {libc}, trueskill {version('trueskill')}, beta {BETA:.6g}"


@cache
def trueskill(draw_probability: float) -> Any:
    """Return the library's environment for our ratings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" in trueskill 0.4.5, until it is compiled
        from trueskill import TrueSkill  # imported here, because only rating matches needs it
    return TrueSkill(*NEW, beta=BETA, tau=0.0, draw_probability=draw_probability)
