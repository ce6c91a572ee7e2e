"""How many decisions a bot is asked in one frame: few at first, more while it answers far inside its limits."""

from __future__ import annotations

from arena.referee.limits import Limits

FULL_WINDOW = 0.02
"""Seconds for which a full frame should keep a bot busy. What a frame itself costs is a fiftieth of that."""
FEW_DECISIONS = 4
"""Number of decisions up to which frames grow however long the bot thinks, as far as its limit allows."""


class Window:
    """The size of one bot's frames, which grows and shrinks with how long it takes to answer one.

    A bot may answer a frame only when it has worked through all of it, and until then nothing else tells that it has
    not stopped. So it is asked no more at once than it has shown that it answers in time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        """How many matches it may hold at once, and how many decisions a frame may have, whatever the bot shows."""
        self.size = 1
        """How many matches it is given at once, and how many decisions in a frame."""
        self.first_size = 1
        """How many first decisions a frame may have: a bot may build tables at each, for ten limits."""
        self._firsts = 0
        """How many first decisions the last frame had."""
        self._asked = 0
        """How many decisions the last frame had."""
        self._sent_at = 0.0
        self._quickest = self._quickest_first = float("inf")
        """The fewest seconds a decision, and a first one, that any frame took: hardly more than the bot thinks."""

    def keep_to(self, most: int) -> None:
        """Never give the bot more matches, nor ask more decisions, at a time than `most`."""
        self.most = min(self.most, most)
        self.size = min(self.size, self.most)

    def sent(self, asked: int, firsts: int, now: float) -> None:
        """Note that a frame with so many decisions is sent, and how many of them are first ones."""
        self._asked, self._firsts, self._sent_at = asked, firsts, now

    def answered(self, now: float, limits: Limits) -> None:
        """Adapt the size after the last frame was answered to its end, in one piece or in many."""
        took = now - self._sent_at
        each = took / self._asked
        self._quickest = min(self._quickest, each)
        self.size = at_once(self.size, self.most, each, self._quickest, limits.decision)
        if self._firsts:
            each = took / self._firsts
            self._quickest_first = min(self._quickest_first, each)
            self.first_size = at_once(self.first_size, self.most, each, self._quickest_first, limits.first)


def at_once(now: int, most: int, seconds_each: float, quickest: float, limit: float) -> int:
    """How much to ask in one frame from now on, `most` at most, if it took `seconds_each` for a decision just now.

    Doubled while a full frame is far inside the limit, and while fuller ones are worth it: a bot that thinks longer
    gets few matches at once, so that other workers can play the rest. How long it thinks, the quickest frame tells
    best, as others may have waited for a processor.
    """
    if seconds_each * now < limit / 8:
        worthwhile = most if quickest * now < FULL_WINDOW else max(now, FEW_DECISIONS)
        return min(2 * now, worthwhile, most)
    return max(1, now // 2) if seconds_each * now > limit / 2 else now
