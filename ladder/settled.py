"""The settled rating: what all matches together say, whatever their order.

TrueSkill Through Time (Dangauthier, Herbrich, Minka and Graepel, 2007) for bots that do not change (gamma = 0): the
factors of TrueSkill, one for every match, are passed over again and again until nothing moves. Matches of the same
bots with the same ranks have the same factor, so they are counted and not repeated: the fit sees no order, and takes
time for the different outcomes alone.
"""

from __future__ import annotations

import logging
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from statistics import NormalDist, fmean
from typing import NamedTuple, TypeAlias

from ladder.extrapolation import Extrapolation
from ladder.ratings import NEW, Rating

Outcome: TypeAlias = tuple[tuple[str, int], ...]
"""(label, rank) of the bots of a match, by rank and then by label."""
Report: TypeAlias = Callable[[int, int], None]
"""Told how many passes are done, and how many there may be."""

PASSES = 500
"""At most; most ladders need 15 to 30."""
ENOUGH = 1e-6
"""A pass that moves no centred mu and no sigma by more is the last."""
STEP = 0.5
"""How far a pass goes: two bots that each made up for all of their gap would swap it for ever."""
SANE = 0.4
"""Part of a precision that may be left, or have been there, where passes are mixed."""
METHOD = "passes mixed"
"""Said of ratings that were fitted so; without mixing, some ladders had not settled after all passes."""
RAREST_TIE = 1e-4
"""A game may declare that ties do not happen and be wrong."""
_NOISE = (NEW.sigma / 2) ** 2
"""Variance of one performance, beta squared."""
_FAR = 35.0
"""Standard deviations from which on a normal tail is its asymptote: beyond 37 it is 0 to a computer."""


_log = logging.getLogger(__name__)


class Normal(NamedTuple):
    """A normal distribution as products want it: its mean times its precision, and its precision."""

    tau: float
    pi: float

    def times(self, other: Normal, power: float = 1.0) -> Normal:
        """The product with a power of another; -1 divides."""
        return Normal(self.tau + power * other.tau, self.pi + power * other.pi)

    def blurred(self, variance: float) -> Normal:
        """That of the sum with noise."""
        kept = 1 / (1 + variance * self.pi)
        return Normal(self.tau * kept, self.pi * kept)


NOTHING = Normal(0.0, 0.0)
PRIOR = Normal(0.0, NEW.sigma**-2)


def outcome(labels: Sequence[str], ranks: Sequence[int]) -> Outcome:
    """A match as the fit counts it: who sat where is gone."""
    return tuple(sorted(zip(labels, ranks, strict=True), key=lambda placed: (placed[1], placed[0])))


def fit(
    matches: Mapping[Outcome, int], draw_probability: float, report: Report = lambda _done, _most: None
) -> dict[str, Rating]:
    """The rating of every bot, by label, from how often each outcome was; mu is above the mean of all bots."""
    margin = NormalDist().inv_cdf((max(draw_probability, RAREST_TIE) + 1) / 2) * math.sqrt(2 * _NOISE)
    factors = [_Factor(outcome, count, margin) for outcome, count in sorted(matches.items())]
    extrapolation = Extrapolation()
    state, moved = _state(factors, array("d", bytes(16 * sum(len(factor.bots) for factor in factors)))), 0.0
    for done in range(PASSES):
        report(done, PASSES)
        plain = _state(factors, _pass(factors, state))
        before, state = state, _further(factors, plain, extrapolation.mix(_moves(state, plain), plain.said))
        if state is plain:
            extrapolation.forget()
        moved = max(_moved(before.ratings, after.ratings) for after in (plain, state))
        if moved <= ENOUGH:
            break
    else:
        _log.warning("the settled ratings still move by %.2g after %d passes", moved, PASSES)
    return state.ratings


class _State(NamedTuple):
    """Where the fit has come to."""

    said: array[float]
    """What each factor says of its seats: their tau and pi, all in one row."""
    skills: dict[str, Normal]
    ratings: dict[str, Rating]


def _state(factors: Sequence[_Factor], said: array[float]) -> _State:
    skills = {bot: PRIOR for factor in factors for bot in factor.bots}
    for factor, own in _of_each(factors, said):
        for bot, normal in zip(factor.bots, own, strict=True):
            skills[bot] = skills[bot].times(normal, factor.count)
    return _State(said, skills, _ratings(skills))


def _pass(factors: Sequence[_Factor], state: _State) -> array[float]:
    """What every factor says next."""
    new = (part for factor, own in _of_each(factors, state.said) for part in factor.learn(state.skills, own))
    return array("d", (old + STEP * (now - old) for old, now in zip(state.said, new, strict=True)))


def _further(factors: Sequence[_Factor], plain: _State, mixed: array[float]) -> _State:
    """The mixture, unless it has a precision below 0, or one of no bot's: there passes would stay for long."""
    if mixed is plain.said or min(mixed[1::2], default=0.0) < 0:
        return plain
    state = _state(factors, mixed)
    return state if all(SANE < state.skills[bot].pi / pi < 1 / SANE for bot, (_, pi) in plain.skills.items()) else plain


