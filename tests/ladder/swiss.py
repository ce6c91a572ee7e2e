"""A pairing for tests, complete in this file: a Swiss, in which bots of about equal points meet.

Bots that nobody met in a round make up its groups, the best first, each with the next ones that it has not met yet. If
some are left over, they rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import permutations

from ladder.schedule import Basis, Group, Order, canonical, luck

PLANS_AHEAD = False


def default_rounds(bots: int, seats: int) -> int:
    """So many that one bot can have won all its matches."""
    return math.ceil(math.log(bots, seats))


def groups_each(bots: int, seats: int) -> int:  # noqa: ARG001 - all pairings are asked alike
    """One, unless a bot rests."""
    return 1


def missing(basis: Basis) -> Iterator[Group]:
    """The groups of the first round that lacks any."""
    points, met = Counter[str](), set[Order]()
    for number in range(basis.rounds):
        there = [*basis.orders(number)]
        free = sorted(
            {*basis.bots}.difference(*there),
            key=lambda bot: (-points[bot], luck(basis.event_seed, f"swiss/{number}/{bot}")),
        )
        yield from (Group(number, order) for order in _tables(free, basis.seats, met))
        if len(free) >= basis.seats:
            return
        points.update(basis.points(number))
        met.update(pair for order in there for pair in permutations(order, 2))


def has_every_order(bots: int, seats: int) -> bool:  # noqa: ARG001
    """None does: who is in a round depends on points."""
    return False


def _tables(free: Sequence[str], seats: int, met: Collection[Order]) -> Iterator[Order]:
    while len(free) >= seats:
        first, *rest = free
        others = sorted(rest, key=lambda bot: (first, bot) in met)[: seats - 1]
        free = [bot for bot in rest if bot not in others]
        yield canonical((first, *others))
