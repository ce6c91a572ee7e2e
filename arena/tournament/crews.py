"""Which of a phase's matches each worker plays: those whose bots it has started already.

To start a bot costs as much as dozens of its matches. So a worker is dealt the matches among the bots that it has, its
crew, and a crew grows by the bot that brings the most matches nearest to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator
from itertools import islice

from arena.worker.jobs import Task

_NEAR = 16.0
"""How many times as much a match counts that lacks one bot fewer, so that it comes first. Two to hundreds would do;
powers of two add up without rounding."""
_LEAST = 12
"""Bots that a crew has at least, whatever fits into the memory: two of the largest matches. Twice as many would do."""
_FRESH = 16
"""Bots that a crew has which have no result yet before it grows no more: as many as a worker starts in half a second.
With fewer, starts would wait for matches; with many more, crews would grow before it is known how quick bots are."""

FEW = 64
"""Bots of which a worker can keep processes, until it has said how many they are. Dozens or hundreds would do."""


class Crew:
    """The bots that one worker has started in this phase."""

    def __init__(self, most: int = FEW) -> None:
        self.most = most
        """How many bots its worker can keep at once; for a larger field crews change."""
        self.bots: dict[str, None] = {}
        """Digests, in the order in which they came."""
        self._fresh: set[str] = set()
        """Bots without a result yet."""
        self.playable: deque[str] = deque()
        """Ids of matches for which no bot is lacking; some may have been dealt to others meanwhile."""
        self.lacking: dict[str, set[str]] = {}
        """By id of a match of which some bots are here, those that are not."""
        self.worth: defaultdict[str, float] = defaultdict(float)
        """How much nearer each other bot would bring the matches that are left."""

    @property
    def is_new(self) -> bool:
        """Whether so few of its bots have played that it is not known how the others do."""
        return len(self._fresh) >= _FRESH

    def add(self, bot: str) -> None:
        """Take in a bot."""
        self.bots[bot] = None
        self._fresh.add(bot)

    def drop(self, bot: str) -> None:
        """Let a bot go."""
        del self.bots[bot]
        self._fresh.discard(bot)

    def has_played(self, task: Task) -> None:
        """Note that a match has a result, so that its bots have started."""
        self._fresh.difference_update(bots_of(task))

    def has_nothing(self) -> None:
        """Note that the worker holds no match, whatever became of those it was dealt."""
        self._fresh.clear()

    def note(self, match: str, lacking: set[str]) -> None:
        """Note which bots a match lacks, none or not all."""
        if not lacking:
            self.playable.append(match)
            return
        self.lacking[match] = lacking
        for bot in lacking:
            self.worth[bot] += _worth(lacking)

    def forget(self, match: str) -> None:
        """Forget a match that was dealt, or that lacks fewer bots now."""
        lacking = self.lacking.pop(match, ())
        for bot in lacking:
            self.worth[bot] -= _worth(lacking)
            if not self.worth[bot]:
                del self.worth[bot]


class Crews:
    """The matches of a phase that may be dealt next, and the crews that they are chosen for."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._of_bot: dict[str, dict[str, None]] = {}
        """By bot, the ids of its matches."""
        self._crews: list[Crew] = []
        self._homes: Counter[str] = Counter()
        """In how many crews each bot is."""

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    @property
    def bots(self) -> int:
        """Number of bots in the matches that are left."""
        return len(self._of_bot)

    def join(self, crew: Crew) -> None:
        """Choose matches for this crew, too."""
        self._crews.append(crew)

    def leave(self, crew: Crew) -> None:
        """Forget a crew whose worker has ended."""
        if crew in self._crews:
            self._crews.remove(crew)
            self._homes.subtract(list(crew.bots))

    def add(self, task: Task) -> None:
        """Add a match."""
        self._tasks[task.id] = task
        for bot in bots_of(task):
            self._of_bot.setdefault(bot, {})[task.id] = None
        for crew in self._crews:
            self._note(crew, task.id)

    def take(self, crew: Crew, *, may_grow: bool) -> Task | None:
        """Take out the next match for a crew, which grows if it must; None if it may not, or no match is left."""
        while self._tasks:
            while crew.playable:
                task = self._tasks.get(crew.playable.popleft())
                if task is not None and bots_of(task) <= crew.bots.keys():
                    self.remove(task)
                    return task
            if not may_grow:
                return None
            self._grow(crew)
        return None

    def remove(self, task: Task) -> None:
        """Take out a match."""
        del self._tasks[task.id]
        for bot in bots_of(task):
            del self._of_bot[bot][task.id]
            if not self._of_bot[bot]:
                del self._of_bot[bot]
        for crew in self._crews:
            crew.forget(task.id)

    def _grow(self, crew: Crew) -> None:
        """Add the bot that is worth most, rather one that is in no other crew; the first is one with most matches."""
        if crew.worth:
            bot = max(crew.worth, key=lambda bot: crew.worth[bot] / (1 + self._homes[bot]))
        else:
            left = self._of_bot.keys() - crew.bots.keys()
            bot = max(left, key=lambda bot: (-self._homes[bot], len(self._of_bot[bot]), bot))
        self.enlist(crew, bot)

    def enlist(self, crew: Crew, bot: str) -> None:
        """Add a bot to a crew; if it is full, the bot with the fewest matches left makes room."""
        if bot in crew.bots:
            return
        if len(crew.bots) >= max(crew.most, _LEAST):
            settled = islice(crew.bots, len(crew.bots) - _LEAST // 2)  # the last may be here for the next match
            self._let_go(crew, min(settled, key=lambda bot: len(self._of_bot.get(bot, ()))))
        crew.add(bot)
        self._homes[bot] += 1
        for match in self._of_bot.get(bot, ()):
            self._note(crew, match)

    def _let_go(self, crew: Crew, bot: str) -> None:
        crew.drop(bot)
        self._homes[bot] -= 1
        for match in self._of_bot.get(bot, ()):
            self._note(crew, match)

    def _note(self, crew: Crew, match: str) -> None:
        """Note anew what a match lacks in a crew, if it has any of its bots."""
        crew.forget(match)
        bots = bots_of(self._tasks[match])
        if len(lacking := bots - crew.bots.keys()) < len(bots):
            crew.note(match, lacking)


def bots_of(task: Task) -> set[str]:
    """Return the digests of a match's bots."""
    return {entrant.digest for entrant in task.lineup}


def _worth(lacking: Collection[str]) -> float:
    return _NEAR ** -len(lacking)
