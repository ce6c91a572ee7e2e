"""The first groups of newcomers: each meets a few rated bots, from the top of the board to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ladder.pairing import Pairing
from ladder.round_robin import evenly
from ladder.schedule import Basis, Group

OPPONENTS = 8
"""Rated bots that newcomers meet at most. Enough to tell about where a bot stands, and few to start."""
FIRST = 8
"""Groups that each newcomer plays at most, so that all are rated soon; with two seats it meets each opponent once.

Schedules follow from it: in a ladder that was played with another number, `arena verify` would find other groups.
"""


def opponents(ranked: Sequence[str]) -> list[str]:
    """Return those of the bots, best first, whom newcomers meet: evenly spaced, the best and the last among them."""
    if len(ranked) <= OPPONENTS:
        return list(ranked)
    return [ranked[place * (len(ranked) - 1) // (OPPONENTS - 1)] for place in range(OPPONENTS)]


def first_groups(pairing: Pairing, basis: Basis) -> Iterator[Group]:
    """Yield the groups of a leg of newcomers: each one's in turn, of the first round, with nobody but its opponents.

    They are among those that the pairing makes for a field of one newcomer and the opponents. What others have played
    does not matter: a newcomer has played nothing.
    """
    rated = [bot for bot in basis.bots if bot not in basis.newcomers]
    for newcomer in (bot for bot in basis.bots if bot in basis.newcomers):  # others were banned meanwhile
        own = basis._replace(field=[newcomer, *rated], newcomers=(), rounds=1, orders=lambda _round: ())
        with_it = [group for group in pairing.missing(own) if newcomer in group.order]
        yield from islice(evenly(with_it, ()), FIRST)


def groups_of(pairing: Pairing, basis: Basis) -> Iterator[Group]:
    """Yield the groups of a leg, of newcomers or of a whole field."""
    return first_groups(pairing, basis) if basis.newcomers else pairing.missing(basis)
