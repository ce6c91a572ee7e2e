"""What is known of how long bots think: which matches come first, and how many workers a phase is worth."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from arena.worker.jobs import Played, Task, Trouble

_SLOW = 0.05
"""Seconds a match from which a phase may wait for a bot at its end.

It changes no result, only the order of matches and how many workers play; hundredths or tenths would do.
"""
_WORTH = 128
"""Matches for which it is always worth starting the bots in one more worker, however quickly they think."""
_START = 1.0
"""About how many seconds of a core it takes to start one bot, while all cores are busy."""


class Paces:
    """About how many seconds of thinking each bot needs for a match, from its matches so far."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        """By digest."""

    def note(self, task: Task, result: Played) -> None:
        """Take in how long the bots of a match thought."""
        for entrant, seat in zip(task.lineup, result.seats, strict=False):  # no seats if it was void
            if not seat.times:
                continue  # it never joined, and says nothing of how long it thinks
            took = sum(seat.times)
            self._seconds[entrant.digest] = 0.9 * self._seconds.get(entrant.digest, took) + 0.1 * took

    def slowest_first(self, tasks: Iterable[Task], trouble: Trouble) -> list[Task]:
        """Sort matches: those of bots that may hold up a phase come first, and the others fill the time meanwhile."""
        return sorted(tasks, key=lambda task: self._holds_up(task, trouble), reverse=True)

    def worth(self, tasks: Sequence[Task], jobs: int, trouble: Trouble) -> int:
        """Return how many of `jobs` workers matches are worth, as each starts the bots: all if one is slow or unknown.

        With n workers a phase lasts `thinking / n + _START * bots * n / jobs`: the time that the bot needs that thinks
        longest, and the starts, which share the cores. The sum is least where both are equal.
        """
        count = Counter(entrant.digest for task in tasks for entrant in task.lineup)
        if not count or not count.keys() <= self._seconds.keys():
            return sys.maxsize
        if any(self._holds_up(task, trouble) for task in tasks):
            return sys.maxsize
        thinking = max(self._seconds[digest] * matches for digest, matches in count.items())
        best = math.sqrt(thinking * jobs / (_START * len(count)))
        return max(1, len(tasks) // _WORTH, int(best))

    def _holds_up(self, task: Task, trouble: Trouble) -> float:
        """Return about how many seconds a match lasts if a bot may hold up the phase; else, or if unknown, 0."""
        digests = [entrant.digest for entrant in task.lineup]
        slowest = max((self._seconds.get(digest, 0.0) for digest in digests), default=0.0)
        if slowest > _SLOW:
            return slowest
        return _SLOW if any(map(trouble.plays_singly, digests)) else 0.0
