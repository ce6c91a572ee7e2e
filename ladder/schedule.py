"""The groups of a schedule, what they follow from, and what follows from them: line-ups, seeds and ids.

A label names a version of a bot: "greedy@2".
"""

from __future__ import annotations

import hmac
import json
from base64 import b32encode
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias, TypeVar

Label = TypeVar("Label")
Order: TypeAlias = tuple[str, ...]
"""Labels around the table. A cycle can be written in as many orders as it has seats; one of them is canonical."""
NEWEST_RULE = 2
"""The rule of legs that are begun now; see `Basis.rule`. 2: round robins draw the groups of large fields quickly."""


class TooFewBots(ValueError):
    """Error for a field that cannot fill the seats."""


class Group(NamedTuple):
    """One cyclic order of bots on one seed, played in all its seat rotations; `order` is canonical."""

    round: int
    order: Order
    again: int = 0
    """Number of groups of this order in this round that were dropped before."""

    @property
    def text(self) -> str:
        """What seeds and ids are computed from."""
        text = f"{self.round}/{','.join(self.order)}"
        return f"{text}/{self.again}" if self.again else text


class Basis(NamedTuple):
    """What the groups of a leg follow from; of what is stored, that is what earlier legs had when it was planned.

    Nothing of it changes later: a group that is dropped since is still there for this leg, and a match that was
    unplayable counts no points even if it was played after all.
    """

    field: Collection[str]
    seats: int
    rounds: int
    leg: int
    """Number of the leg."""
    event_seed: bytes
    orders: Callable[[int], Iterable[Order]]
    """Returns the orders of a round that are there, for a single pass: there may be millions."""
    points: Callable[[int], Mapping[str, int]]
    """Returns the half points that bots took in these groups, by label: of each match two for every seat that a bot
    was placed before, and one for a tie with it."""
    even: bool = True
    """False for a leg that an older arena planned, whose order did not keep all bots even."""
    rule: int = NEWEST_RULE
    """Number of the rule by which a pairing makes groups, where it has had several: an old leg keeps its own."""
    begin: int = 0
    """The first round that may lack groups: all before are complete in any case."""
    newcomers: Collection[str] = ()
    """In a leg of newcomers, those of the field who are; the others are their opponents. See `newcomers.py`."""

    @property
    def bots(self) -> list[str]:
        """The field in order, each bot once. Raises TooFewBots if it cannot fill the seats."""
        bots = sorted(set(self.field))
        if len(bots) < self.seats:
            has = f"the field has {len(bots)}: {', '.join(bots) or 'none'}"
            raise TooFewBots(f"{self.seats} seats need {self.seats} bots, {has}")
        return bots


def canonical(order: Order) -> Order:
    """Return the same cycle with its smallest label first."""
    first = order.index(min(order))
    return order[first:] + order[:first]


def rotations(order: tuple[Label, ...]) -> tuple[tuple[Label, ...], ...]:
    """Return the line-ups of a group: in rotation r, seat s has bot (s + r) modulo seats."""
    return tuple(order[r:] + order[:r] for r in range(len(order)))


@lru_cache(maxsize=1 << 13)  # called for every match, and most line-ups repeat
def line_up(bots: str, rotation: int) -> Order:
    """Return the labels by seat for a rotation of a stored group."""
    return rotations(tuple(json.loads(bots)))[rotation]


def luck(event_seed: bytes, text: str) -> bytes:
    """Return 32 bytes that are always the same for a text, and that nobody can foresee without the event seed."""
    return hmac.digest(event_seed, text.encode(), "sha256")


def match_seed(event_seed: bytes, ladder: str, group: Group) -> bytes:
    """Return the 32 bytes that determine all luck in a group's matches."""
    return luck(event_seed, f"{ladder}/{group.text}")


def match_id(ladder: str, group: Group, rotation: int) -> str:
    """Return the id of a match, ten letters and digits; it is the same in every data directory ("home")."""
    return _short(f"{ladder}/{group.text}/{rotation}")


def ladder_id(
    game: str,
    seats: int,
    options: Mapping[str, Any],
    limits: Mapping[str, Any],
    rules_version: int,
    pairing: str | None = None,
) -> str:
    """Return the id of a ladder, ten letters and digits, the same in every data directory ("home").

    It is computed from JSON, in which 1 and 1.0 are different values. The default pairing is None.
    """
    key = [game, seats, options, limits, rules_version]
    return _short(canonical_json(key if pairing is None else [*key, pairing]))


def canonical_json(value: object) -> str:
    """Encode a value so that equal values give equal text: keys sorted, no spaces, plain ASCII, no NaN."""
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
"""Made once, because json.dumps would make an encoder each time."""


def _short(text: str) -> str:
    return b32encode(sha256(text.encode()).digest()[:10])[:10].decode().lower()
