"""The settled rating: what all matches together say, in whatever order they were played.

TrueSkill Through Time (Dangauthier, Herbrich, Minka and Graepel, 2007) for bots that do not change (gamma = 0):
TrueSkill has a factor for every match, and passes over all factors are repeated until nothing moves. Matches of the
same bots with the same ranks have the same factor, so they are counted, not repeated. So the fit does not depend on the
order of matches, and its time depends on the number of different outcomes alone.
"""

from __future__ import annotations

import logging
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import NamedTuple, TypeAlias

from ladder.extrapolation import Extrapolation
from ladder.trueskill_ratings import BETA, NEW, Rating

GroupOutcome: TypeAlias = tuple[tuple[str, int], ...]
"""(label, rank) of the bots of a match, by rank and then by label."""
_Numbers: TypeAlias = tuple[float, float]
"""A `SettledNormal` where there are millions."""
SettlingProgress: TypeAlias = Callable[[int, int], None]
"""Callback for progress: how many passes are done, and how many there are at most."""

PASSES = 500
"""Largest number of passes; most ladders need 15 to 30."""
CLOSE_ENOUGH = 1e-6
"""Passes end when one moves no centred mu and no sigma further than this."""
_STEP = 0.5
"""Part of its way that a pass goes. Two bots that each closed the whole gap between them would swap it for ever."""
_SANE = 0.4
"""Smallest factor by which mixing passes may change a bot's precision; the largest is `1 / _SANE`."""
METHOD = "passes mixed"
"""Name of the method, stored with ratings; without mixing, some ladders had not settled after all passes.

Stored ratings of the same method are compared to the last bit. So whoever changes a number here or in `extrapolation`
gives the method another name. How many passes a fit takes hardly depends on what `_SANE`, `_REMEMBERED`, `_NEAR` and
`_WORSE` are exactly.
"""
_RAREST_TIE = 1e-4
"""Smallest probability of a tie: with 0 none could be explained, and a game may declare that and be wrong."""
_NOISE = BETA**2
"""Variance of one performance."""
_FAR = 35.0
"""Standard deviations from which on a normal tail is replaced by its asymptote. Beyond 37 it is 0 in floating point."""


_ROOT, _ROOT_OF_2 = math.sqrt(2 * math.pi), math.sqrt(2)
"""Roots in the density and in the tails of a normal distribution, which are needed millions of times."""

_log = logging.getLogger(__name__)


class SettledNormal(NamedTuple):
    """A normal distribution in the form that products need: its mean times its precision, and its precision."""

    tau: float
    pi: float

    def times(self, factor: SettledNormal, power: float = 1.0) -> SettledNormal:
        """Return the product with a power of another distribution; -1 divides."""
        return SettledNormal(self.tau + power * factor.tau, self.pi + power * factor.pi)


PRIOR = SettledNormal(0.0, NEW.sigma**-2)
"""The skill of a bot before its first match; only differences count, so its mean can be 0."""


def outcome(labels: Sequence[str], ranks: Sequence[int]) -> GroupOutcome:
    """Return a match as the fit counts it, without the seats."""
    return tuple(sorted(zip(labels, ranks, strict=True), key=lambda placed: (placed[1], placed[0])))


def fit(
    matches: Mapping[GroupOutcome, int], draw_probability: float, report: SettlingProgress = lambda _passes, _most: None
) -> dict[str, Rating]:
    """Return the rating of every bot, by label, from the number of times of each outcome.

    mu is relative to the mean of all bots.
    """
    margin = NormalDist().inv_cdf((max(draw_probability, _RAREST_TIE) + 1) / 2) * math.sqrt(2 * _NOISE)
    factors = [
        (_Duel if len(outcome) == 2 else _Factor)(outcome, count, margin) for outcome, count in sorted(matches.items())
    ]
    extrapolation = Extrapolation()
    state, moved = _state(factors, array("d", bytes(16 * sum(len(factor.bots) for factor in factors)))), 0.0
    for passes in range(PASSES):
        report(passes, PASSES)
        plain = _state(factors, _pass(factors, state))
        before, state = state, _further(factors, plain, extrapolation.mix(_moves(state, plain), plain.said))
        if state is plain:
            extrapolation.forget()
        moved = max(_moved(before.ratings, after.ratings) for after in (plain, state))
        if moved <= CLOSE_ENOUGH:
            break
    else:
        _log.warning("the settled ratings still move by %.2g after %d passes", moved, PASSES)
    return state.ratings


