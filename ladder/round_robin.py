"""Round robins: in every round all meet all or, where that is too much, each bot plays in enough balanced draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, permutations

from ladder.large_draws import LargeDraws
from ladder.schedule import Basis, Group, Order, canonical, luck

GROUPS_PER_ROUND = 24
"""Groups that a bot plays in a round with more than two seats, if there are more possible groups than that."""
AHEAD = 100
"""Groups among which the next is chosen, so that bots stay even. Of a small field they are all.

Schedules follow from it, and so do those of ladders that were played: `arena verify` makes them again.
"""
LARGE = 200
"""Bots up to which rounds with more than two seats are drawn by rule 1, whose time grows with the square of the field.

The schedules of ladders that were played follow from it.
"""
PLANS_AHEAD = True
"""Whether one leg has all that is missing: no round needs the results of another."""


def default_rounds(bots: int, seats: int) -> int:
    """Return the default number of rounds, enough to tell the bots of a field apart in one sitting.

    With these every bot plays at least 300 matches, or 600 with more than two seats.
    """
    return max(1, math.ceil((300 if seats == 2 else 600) / (groups_each(bots, seats) * seats)))


def groups_each(bots: int, seats: int) -> int:
    """Return in how many groups of a round each bot is, at least."""
    return bots - 1 if seats == 2 else min(math.perm(bots - 1, seats - 1), GROUPS_PER_ROUND)


def missing(basis: Basis) -> Iterator[Group]:
    """Yield the groups that a leg adds.

    Inside a round the order is one in which, wherever it ends, all bots have played about equally often; unless
    `basis.even` it is shuffled, as in legs of older arenas.
    """
    bots, seats = basis.bots, basis.seats
    if basis.even and seats == 2:
        yield from _all_pairs(bots, basis)
        return
    if not has_every_order(len(bots), seats) and len(bots) > LARGE and basis.rule >= 2:
        draws = LargeDraws(bots, seats, GROUPS_PER_ROUND, basis.event_seed)
        for number in range(basis.rounds):
            yield from (Group(number, order) for order in draws(number, basis.orders(number)))
        return
    has_all = has_every_order(len(bots), seats)
    orders = _every_order(bots, seats) if has_all else _Draws(bots, seats, basis.event_seed)
    for number in range(basis.begin if has_all else 0, basis.rounds):
        there = set(basis.orders(number))
        groups = [Group(number, order) for order in orders(number, there)]
        shuffled = sorted(groups, key=lambda group: luck(basis.event_seed, f"shuffle/{basis.leg}/{group.text}"))
        yield from evenly(shuffled, there) if basis.even else shuffled


def has_every_order(bots: int, seats: int) -> bool:
    """Tell whether a round of so many bots contains every cyclic order of every choice of them."""
    return seats == 2 or math.perm(bots - 1, seats - 1) <= GROUPS_PER_ROUND


def _every_order(bots: Sequence[str], seats: int) -> Callable[[int, Collection[Order]], list[Order]]:
    orders = [(chosen[0], *rest) for chosen in combinations(bots, seats) for rest in permutations(chosen[1:])]
    return lambda _round, there: [order for order in orders if order not in there]


def _all_pairs(bots: Sequence[str], basis: Basis) -> Iterator[Group]:
    """Yield for each round the pairs that it lacks.

    Which leg it is does not matter: what an earlier one left of a round goes on where it ended.
    """
    place = {bot: number for number, bot in enumerate(bots)}
    for number in range(basis.begin, basis.rounds):
        there = bytearray(len(bots) ** 2)  # a set would take 200 MB for the pairs of 2,000 bots
        for order in basis.orders(number):
            if order[0] in place and order[1] in place:
                there[place[order[0]] * len(bots) + place[order[1]]] = 1
        ring = sorted(bots, key=lambda bot: luck(basis.event_seed, f"turn/{number}/{bot}"))
        for pair in _pairs(ring):
            if not there[place[pair[0]] * len(bots) + place[pair[1]]]:
                yield Group(number, pair)


def _pairs(ring: Sequence[str]) -> Iterator[Order]:
    """Yield each pair once: all bots play (but one, if their number is odd) before any plays again.

    This is the circle method of round robins: one bot stays in its place, the others move on by one place.
    """
    places: list[str | None] = [*ring, *([None] if len(ring) % 2 else [])]
    half = len(places) // 2
    for _ in range(len(places) - 1):
        for one, other in zip(places[:half], reversed(places[half:]), strict=True):
            if one is not None and other is not None:
                yield (one, other) if one < other else (other, one)
        places.insert(1, places.pop())


def evenly(groups: Sequence[Group], there: Iterable[Order]) -> Iterator[Group]:
    """Yield each time, of the next `AHEAD` groups, the one whose bots have played least, in what is there as well."""
    played = Counter(bot for order in there for bot in order)
    left = list(groups)
    while left:
        group = min(left[:AHEAD], key=lambda group: sum(map(played.__getitem__, group.order)))
        left.remove(group)
        played.update(group.order)
        yield group


class _Draws:
    """Balanced draws: groups are drawn until every bot is in enough of them, each for the bot that is in fewest.

    Meetings are counted over all rounds, including groups of earlier legs. So a bot that enters late gets groups of its
    own and meets all others equally often, and what was unequal in one round is evened out in the next.
    """

    def __init__(self, bots: Sequence[str], seats: int, event_seed: bytes) -> None:
        self._bots, self._seats, self._event_seed = bots, seats, event_seed
        self._seen: Counter[str] = Counter()
        self._met: Counter[tuple[str, str]] = Counter()
        self._followed: Counter[tuple[str, str]] = Counter()  # (a, b): how often b sat directly after a

    def __call__(self, number: int, there: Collection[Order]) -> Iterator[Order]:
        """Yield the orders that this round lacks; rounds must be asked for in order."""
        played: Counter[str] = Counter()
        taken = set(there)
        for order in taken:
            self._note(order, played)
        bots = sorted(self._bots, key=lambda bot: luck(self._event_seed, f"draw/{number}/{bot}"))
        while played[neediest := min(bots, key=played.__getitem__)] < GROUPS_PER_ROUND:
            tables = self._tables(bots, (neediest,), played)
            order = next(order for table in tables for order in self._orders(table) if order not in taken)
            self._note(order, played)
            taken.add(order)
            yield order

    def _note(self, order: Order, played: Counter[str]) -> None:
        played.update(order)
        self._seen.update(order)
        self._met.update(permutations(order, 2))
        self._followed.update(_neighbours(order))

    def _tables(self, bots: Sequence[str], seated: Order, played: Counter[str]) -> Iterator[Order]:
        """Yield every way to fill the seats, the fairest first."""
        if len(seated) == self._seats:
            yield seated
            return

        total, chance = self._seen.total(), (self._seats - 1) * sum(self._seen[other] for other in seated)

        def cost(bot: str) -> tuple[int, int]:
            """Return how much more often a bot met those seated than by chance, times `total`, which keeps it whole.

            A bot that is in enough groups already counts as if it had met each of them once more.
            """
            full = played[bot] >= GROUPS_PER_ROUND
            met = sum([self._met[other, bot] + full for other in seated])
            return met * total - chance * self._seen[bot], played[bot]

        for bot in sorted((bot for bot in bots if bot not in seated), key=cost):
            yield from self._tables(bots, (*seated, bot), played)

    def _orders(self, table: Order) -> list[Order]:
        """Return the cyclic orders of a table, first those whose neighbours sat in this order least often."""
        orders = [canonical((table[0], *rest)) for rest in permutations(table[1:])]
        return sorted(orders, key=lambda order: sum(map(self._followed.__getitem__, _neighbours(order))))


def _neighbours(order: Order) -> Iterator[tuple[str, str]]:
    return zip(order, order[1:] + order[:1], strict=True)
