"""Balanced draws of a round robin with more than two seats, for fields of hundreds: each group costs the same."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from ladder.schedule import Order, luck

WINDOW = 32
"""Bots among which those for a table of a large field are chosen: those that have played least.

With twice as many the time doubles and pairs meet hardly more evenly; schedules follow from it.
"""


class LargeDraws:
    """Balanced draws for large fields, in the order in which they are played.

    As for small fields, each group is drawn for the bot that has played least, and meetings are counted over all
    rounds. But the others are chosen among the `WINDOW` that have played least after it. So whatever the field, a group
    costs as much as any other, and wherever a round ends, all bots have played about equally often.
    """

    def __init__(self, bots: Sequence[str], seats: int, each: int, event_seed: bytes) -> None:
        """Draw for these bots, in order, until each is in `each` groups of a round."""
        self._bots, self._seats, self._each, self._event_seed = bots, seats, each, event_seed
        self._place = {bot: place for place, bot in enumerate(bots)}
        self._seen = [0] * len(bots)
        self._total = 0
        """The sum of `_seen`."""
        self._met, self._followed = (array("I", bytes(4 * len(bots) ** 2)) for _ in range(2))
        """By place * bots + place: how often these two met, and how often the second sat directly after the first."""

    def __call__(self, number: int, there: Iterable[Order]) -> Iterator[Order]:
        """Yield the orders that this round lacks; rounds must be asked for in order."""
        played = [0] * len(self._bots)
        taken = set()
        for order in there:
            places = tuple(self._place[bot] for bot in order if bot in self._place)
            self._note(places, played)
            taken.add(places)
        ring = sorted(self._place.values(), key=lambda place: (self._seen[place], self._luck(number, place)))
        queue = _Queue(ring, played)
        while played[neediest := queue.take(1)[0]] < self._each:
            window = queue.take(WINDOW)
            tables = self._tables(window, (neediest,), played)
            table = next(order for table in tables for order in self._orders(table) if order not in taken)
            queue.give_back([place for place in window if place not in table])
            self._note(table, played)
            queue.add(table)
            taken.add(table)
            yield tuple(self._bots[place] for place in table)

    def _luck(self, number: int, place: int) -> bytes:
        return luck(self._event_seed, f"draw/{number}/{self._bots[place]}")

    def _note(self, order: tuple[int, ...], played: list[int]) -> None:
        bots = len(self._bots)
        self._total += len(order)
        for one, other in zip(order, order[1:] + order[:1], strict=True):
            played[one] += 1
            self._seen[one] += 1
            self._followed[one * bots + other] += 1
        for one, other in permutations(order, 2):
            self._met[one * bots + other] += 1

    def _tables(
        self, window: Sequence[int], seated: tuple[int, ...], played: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        """Yield every way to fill the seats from the window, the fairest first: it is as in draws of small fields."""
        if len(seated) == self._seats:
            yield seated
            return
        chance, rows = (self._seats - 1) * sum(self._seen[other] for other in seated), len(self._bots)

        def cost(place: int) -> tuple[int, int]:
            met = sum([self._met[other * rows + place] for other in seated])
            if played[place] >= self._each:
                met += len(seated)
            return met * self._total - chance * self._seen[place], played[place]

        for place in sorted((place for place in window if place not in seated), key=cost):
            yield from self._tables(window, (*seated, place), played)

    def _orders(self, table: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the cyclic orders of a table, first those whose neighbours sat in this order least often."""
        first, *rest = sorted(table)
        rows = len(self._bots)
        orders = [(first, *others) for others in permutations(rest)]
        return sorted(
            orders,
            key=lambda order: sum(
                self._followed[one * rows + other] for one, other in zip(order, order[1:] + order[:1], strict=True)
            ),
        )


class _Queue:
    """Places of bots, those that have played least first; among equals whoever waits longest."""

    def __init__(self, places: Iterable[int], played: Sequence[int]) -> None:
        self._played = played
        self._waiting: list[deque[int]] = []
        """By how often they have played."""
        self.add(places)

    def add(self, places: Iterable[int]) -> None:
        """Let these wait behind their equals."""
        for place in places:
            self._row(place).append(place)

    def take(self, count: int) -> list[int]:
        """Take out the first ones, up to `count`."""
        taken: list[int] = []
        for row in self._waiting:
            while row and len(taken) < count:
                taken.append(row.popleft())
        return taken

    def give_back(self, places: Sequence[int]) -> None:
        """Let these wait where they were taken out, in the same order."""
        for place in reversed(places):
            self._row(place).appendleft(place)

    def _row(self, place: int) -> deque[int]:
        while len(self._waiting) <= self._played[place]:
            self._waiting.append(deque())
        return self._waiting[self._played[place]]
