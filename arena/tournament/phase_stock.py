"""The matches of a phase that are still to be dealt to workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from arena.tournament.crews import Crew, Crews, bots_of
from arena.worker.jobs import Task, Trouble

_AHEAD = 40
"""Matches for each bot among which those dealt next are chosen: with more, workers share fewer bots, but none knows
sooner whom it will play with. From twenty to a hundred would do."""
_MOST_AHEAD = 20_000
"""Matches that are looked at together at most: a second's work, and some megabytes."""


def still_to_play(tasks: Iterable[Task], trouble: Trouble) -> Iterator[Task]:
    """Return the matches that no retired bot is in."""
    return (task for task in tasks if not trouble.leaves_out(task))


class Stock:
    """Matches in order and, apart from them, hands (batches) of suspects; a worker plays nothing beside a hand.

    Matches of bots that are retired meanwhile are left out. Of those in order, the next ones are chosen so that workers
    start few bots; those that hold up the phase (`is_urgent`) are dealt as soon as they come.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        hands: Iterable[list[Task]] = (),
        *,
        is_urgent: Callable[[Task], bool] = lambda _: False,
    ) -> None:
        self._tasks = iter(tasks)
        self._hands = deque(hands)
        self._is_urgent = is_urgent
        self._urgent: deque[Task] = deque()
        self._crews = Crews()
        self.join = self._crews.join
        """Deal to the worker of this crew."""
        self.leave = self._crews.leave
        """Deal to the worker of this crew no more."""

    @property
    def bots(self) -> int:
        """Number of bots in the matches that are looked at."""
        return self._crews.bots

    @property
    def has_hands(self) -> bool:
        """Whether there are suspects left."""
        return bool(self._hands)

    def take(self, count: int, trouble: Trouble, crew: Crew, *, ahead: int = 1, may_grow: bool = True) -> list[Task]:
        """Return up to `count` matches for the worker of a crew: fewer if it is to start no more bots now.

        They are chosen from the next `ahead` or so, if those are not too many for their bots.
        """
        taken: list[Task] = []
        while len(taken) < count:
            self._look_ahead(max(ahead, count), trouble)
            if self._urgent:
                task = self._urgent.popleft()
                for bot in bots_of(task):
                    self._crews.enlist(crew, bot)
            elif (found := self._crews.take(crew, may_grow=may_grow)) is not None:
                task = found
            else:
                break
            if not trouble.leaves_out(task):
                taken.append(task)
        return taken

    def _look_ahead(self, ahead: int, trouble: Trouble) -> None:
        """Look at more matches once half of those are dealt that were looked at."""
        if self._urgent or len(self._crews) > min(ahead, self._limit) / 2:
            return
        for task in still_to_play(self._tasks, trouble):
            if self._is_urgent(task):
                self._urgent.append(task)
                return
            self._crews.add(task)
            if len(self._crews) >= min(ahead, self._limit):
                return

    @property
    def _limit(self) -> int:
        return min(_MOST_AHEAD, max(1, _AHEAD * self._crews.bots))

    def take_hand(self, trouble: Trouble) -> list[Task]:
        """Return the next hand of suspects; an empty one if there is none."""
        while self._hands:
            if hand := list(still_to_play(self._hands.popleft(), trouble)):
                return hand
        return []

    def is_empty(self, trouble: Trouble) -> bool:
        """Whether nothing is left to be dealt."""
        if self._hands:
            return False
        while self._urgent and trouble.leaves_out(self._urgent[0]):
            self._urgent.popleft()
        self._look_ahead(1, trouble)
        while (task := next(iter(self._crews), None)) is not None and trouble.leaves_out(task):
            self._crews.remove(task)
            self._look_ahead(1, trouble)
        return task is None and not self._urgent

    def give_back(self, tasks: Iterable[Task]) -> None:
        """Take back matches that were dealt but did not begin, for another worker."""
        for task in tasks:
            self._crews.add(task)