def _of_each(factors: Sequence[_Factor], said: array[float]) -> Iterator[tuple[_Factor, list[Normal]]]:
    """Each factor and what it says of its seats."""
    parts = iter(said)
    for factor in factors:
        yield factor, [Normal(tau, pi) for tau, pi in islice(zip(parts, parts, strict=True), len(factor.bots))]


def _moves(before: _State, after: _State) -> list[float]:
    """By how much the mean of each bot and the logarithm of its deviation differ."""
    pairs = [(old, after.skills[label]) for label, old in sorted(before.skills.items())]
    means = [new.tau / new.pi - old.tau / old.pi for old, new in pairs]
    return means + [math.log(old.pi / new.pi) / 2 for old, new in pairs]


def _ratings(skills: Mapping[str, Normal]) -> dict[str, Rating]:
    centre = fmean(tau / pi for tau, pi in skills.values()) if skills else 0.0
    return {label: Rating(tau / pi - centre, pi**-0.5) for label, (tau, pi) in sorted(skills.items())}


def _moved(before: Mapping[str, Rating], after: Mapping[str, Rating]) -> float:
    """The most that any rating did; a sigma that is far too small does not move far, and is doubled by it."""
    pairs = [(before[label], rating) for label, rating in after.items()]
    return max((max(math.dist(old, new), abs(math.log(new.sigma / old.sigma))) for old, new in pairs), default=0.0)


class _Factor:
    """Equal matches: what each of them says of its bots, from the best to the worst."""

    def __init__(self, outcome: Outcome, count: int, margin: float) -> None:
        self.bots = tuple(label for label, _ in outcome)
        self.count = count
        self._margin = margin
        self._ties = [one == next for (_, one), (_, next) in pairwise(outcome)]
        # what each performance is told by the comparison with its better and with its worse neighbour
        self._from_better = [NOTHING] * len(outcome)
        self._from_worse = [NOTHING] * len(outcome)

    def learn(self, skills: Mapping[str, Normal], said: Sequence[Normal]) -> Iterator[float]:
        """What it says of each bot, tau and pi, by what all else says of them; `said` is what it said before."""
        performances = [skills[bot].times(own, -1).blurred(_NOISE) for bot, own in zip(self.bots, said, strict=True)]
        neighbours = range(len(self._ties))
        for place in (*neighbours, *reversed(neighbours[:-1])):
            self._compare(place, performances)
        for better, worse in zip(self._from_better, self._from_worse, strict=True):
            yield from better.times(worse).blurred(_NOISE)

    def _compare(self, place: int, performances: Sequence[Normal]) -> None:
        better = performances[place].times(self._from_better[place])
        worse = performances[place + 1].times(self._from_worse[place + 1])
        seen = _difference(better, worse, self._ties[place], self._margin)
        self._from_worse[place] = _sum(seen, worse)
        self._from_better[place + 1] = _sum(Normal(-seen.tau, seen.pi), better)


def _sum(one: Normal, other: Normal) -> Normal:
    """Of two independent variables; the first may be unknown, with precision 0."""
    kept = 1 / (1 + one.pi / other.pi)
    return Normal(kept * (one.tau + one.pi * other.tau / other.pi), kept * one.pi)


def _difference(better: Normal, worse: Normal, tie: bool, margin: float) -> Normal:
    """What a comparison says of the difference of two performances, given what all else says of them."""
    mean, variance = better.tau / better.pi - worse.tau / worse.pi, 1 / better.pi + 1 / worse.pi
    spread = math.sqrt(variance)
    shift, shrink = _within(mean / spread, margin / spread) if tie else _beyond((mean - margin) / spread)
    left = variance * (1 - shrink)
    return Normal((mean + spread * shift) / left - mean / variance, shrink / left)


def _beyond(mean: float) -> tuple[float, float]:
    """By how much a normal of variance 1 moves its mean, and shrinks its variance, once it is known to be above 0."""
    if mean < -_FAR:
        return -mean - 1 / mean, 1 - mean**-2
    shift = _density(mean) / _above(-mean)
    return shift, shift * (shift + mean)


def _within(mean: float, margin: float) -> tuple[float, float]:
    """The same once it is known to be between -margin and margin."""
    low, high = -margin - abs(mean), margin - abs(mean)
    if high < -_FAR:
        shift, shrink = _beyond(high)
        return math.copysign(shift, -mean), shrink
    mass = _above(-high) - _above(-low)
    shift = (_density(low) - _density(high)) / mass
    return math.copysign(shift, -mean), shift**2 + (high * _density(high) - low * _density(low)) / mass


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _above(x: float) -> float:
    """How much of a standard normal is above x, to full precision far out."""
    return math.erfc(x / math.sqrt(2)) / 2
