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
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from statistics import NormalDist, fmean
from typing import NamedTuple, TypeAlias

from ladder.extrapolation import Extrapolation
from ladder.trueskill_ratings import BETA, NEW, Rating

GroupOutcome: TypeAlias = tuple[tuple[str, int], ...]
"""(label, rank) of the bots of a match, by rank and then by label."""
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


_log = logging.getLogger(__name__)


class SettledNormal(NamedTuple):
    """A normal distribution in the form that products need: its mean times its precision, and its precision."""

    tau: float
    pi: float

    def times(self, factor: SettledNormal, power: float = 1.0) -> SettledNormal:
        """Return the product with a power of another distribution; -1 divides."""
        return SettledNormal(self.tau + power * factor.tau, self.pi + power * factor.pi)

    def blurred(self, variance: float) -> SettledNormal:
        """Return the distribution of the sum with noise of this variance."""
        share = 1 / (1 + variance * self.pi)
        return SettledNormal(self.tau * share, self.pi * share)


NOTHING = SettledNormal(0.0, 0.0)
"""The distribution that says nothing."""
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
    factors = [_Factor(outcome, count, margin) for outcome, count in sorted(matches.items())]
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
    skills = {bot: PRIOR for factor in factors for bot in factor.bots}
    for factor, messages in _of_each(factors, said):
        for bot, normal in zip(factor.bots, messages, strict=True):
            skills[bot] = skills[bot].times(normal, factor.count)
    return _State(said, skills, _ratings(skills))


def _pass(factors: Sequence[_Factor], state: _State) -> array[float]:
    """Return the next message of every factor."""
    new = (part for factor, messages in _of_each(factors, state.said) for part in factor.learn(state.skills, messages))
    return array("d", (old + _STEP * (now - old) for old, now in zip(state.said, new, strict=True)))


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


def _of_each(factors: Sequence[_Factor], said: array[float]) -> Iterator[tuple[_Factor, list[SettledNormal]]]:
    """Yield each factor with its messages to its bots."""
    parts = iter(said)
    for factor in factors:
        yield factor, [SettledNormal(tau, pi) for tau, pi in islice(zip(parts, parts, strict=True), len(factor.bots))]


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
        # messages to each performance from the comparisons with its better and its worse neighbour
        self._from_better = [NOTHING] * len(outcome)
        self._from_worse = [NOTHING] * len(outcome)

    def learn(self, skills: Mapping[str, SettledNormal], said: Sequence[SettledNormal]) -> Iterator[float]:
        """Yield the new message to each bot, tau and pi, from all other messages.

        `said` are the factor's old messages.
        """
        performances = [
            skills[bot].times(message, -1).blurred(_NOISE) for bot, message in zip(self.bots, said, strict=True)
        ]
        neighbours = range(len(self._ties))
        for place in (*neighbours, *reversed(neighbours[:-1])):
            self._compare(place, performances)
        for better, worse in zip(self._from_better, self._from_worse, strict=True):
            yield from better.times(worse).blurred(_NOISE)

    def _compare(self, place: int, performances: Sequence[SettledNormal]) -> None:
        better = performances[place].times(self._from_better[place])
        worse = performances[place + 1].times(self._from_worse[place + 1])
        difference = _difference(better, worse, self._ties[place], self._margin)
        self._from_worse[place] = _sum(difference, worse)
        self._from_better[place + 1] = _sum(SettledNormal(-difference.tau, difference.pi), better)


def _sum(first: SettledNormal, second: SettledNormal) -> SettledNormal:
    """Return the sum of two independent variables; the first may be unknown, with precision 0."""
    share = 1 / (1 + first.pi / second.pi)
    return SettledNormal(share * (first.tau + first.pi * second.tau / second.pi), share * first.pi)


def _difference(better: SettledNormal, worse: SettledNormal, tie: bool, margin: float) -> SettledNormal:
    """Return the message of a comparison about the difference of two performances, from all other messages."""
    mean, variance = better.tau / better.pi - worse.tau / worse.pi, 1 / better.pi + 1 / worse.pi
    spread = math.sqrt(variance)
    shift, shrink = _within(mean / spread, margin / spread) if tie else _beyond((mean - margin) / spread)
    remaining = variance * (1 - shrink)
    return SettledNormal((mean + spread * shift) / remaining - mean / variance, shrink / remaining)


def _beyond(mean: float) -> tuple[float, float]:
    """Return how far a normal of variance 1 moves its mean and shrinks its variance once it is known to be above 0."""
    if mean < -_FAR:
        return -mean - 1 / mean, 1 - mean**-2
    shift = _density(mean) / _above(-mean)
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
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _above(x: float) -> float:
    """Return the part of a standard normal that is above x, to full precision far out."""
    return math.erfc(x / math.sqrt(2)) / 2