class _State(NamedTuple):
    """State of the fit between two passes."""

    said: array[float]
    """Message of each factor to its bots: their tau and pi, all in one array."""
    skills: dict[str, SettledNormal]
    ratings: dict[str, Rating]


def _state(factors: Sequence[_Factor], said: array[float]) -> _State:
    bots = dict.fromkeys(bot for factor in factors for bot in factor.bots)
    taus, pis = dict.fromkeys(bots, PRIOR.tau), dict.fromkeys(bots, PRIOR.pi)
    at = 0
    for factor in factors:
        for bot in factor.bots:
            taus[bot] += factor.count * said[at]
            pis[bot] += factor.count * said[at + 1]
            at += 2
    skills = {bot: SettledNormal(taus[bot], pis[bot]) for bot in bots}
    return _State(said, skills, _ratings(skills))


def _pass(factors: Sequence[_Factor], state: _State) -> array[float]:
    """Return the next message of every factor."""
    taus = {bot: normal.tau for bot, normal in state.skills.items()}
    pis = {bot: normal.pi for bot, normal in state.skills.items()}
    said, at, new = state.said, 0, list[float]()
    for factor in factors:
        beyond = at + 2 * len(factor.bots)
        factor.learn(taus, pis, said[at:beyond], new)
        at = beyond
    return array("d", [old + _STEP * (now - old) for old, now in zip(said, new, strict=True)])


def _further(factors: Sequence[_Factor], plain: _State, mixed: array[float]) -> _State:
    """Return the mixture, or `plain` where the mixture has a precision below 0 or far from that of `plain`.

    From such a state many passes would be needed.
    """
    if mixed is plain.said or min(mixed[1::2], default=0.0) < 0:
        return plain
    state = _state(factors, mixed)
    return (
        state if all(_SANE < state.skills[bot].pi / pi < 1 / _SANE for bot, (_, pi) in plain.skills.items()) else plain
    )


def _moves(before: _State, after: _State) -> list[float]:
    """Return the changes of each bot's mean and of the logarithm of its deviation."""
    pairs = [(old, after.skills[label]) for label, old in sorted(before.skills.items())]
    means = [new.tau / new.pi - old.tau / old.pi for old, new in pairs]
    return means + [math.log(old.pi / new.pi) / 2 for old, new in pairs]


def _ratings(skills: Mapping[str, SettledNormal]) -> dict[str, Rating]:
    centre = fmean(tau / pi for tau, pi in skills.values()) if skills else 0.0
    return {label: Rating(tau / pi - centre, pi**-0.5) for label, (tau, pi) in sorted(skills.items())}


def _moved(before: Mapping[str, Rating], after: Mapping[str, Rating]) -> float:
    """Return the largest change of any rating.

    Changes of sigma also count by their logarithm: a sigma that is far too small moves little even when it doubles.
    """
    pairs = [(before[label], rating) for label, rating in after.items()]
    return max((max(math.dist(old, new), abs(math.log(new.sigma / old.sigma))) for old, new in pairs), default=0.0)


