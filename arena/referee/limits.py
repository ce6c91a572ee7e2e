"""How long a bot may think, and what it is charged.

The clock is monotonic and runs in the referee's process, from the sending of a frame to the arrival of its answers. A
seat has a limit for each decision and, for the whole match, a bank from which time over the limit is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.sandbox.cpu_usage import Usage


class Limits(NamedTuple):
    """What a ladder or match allows, in seconds."""

    decision: float = 1.0
    bank: float = 10.0
    start: float = 30.0
    """From the start of the process to its Hello."""
    cpu: float = math.inf
    """Processor time of all its processes for a match; what the start of the process took is not part of it."""

    @property
    def first(self) -> float:
        """The limit of a seat's first decision in a match, in which bots build their tables."""
        return 10 * self.decision

    def plain(self) -> dict[str, Any]:
        """Convert to a dictionary, as stored with a ladder and shown in JSON.

        `cpu` is left out where it is not limited: a ladder's id follows from all of them, and once there was no `cpu`.
        """
        fields = {"decision": self.decision, "bank": self.bank, "start": self.start}
        return fields if self.cpu == math.inf else {**fields, "cpu": self.cpu}


OVERLOAD = 4
"""A bot that takes so many times what it may, and not by its own doing, cannot be judged here."""


def charged(wall: float, before: Usage, after: Usage) -> float:
    """Compute what a bot pays for `wall` seconds: it does not pay for time in which no processor was free for it.

    The charge is `wall` minus the longest time that any one of its threads waited for a processor, minus what the
    referee waited, which may read an answer late. It is never less than the processor time of all its threads and
    processes, so that neither threads that wait on purpose nor work on many processors gain time. If a process may have
    come or gone unseen, waiting is not subtracted: the threads may have waited for that process.
    """
    waited = max((total - before.waited.get(thread, 0.0) for thread, total in after.waited.items()), default=0.0)
    waited += after.referee_waited - before.referee_waited
    if after.uncounted != before.uncounted:
        waited = 0.0
    return max(after.cpu - before.cpu, wall - waited)


NO_LIMITS = Limits(math.inf, math.inf, math.inf)
"""For an external bot, which may run under a debugger."""


@dataclass(slots=True)
class Bank:
    """One seat's time in one match."""

    limits: Limits
    left: float
    first: bool = True

    @classmethod
    def full(cls, limits: Limits) -> Bank:
        """Create the bank of a seat at the start of a match."""
        return cls(limits, limits.bank)

    @property
    def limit(self) -> float:
        """Seconds allowed for the next decision, bank left out."""
        return self.limits.first if self.first else self.limits.decision

    @property
    def allowance(self) -> float:
        """Seconds that the next decision can take at most: its limit and all that is left of the bank."""
        return self.limit + self.left

    def charge(self, seconds: float) -> bool:
        """Charge a decision; return False if the bank does not cover the time over the limit."""
        over = seconds - self.limit
        self.first = False
        if over > 0:
            self.left -= over
        return self.left >= 0

    def answered(self) -> None:
        """Count a decision without charging it, because other matches were waiting in the same frame."""
        self.first = False
