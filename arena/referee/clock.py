"""How long a bot may think, and what it is charged.

The clock runs on the referee's side, monotonic, from the sending of a frame to the arrival of its answers. A seat has
a limit for each decision and, for the match, a bank from which time over the limit is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Limits(NamedTuple):
    """What a ladder or match allows, in seconds."""

    decision: float = 1.0
    bank: float = 10.0
    start: float = 30.0
    """From the start of the process to its Hello."""

    @property
    def first(self) -> float:
        """The limit of a seat's first decision in a match, in which bots build their tables."""
        return 10 * self.decision

    def plain(self) -> dict[str, Any]:
        """As stored with a ladder and shown to people."""
        return {"decision": self.decision, "bank": self.bank, "start": self.start}


class Usage(NamedTuple):
    """What the processes of a bot had of the machine by some moment, in seconds."""

    cpu: float
    """Processor time of all together."""
    waited: Mapping[int, float]
    """By thread: how long it was ready to run while others ran."""
    referee_waited: float = 0.0
    """The same of the thread that hears the bot."""
    uncounted: frozenset[int] = frozenset()
    """Processes that may come and go without their time being seen; none where a control group counts it."""

    def stirred(self) -> Usage:
        """The same, of which nothing later can tell what came and went since."""
        return self._replace(uncounted=frozenset({0}))


OVERLOAD = 4
"""A decision that takes so many times what it may, and not by its own doing, cannot be judged on this machine."""


def charged(wall: float, before: Usage, after: Usage) -> float:
    """What a bot pays for `wall` seconds: not for those in which the machine had no processor for it.

    That is the time less the longest that any one of its threads waited, and less what the referee waited, who may
    hear of an answer late; but never less than the processor time of all its threads and processes, so that neither
    threads that wait on purpose nor work on many processors buy anything. Where a process came or went unseen, which
    may have been what its threads waited for, they waited for nothing.
    """
    waited = max((total - before.waited.get(thread, 0.0) for thread, total in after.waited.items()), default=0.0)
    waited += after.referee_waited - before.referee_waited
    if after.uncounted != before.uncounted:
        waited = 0.0
    return max(after.cpu - before.cpu, wall - waited)


NO_LIMITS = Limits(math.inf, math.inf, math.inf)
"""For a bot under a debugger."""


@dataclass(slots=True)
class Bank:
    """One seat's time in one match."""

    limits: Limits
    left: float
    first: bool = True

    @classmethod
    def full(cls, limits: Limits) -> Bank:
        """Nothing drawn yet."""
        return cls(limits, limits.bank)

    @property
    def limit(self) -> float:
        """The limit of the decision that is next."""
        return self.limits.first if self.first else self.limits.decision

    @property
    def allowance(self) -> float:
        """The longest the next decision can take: its limit and all that is left."""
        return self.limit + self.left

    def charge(self, seconds: float) -> bool:
        """Book a decision; False if the bank could not cover what went over the limit."""
        over = seconds - self.limit
        self.first = False
        if over > 0:
            self.left -= over
        return self.left >= 0

    def answered(self) -> None:
        """Book a decision that is not charged, since other matches were waiting in the same frame."""
        self.first = False
