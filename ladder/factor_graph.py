"""TrueSkill's messages for matches of single players, in a tenth of the time that the library takes.

The library builds a graph of objects for every match and passes messages along it until they settle. For single players
the graph is a row: skill, play and team of each seat, and between neighbours by how much the better one was better.
Here the row is lists of numbers. Every number is added and taken away in the library's order, because another order
would change last bits, and with them the hash of every ladder; so the closed form for two players, which is shorter
still but differs in the eleventh digit, is not used.

A normal distribution is a pair here: its precision (pi), and its precision times its mean (tau).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf, sqrt
from typing import Any, TypeAlias

Normal: TypeAlias = tuple[float, float]

_NOTHING: Normal = (0.0, 0.0)
"""The distribution that says nothing, as all messages do at first."""
_SETTLED = 0.0001
"""The messages have settled when none changes more than this, as in the library."""
_ROUNDS = 10
"""Largest number of passes along the row, as in the library."""


def rate_ranks(
    ratings: Sequence[tuple[float, float]], ranks: Sequence[int], environment: Any
) -> list[tuple[float, float]]:
    """Return mu and sigma of each player after a match; they stand in the order of their ranks, the best first.

    `environment` is a `trueskill.TrueSkill` with tau = 0. Raises what its `rate` raises when digits do not suffice.
    """
    row = _Row(ratings, ranks, environment)
    row.settle()
    return row.posteriors()


class _Row:
    """The players of a match side by side; everything has an entry for each player, or for each pair of neighbours."""

    def __init__(self, ratings: Sequence[tuple[float, float]], ranks: Sequence[int], environment: Any) -> None:
        self._noise = environment.beta**2
        self._margin = _draw_margin(environment)
        # a rating of the library, and then the prior that it makes of that
        self._skills = [_normal(*_moments(_normal(*rating))) for rating in ratings]
        self._plays = [self._noisy(skill) for skill in self._skills]
        self._alone = [_sum((1, play)) for play in self._plays]
        self._teams = list(self._alone)
        pairs = range(len(ratings) - 1)
        drawn, won = (environment.v_draw, environment.w_draw), (environment.v_win, environment.w_win)
        self._cuts = [drawn if ranks[pair] == ranks[pair + 1] else won for pair in pairs]
        self._leads = [_NOTHING for _ in pairs]
        """By how much the first of a pair played better than the second."""
        self._from_teams = [_NOTHING for _ in pairs]
        self._from_result = [_NOTHING for _ in pairs]
        self._to_first = [_NOTHING for _ in pairs]
        self._to_second = [_NOTHING for _ in pairs]

    def settle(self) -> None:
        """Pass messages along the row and back until they change no more, and then to the teams at both ends."""
        last = len(self._leads) - 1
        for _ in range(_ROUNDS):
            change = 0.0
            if last == 0:
                change = self._cut(0)
            for pair in range(last):
                change = max(change, self._cut(pair))
                self._tell_second(pair)
            for pair in range(last, 0, -1):
                change = max(change, self._cut(pair))
                self._tell_first(pair)
            if change <= _SETTLED:
                break
        self._tell_first(0)
        self._tell_second(last)

    def posteriors(self) -> list[tuple[float, float]]:
        """Return mu and sigma of each player."""
        after = []
        for skill, play, alone, team in zip(self._skills, self._plays, self._alone, self._teams, strict=True):
            learnt = _sum((1, _without(team, alone)))
            evidence = self._noisy(_without(_with(play, learnt), play))
            after.append(_moments(_normal(*_moments(_with(skill, evidence)))))
        return after

    def _noisy(self, normal: Normal) -> Normal:
        """Return what is known of how well a bot played from what is known of its skill, or the other way round."""
        pi, tau = normal
        share = 1.0 / (1.0 + self._noise * pi)
        return share * pi, share * tau

    def _cut(self, pair: int) -> float:
        """Learn from the teams of a pair and from how the match ended; return how much its lead has changed by that."""
        expected = _sum((1, self._first(pair)), (-1, self._second(pair)))
        lead = _with(_without(self._leads[pair], self._from_teams[pair]), expected)
        self._from_teams[pair] = expected
        pi, tau = _without(lead, self._from_result[pair])
        root = sqrt(pi)
        v, w = self._cuts[pair]
        arguments = tau / root, self._margin * root
        rest: float = 1.0 - w(*arguments)
        cut: Normal = pi / rest, (tau + root * v(*arguments)) / rest
        self._from_result[pair] = _without(_with(cut, self._from_result[pair]), lead)
        self._leads[pair] = cut
        return max(abs(lead[1] - cut[1]), sqrt(abs(lead[0] - cut[0])))

    def _tell_first(self, pair: int) -> None:
        message = _sum((1, self._lead(pair)), (1, self._second(pair)))
        self._teams[pair] = _with(self._first(pair), message)
        self._to_first[pair] = message

    def _tell_second(self, pair: int) -> None:
        message = _sum((1, self._first(pair)), (-1, self._lead(pair)))
        self._teams[pair + 1] = _with(self._second(pair), message)
        self._to_second[pair] = message

    # What is known without what the pair itself has told

    def _first(self, pair: int) -> Normal:
        return _without(self._teams[pair], self._to_first[pair])

    def _second(self, pair: int) -> Normal:
        return _without(self._teams[pair + 1], self._to_second[pair])

    def _lead(self, pair: int) -> Normal:
        return _without(self._leads[pair], self._from_teams[pair])


def _with(first: Normal, second: Normal) -> Normal:
    return first[0] + second[0], first[1] + second[1]


def _without(first: Normal, second: Normal) -> Normal:
    return first[0] - second[0], first[1] - second[1]


def _normal(mu: float, sigma: float) -> Normal:
    pi = sigma**-2
    return pi, pi * mu


def _moments(normal: Normal) -> tuple[float, float]:
    pi, tau = normal
    return tau / pi, sqrt(1 / pi)


def _sum(*terms: tuple[int, Normal]) -> Normal:
    """Return the distribution of a sum of normal terms, each with its sign."""
    mu = variance = 0.0
    for sign, (pi, tau) in terms:
        mu += sign * (tau / pi if pi else 0.0)
        variance += 1 / pi if pi else inf
    pi = 1.0 / variance
    return pi, pi * mu


@cache
def _draw_margin(environment: Any) -> float:
    """Return how close two players must have played for a draw."""
    margin: float = environment.ppf((environment.draw_probability + 1) / 2.0) * sqrt(2) * environment.beta
    return margin
