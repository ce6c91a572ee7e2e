"""What is known of how long bots think: which matches come first, and how many workers a phase is worth."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from arena.worker.jobs import Effort, Played, Task, Trouble

_SLOW = 0.05
"""Seconds a match from which a phase may wait for a bot at its end.

It changes no result, only the order of matches and how many workers play; hundredths or tenths would do.
"""
_STANDS_OUT = 4
"""How many times as long as usual a slow bot thinks whose matches come before all others; two to ten would do."""
AHEAD = 12.0
"""For how many seconds' matches a phase looks ahead to choose which are played next.

They belong to the block then, so whoever comes meanwhile waits for them, and for their other rotations. With fewer,
more bots are started in several workers; with many more, newcomers are not rated within a minute.
"""
_FIRST_AHEAD = 200
"""Matches that are looked at ahead as long as nobody knows how long they take. Dozens or hundreds would do."""
_REFEREE = 0.002
"""Seconds of a core that a match costs the arena, at least."""
_WORTH = 128
"""Matches for which it is always worth starting the bots in one more worker, however quickly they think."""
_START = 1.0
"""About how many seconds of a core it takes to start one bot, while all cores are busy."""


class Paces:
    """About how many seconds of thinking each bot needs for a match, from its matches so far."""

    def __init__(self) -> None:
        self.horizon = AHEAD
        """For how many seconds' matches a phase looks ahead now."""
        self._seconds: dict[str, float] = {}
        """By digest."""
        self._usual: float | None = None
        """Seconds for which all bots of a match together think; None if nothing is known."""
        self._decisions = 0.0
        """Decisions of a match."""
        self._cost: float | None = None
        """Seconds of a processor that a decision costs a bot; None if nothing is known."""

    def note(self, task: Task, result: Played) -> None:
        """Take in how long the bots of a match thought."""
        thought = 0.0
        for entrant, seat in zip(task.lineup, result.seats, strict=False):  # no seats if it was void
            if not seat.times:
                continue  # it never joined, and says nothing of how long it thinks
            took = sum(seat.times)
            thought += took
            self._seconds[entrant.digest] = 0.9 * self._seconds.get(entrant.digest, took) + 0.1 * took
        if thought:
            decisions = sum(len(seat.times) for seat in result.seats)
            self._decisions = decisions if self._usual is None else 0.99 * self._decisions + 0.01 * decisions
            self._usual = thought if self._usual is None else 0.99 * self._usual + 0.01 * thought

    def note_effort(self, effort: Effort) -> None:
        """Take in what some decisions cost a bot in processor time."""
        if effort.decisions:
            cost = effort.cpu / effort.decisions
            self._cost = cost if self._cost is None else 0.9 * self._cost + 0.1 * cost

    def slowest_first(self, tasks: Iterable[Task], trouble: Trouble) -> list[Task]:
        """Sort matches: those of bots that may hold up a phase come first, and the others fill the time meanwhile."""
        return sorted(tasks, key=lambda task: self._holds_up(task, trouble), reverse=True)

    @property
    def are_known(self) -> bool:
        """Whether any match has been played."""
        return self._usual is not None

    def ahead(self, jobs: int, bots: int) -> int:
        """Return how many matches of so many bots so many workers play in about `horizon` seconds, if it is known.

        All bots think at the same time, but the processors do all the work. How much that is, the time by the clock
        does not tell: of many quick bots each waits most of it for a processor.
        """
        if not self._usual:
            return _FIRST_AHEAD
        work = self._usual if self._cost is None else self._cost * self._decisions
        matches = min(bots / self._usual, jobs / (work + _REFEREE))
        return max(_FIRST_AHEAD, int(self.horizon * matches))

    def stands_out(self, task: Task, trouble: Trouble) -> bool:
        """Whether a match takes much longer than others, and may hold up the phase."""
        return self._usual is not None and self._holds_up(task, trouble) > _STANDS_OUT * self._usual

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
