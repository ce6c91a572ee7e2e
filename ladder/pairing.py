"""What decides who meets whom in a ladder, and which such pairings there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ladder import round_robin
from ladder.schedule import Basis, Group

DEFAULT_PAIRING = "round-robin"
"""Name of the pairing of a ladder of which nobody said another. It was the only one when ids of ladders began."""


class Pairing(Protocol):
    """Functions that say who meets whom; a module can be one, as `ladder/round_robin.py` is.

    They are pure: their arguments alone decide, no clock, file or global does, and the only luck is that of the event
    seed. `arena verify` asks `missing` again for each leg, long after, with the same basis: the same groups must come,
    in the same order. So a pairing whose groups change is another pairing, with another name, or goes by another
    `basis.rule` from then on.
    """

    PLANS_AHEAD: bool
    """Whether one leg has all that is missing. If not, it ends with the first round that lacks a group, because the
    next one needs its results: once that leg is played, `missing` is asked again."""

    def default_rounds(self, bots: int, seats: int) -> int:
        """Return how many rounds a ladder has of which nobody says it; more can be added at any time."""

    def groups_each(self, bots: int, seats: int) -> int:
        """Return in how many groups of a round each bot is, about: it only says beforehand how long something takes."""

    def missing(self, basis: Basis) -> Iterator[Group]:
        """Yield the groups that rounds 0 … `basis.rounds` − 1 still lack, round by round; `again` is not its business.

        Each has a canonical order of bots of the field that is not there, and no order comes twice in a round. Whatever
        was played of a field, nothing is missing for it any more, nor for fewer rounds, until a group is dropped.
        Groups are stored while they are reached, so at most one round at a time should be in memory. A leg that is gone
        on with later asks once more with `basis.begin`. Raises TooFewBots at the first group.
        """

    def has_every_order(self, bots: int, seats: int) -> bool:
        """Tell whether a round of so many bots contains the rounds of any fewer of them, whatever else is there."""


PAIRINGS: dict[str, Pairing] = {DEFAULT_PAIRING: round_robin}
"""By name, as ladders store it. A new pairing is a line here."""


def pairing_named(name: str) -> Pairing:
    """Return the pairing of this name. Raises LookupError if this arena has none."""
    if name not in PAIRINGS:
        raise LookupError(f"unknown pairing {name!r}: pairings are {', '.join(sorted(PAIRINGS))}")
    return PAIRINGS[name]
