"""Ladders of synthetic bots whose strength is known: no processes, no rules, only ranks.

A bot's performance in a match is its strength, what its seat is worth, the seat's dice, which all rotations of a group
share, and noise of its own, rounded down to a whole number so that some are equal.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import permutations
from operator import add
from random import Random
from statistics import NormalDist, fmean
from typing import NamedTuple

from ladder import round_robin, schedule
from ladder.intervals import Evidence, GroupResult
from ladder.points import point
from ladder.settled import GroupOutcome, outcome
from ladder.trueskill_ratings import NEW, Rating, rate

DICE, NOISE, SEAT = 2.5, 2.5, 0.6
"""Standard deviations of a seat's dice and of all other luck; by how much each seat is better than the next."""
DRAWS = 0.08
"""About how often two equal bots tie so."""


class Size(NamedTuple):
    """Of a ladder."""

    bots: int
    seats: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.bots} bots, {self.seats} seats, {self.rounds} rounds"


@cache
def orders(size: Size) -> list[tuple[int, ...]]:
    """The groups of such a ladder in schedule order."""
    labels = [label(bot) for bot in range(size.bots)]
    basis = schedule.Basis(labels, size.seats, size.rounds, 0, b"event seed", lambda _round: (), lambda _round: {})
    groups = round_robin.missing(basis)
    numbers = {bot: number for number, bot in enumerate(labels)}
    return [tuple(map(numbers.__getitem__, group.order)) for group in groups]


def label(bot: int) -> str:
    """In alphabetical order."""
    return f"bot{bot:03}@1"


class Played(NamedTuple):
    """A ladder that was played: its strengths and, in schedule order, how its groups went."""

    size: Size
    strengths: tuple[float, ...]
    groups: list[GroupResult]

    def evidence(self) -> Evidence:
        """What the statistics make of it."""
        return Evidence(Counter(self.groups))

    def outcomes(self) -> list[GroupOutcome]:
        """Every match as the settled rating takes it."""
        return [
            outcome(line_up, ranks)
            for order, rotations in self.groups
            for line_up, ranks in zip(schedule.rotations(order), rotations, strict=True)
        ]

    def live(self) -> dict[str, Rating]:
        """The live ratings."""
        ratings: dict[str, Rating] = {}
        for order, rotations in self.groups:
            for line_up, ranks in zip(schedule.rotations(order), rotations, strict=True):
                before = [ratings.get(bot, NEW) for bot in line_up]
                ratings |= zip(line_up, rate(before, ranks, DRAWS), strict=True)
        return ratings

    def share(self, one: int, other: int) -> float:
        """The share of points that one takes from the other on average over all luck."""
        gap = self.strengths[one] - self.strengths[other]
        distances = _distances(self.size)[one, other]
        total = sum(times * _expected(self.size.seats, distance, gap) for distance, times in distances.items())
        return total / distances.total()

    def score(self, bot: int) -> float:
        """The mean share against all others."""
        return fmean(self.share(bot, other) for other in range(self.size.bots) if other != bot)

    def lead(self, one: int, other: int) -> float:
        """By how much one's share is above the other's."""
        return self.score(one) - self.score(other)

    def seats(self) -> list[float]:
        """The share of points of each seat on average over all luck."""
        counts = Counter(orders(self.size))
        return [
            sum(times * self._of_seat(order, seat) for order, times in counts.items()) / counts.total()
            for seat in range(self.size.seats)
        ]

    def _of_seat(self, order: tuple[int, ...], seat: int) -> float:
        means = [[self.strengths[bot] - SEAT * at for at, bot in enumerate(turn)] for turn in schedule.rotations(order)]
        return fmean(
            _point(turn[seat] - turn[other], 0.0) for turn in means for other in range(len(turn)) if other != seat
        )


def play(size: Size, strengths: Sequence[float], chance: Random) -> Played:
    """Play a ladder."""
    groups = [_group(order, strengths, chance) for order in orders(size)]
    return Played(size, tuple(strengths), groups)


def _group(order: tuple[int, ...], strengths: Sequence[float], chance: Random) -> GroupResult:
    seats = [chance.gauss(-SEAT * seat, DICE) for seat in range(len(order))]
    turns = [[strengths[bot] for bot in turn] for turn in schedule.rotations(order)]
    return tuple(map(label, order)), tuple(_ranks(list(map(add, turn, seats)), chance) for turn in turns)


def _ranks(means: Sequence[float], chance: Random) -> tuple[int, ...]:
    performances = [math.floor(mean + chance.gauss(0, NOISE)) for mean in means]
    return tuple(sum(other > own for other in performances) for own in performances)


@cache
def _distances(size: Size) -> dict[tuple[int, int], Counter[int]]:
    """By two bots how many seats after the first the second sits, over the groups of both."""
    found: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for order in orders(size):
        for (seat, one), (other_seat, other) in permutations(enumerate(order), 2):
            found[one, other][(other_seat - seat) % size.seats] += 1
    return found


def _expected(seats: int, distance: int, gap: float) -> float:
    """The expected share of points of a bot against one so many seats after it and so much weaker."""
    pairs = [(seat, (seat + distance) % seats) for seat in range(seats)]
    return fmean(_point(gap - SEAT * one, -SEAT * other) for one, other in pairs)


@lru_cache(10_000)
def _point(one: float, other: float) -> float:
    """The expected point of two performances with these means."""
    spread = math.hypot(DICE, NOISE)
    first, second = NormalDist(one, spread), NormalDist(other, spread)
    faces = range(math.floor(min(one, other) - 8 * spread), math.ceil(max(one, other) + 8 * spread))
    return sum(
        (first.cdf(face + 1) - first.cdf(face)) * (second.cdf(face) + second.cdf(face + 1)) / 2 for face in faces
    )


def shares(gap: float, chance: Random) -> Iterator[float]:
    """What one bot takes of the points from another, so much weaker, group after group without end."""
    while True:
        _, ((one, other), (other_, one_)) = _group((0, 1), (gap, 0.0), chance)
        yield (point(one, other) + point(one_, other_)) / 2
