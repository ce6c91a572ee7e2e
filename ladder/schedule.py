"""Who meets whom: groups as a pure function of field, seats, rounds, event seed and what is there already.

A label names a version of a bot: "greedy@2".
"""

from __future__ import annotations

import hmac
import json
import math
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import combinations, permutations
from typing import Any, NamedTuple, TypeAlias, TypeVar

Label = TypeVar("Label")
Order: TypeAlias = tuple[str, ...]
"""Labels around the table; the same cycle has as many orders as seats, of which one is canonical."""

GROUPS_PER_ROUND = 24
"""How many groups a bot plays in a round of more than two seats, where all there are would be more."""


class TooFewBots(ValueError):
    """The field cannot fill the seats."""


class Group(NamedTuple):
    """One cyclic order of bots on one seed, played in all its seat rotations; `order` is canonical."""

    round: int
    order: Order
    again: int = 0
    """How many groups of this order in this round were dropped before there was this one."""


def canonical(order: Order) -> Order:
    """The same cycle with its smallest label first."""
    first = order.index(min(order))
    return order[first:] + order[:first]


def rotations(order: tuple[Label, ...]) -> tuple[tuple[Label, ...], ...]:
    """The line-ups of a group: in rotation r, seat s holds bot (s + r) modulo seats."""
    return tuple(order[r:] + order[:r] for r in range(len(order)))


def default_rounds(bots: int, seats: int) -> int:
    """Rounds that tell a field apart in a sitting: 300 matches for every bot, 600 with more than two seats."""
    groups = bots - 1 if seats == 2 else min(math.perm(bots - 1, seats - 1), GROUPS_PER_ROUND)
    return max(1, math.ceil((300 if seats == 2 else 600) / (groups * seats)))


def missing(
    field: Iterable[str],
    seats: int,
    rounds: int,
    have: Callable[[int], Collection[Order]],
    event_seed: bytes,
    leg: int,
) -> Iterator[Group]:
    """The groups that rounds 0 … `rounds` − 1 still lack, round by round, shuffled inside each round.

    `have(round)` gives the orders of a round that earlier legs hold. One round at a time is in memory. Raises
    TooFewBots at the first group.
    """
    bots = sorted(set(field))
    if len(bots) < seats:
        raise TooFewBots(f"{seats} seats need {seats} bots, the field has {len(bots)}: {', '.join(bots) or 'none'}")
    orders = _every_order(bots, seats) if _affordable(len(bots), seats) else _Draws(bots, seats, event_seed)
    for number in range(rounds):
        groups = [Group(number, order) for order in orders(number, have(number))]
        yield from sorted(groups, key=lambda group: _digest(event_seed, f"shuffle/{leg}/{_text(group)}"))


def _affordable(bots: int, seats: int) -> bool:
    """Whether a round can hold every cyclic order of every choice of bots."""
    return seats == 2 or math.perm(bots - 1, seats - 1) <= GROUPS_PER_ROUND


def _every_order(bots: Sequence[str], seats: int) -> Callable[[int, Collection[Order]], list[Order]]:
    orders = [(chosen[0], *rest) for chosen in combinations(bots, seats) for rest in permutations(chosen[1:])]
    return lambda _round, there: [order for order in orders if order not in there]


class _Draws:
    """Balanced draws: groups until every bot is in enough of them, each for the bot that is in fewest.

    Meetings are counted over all rounds, groups of earlier legs included. So a bot that enters late gets groups
    of its own and meets everybody equally, and what was unequal in one round is made good in the next.
    """

    def __init__(self, bots: Sequence[str], seats: int, event_seed: bytes) -> None:
        self._bots, self._seats, self._event_seed = bots, seats, event_seed
        self._seen: Counter[str] = Counter()
        self._met: Counter[tuple[str, str]] = Counter()
        self._followed: Counter[tuple[str, str]] = Counter()  # (a, b): how often b sat right after a

    def __call__(self, number: int, there: Collection[Order]) -> Iterator[Order]:
        """The orders that this round lacks; rounds must be asked for in turn."""
        played: Counter[str] = Counter()
        taken = set(there)
        for order in taken:
            self._note(order, played)
        bots = sorted(self._bots, key=lambda bot: _digest(self._event_seed, f"draw/{number}/{bot}"))
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
        """Every way to fill the seats, the fairest first."""
        if len(seated) == self._seats:
            yield seated
            return

        total, chance = self._seen.total(), (self._seats - 1) * sum(self._seen[other] for other in seated)

        def cost(bot: str) -> tuple[int, int]:
            """By how much it met those seated more often than by chance, times `total` to stay with whole numbers.

            One that is in groups enough counts as if it had met each of them once more.
            """
            full = played[bot] >= GROUPS_PER_ROUND
            met = sum([self._met[other, bot] + full for other in seated])
            return met * total - chance * self._seen[bot], played[bot]

        for bot in sorted((bot for bot in bots if bot not in seated), key=cost):
            yield from self._tables(bots, (*seated, bot), played)

    def _orders(self, table: Order) -> list[Order]:
        """The cyclic orders of a table, first those whose neighbours have sat so least often."""
        orders = [canonical((table[0], *rest)) for rest in permutations(table[1:])]
        return sorted(orders, key=lambda order: sum(map(self._followed.__getitem__, _neighbours(order))))


def _neighbours(order: Order) -> Iterator[tuple[str, str]]:
    return zip(order, order[1:] + order[:1], strict=True)


def match_seed(event_seed: bytes, ladder: str, group: Group) -> bytes:
    """The 32 bytes that all luck of a group's matches comes from."""
    return _digest(event_seed, f"{ladder}/{_text(group)}")


def match_id(ladder: str, group: Group, rotation: int) -> str:
    """Ten letters and digits; the same in every home."""
    return _short(f"{ladder}/{_text(group)}/{rotation}")


def ladder_id(game: str, seats: int, options: Mapping[str, Any], limits: Mapping[str, Any], rules_version: int) -> str:
    """Ten letters and digits that two homes agree on; to JSON, and so here, 1 and 1.0 are two values."""
    return _short(canonical_json([game, seats, options, limits, rules_version]))


def canonical_json(value: object) -> str:
    """One text for equal values: keys sorted, no spaces, plain ASCII, no NaN."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)  # dumps would make one each time


def _text(group: Group) -> str:
    text = f"{group.round}/{','.join(group.order)}"
    return f"{text}/{group.again}" if group.again else text


def _digest(event_seed: bytes, text: str) -> bytes:
    return hmac.digest(event_seed, text.encode(), "sha256")


def _short(text: str) -> str:
    return b32encode(sha256(text.encode()).digest()[:10])[:10].decode().lower()
