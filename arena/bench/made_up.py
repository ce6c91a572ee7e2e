"""A result that nobody played, for what is measured without bots."""

from __future__ import annotations

from arena.referee.match import MatchOutcome
from arena.worker.jobs import Played, SeatRecord

_CHOICES = tuple((number % 2, number % 7) for number in range(100))
"""Choices of a match of medium length."""


def result_of_two(match: str, first: int = 0) -> Played:
    """Return a match of two that the seat `first` won."""
    seat = SeatRecord((0.001,) * (len(_CHOICES) // 2))
    return Played(match, MatchOutcome((first, 1 - first), (7, 3)), None, _CHOICES, (seat, seat))