class _Factor:
    """Equal matches: their messages to their bots, from the best to the worst."""

    def __init__(self, outcome: GroupOutcome, count: int, margin: float) -> None:
        self.bots = tuple(label for label, _ in outcome)
        self.count = count
        self._margin = margin
        self._ties = [rank == next_rank for (_, rank), (_, next_rank) in pairwise(outcome)]
        # messages to each performance from the comparisons with its better and its worse neighbour: tau and pi
        self._from_better = [(0.0, 0.0)] * len(outcome)
        self._from_worse = [(0.0, 0.0)] * len(outcome)
        neighbours = range(len(self._ties))
        self._places = (*neighbours, *reversed(neighbours[:-1]))

    def learn(
        self, taus: Mapping[str, float], pis: Mapping[str, float], said: Sequence[float], new: list[float]
    ) -> None:
        """Add the new message to each bot, tau and pi, from all other messages; `said` are the old ones.

        Of hundreds of thousands of factors each learns in every pass. So there are numbers here instead of normals.
        """
        performances = []
        for bot, old_tau, old_pi in zip(self.bots, said[::2], said[1::2], strict=True):
            pi = pis[bot] - old_pi
            share = 1 / (1 + _NOISE * pi)
            performances.append(((taus[bot] - old_tau) * share, pi * share))
        for place in self._places:
            self._compare(place, performances[place], performances[place + 1])
        for (tau, pi), (tau_, pi_) in zip(self._from_better, self._from_worse, strict=True):
            tau, pi = tau + tau_, pi + pi_
            share = 1 / (1 + _NOISE * pi)
            new += (tau * share, pi * share)

    def _compare(self, place: int, better: _Numbers, worse: _Numbers) -> None:
        (tau, pi), (more, more_pi) = better, self._from_better[place]
        (tau_, pi_), (more_, more_pi_) = worse, self._from_worse[place + 1]
        self._from_worse[place], self._from_better[place + 1] = _learnt(
            tau + more, pi + more_pi, tau_ + more_, pi_ + more_pi_, self._margin, tie=self._ties[place]
        )


class _Duel(_Factor):
    """Equal matches of two bots: there is one comparison, to which nothing that it said comes back."""

    def learn(
        self, taus: Mapping[str, float], pis: Mapping[str, float], said: Sequence[float], new: list[float]
    ) -> None:
        (better, worse), (old, old_pi, old_, old_pi_) = self.bots, said
        pi, pi_ = pis[better] - old_pi, pis[worse] - old_pi_
        share, share_ = 1 / (1 + _NOISE * pi), 1 / (1 + _NOISE * pi_)
        (tau, pi), (tau_, pi_) = _learnt(
            (taus[better] - old) * share,
            pi * share,
            (taus[worse] - old_) * share_,
            pi_ * share_,
            self._margin,
            tie=self._ties[0],
        )
        share, share_ = 1 / (1 + _NOISE * pi), 1 / (1 + _NOISE * pi_)
        new += (tau * share, pi * share, tau_ * share_, pi_ * share_)


def _learnt(tau: float, pi: float, tau_: float, pi_: float, margin: float, *, tie: bool) -> tuple[_Numbers, _Numbers]:
    """Return what the better and the worse of two neighbours learn from how the match ended, from all else."""
    mean, variance = tau / pi - tau_ / pi_, 1 / pi + 1 / pi_
    spread = math.sqrt(variance)
    shift, shrink = _within(mean / spread, margin / spread) if tie else _beyond((mean - margin) / spread)
    remaining = variance * (1 - shrink)
    # of the difference, and then of each of the two
    lead, lead_pi = (mean + spread * shift) / remaining - mean / variance, shrink / remaining
    share, share_ = 1 / (1 + lead_pi / pi_), 1 / (1 + lead_pi / pi)
    return (
        (share * (lead + lead_pi * tau_ / pi_), share * lead_pi),
        (share_ * (-lead + lead_pi * tau / pi), share_ * lead_pi),
    )


def _beyond(mean: float) -> tuple[float, float]:
    """Return how far a normal of variance 1 moves its mean and shrinks its variance once it is known to be above 0."""
    if mean < -_FAR:
        return -mean - 1 / mean, 1 - mean**-2
    shift = math.exp(-mean * mean / 2) / _ROOT / (math.erfc(-mean / _ROOT_OF_2) / 2)
    return shift, shift * (shift + mean)


def _within(mean: float, margin: float) -> tuple[float, float]:
    """Return how far a normal of variance 1 moves its mean and shrinks its variance once known to be in a margin.

    The margin reaches from -margin to margin.
    """
    low, high = -margin - abs(mean), margin - abs(mean)
    if high < -_FAR:
        shift, shrink = _beyond(high)
        return math.copysign(shift, -mean), shrink
    mass = _above(-high) - _above(-low)
    shift = (_density(low) - _density(high)) / mass
    return math.copysign(shift, -mean), shift**2 + (high * _density(high) - low * _density(low)) / mass


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / _ROOT


def _above(x: float) -> float:
    """Return the part of a standard normal that is above x, to full precision far out."""
    return math.erfc(x / _ROOT_OF_2) / 2
