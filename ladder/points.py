"""Points of a match: the share of the other seats that a seat is placed before, a tie counting half."""

from __future__ import annotations

from functools import lru_cache


def point(rank: int, rival_rank: int) -> float:
    """Return the points of one seat against another by their ranks: 1 for the better rank, ½ for the same, else 0."""
    return 1.0 if rank < rival_rank else 0.5 if rank == rival_rank else 0.0


@lru_cache(maxsize=1 << 12)  # the same few ranks come again and again
def points(ranks: tuple[int, ...]) -> tuple[float, ...]:
    """Return the points of each seat, from 0 to 1; their sum is half the number of seats.

    Ranks are 0 for the best, and equal for a tie.
    """
    rivals = len(ranks) - 1
    return tuple((sum(point(rank, rival) for rival in ranks) - 0.5) / rivals for rank in ranks)
