"""TrueSkill for versions that never change: ratings and ranks in, ratings out.

Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006), with tau = 0: what does not
change needs no room for change, and with that room no rating would ever settle.
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


class Rating(NamedTuple):
    """Believed skill and its uncertainty."""

    mu: float
    sigma: float

    @property
    def shown(self) -> float:
        """What the leaderboard sorts by: skill that is almost certainly there."""
        return self.mu - 3 * self.sigma


NEW = Rating(25.0, 25 / 3)


def rate(ratings: Sequence[Rating], ranks: Sequence[int], draw_probability: float) -> tuple[Rating, ...]:
    """The ratings after one match, every seat for itself; ranks are 0 best, equal for a tie.

    Seating changes nothing, to the last bit: TrueSkill compares neighbours in a row, so ties depend on the
    row; here the row is sorted, and seats that nothing tells apart share what they got.
    """

    def sameness(seat: int) -> tuple[int, Rating]:
        return ranks[seat], ratings[seat]

    row = sorted(range(len(ratings)), key=sameness)
    environment = _trueskill(draw_probability)
    rated = environment.rate(
        [(environment.create_rating(*ratings[seat]),) for seat in row], ranks=[ranks[seat] for seat in row]
    )
    posterior = dict(zip(row, (after for (after,) in rated), strict=True))
    result: dict[int, Rating] = {}
    for _, group in groupby(row, key=sameness):
        alike = tuple(group)
        mu, sigma = (fmean(getattr(posterior[seat], name) for seat in alike) for name in Rating._fields)
        result.update(dict.fromkeys(alike, Rating(mu, sigma)))
    return tuple(result[seat] for seat in range(len(ratings)))


@cache
def arithmetic() -> str:
    """What ratings are computed by here: with another, the last bits of a rating may differ."""
    libc = " ".join(platform.libc_ver())
    return f"{platform.python_implementation()} {platform.python_version()}, {libc}, trueskill {version('trueskill')}"


@cache
def _trueskill(draw_probability: float) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" in trueskill 0.4.5, until it is compiled
        import trueskill  # here, because only a fold needs it
    return trueskill.TrueSkill(*NEW, beta=NEW.sigma / 2, tau=0.0, draw_probability=draw_probability)
