"""The matches of a phase that are still to be dealt to workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from arena.worker.jobs import Task, Trouble


def still_to_play(tasks: Iterable[Task], trouble: Trouble) -> Iterator[Task]:
    """Return the matches that no retired bot is in."""
    return (task for task in tasks if not trouble.leaves_out(task))


class Stock:
    """Matches in order and, apart from them, hands (batches) of suspects; a worker plays nothing beside a hand.

    Matches of bots that are retired meanwhile are left out.
    """

    def __init__(self, tasks: Iterable[Task], hands: Iterable[list[Task]] = ()) -> None:
        self._tasks = iter(tasks)
        self._spared: deque[Task] = deque()
        self._hands = deque(hands)

    @property
    def has_hands(self) -> bool:
        """Whether there are suspects left."""
        return bool(self._hands)

    def take(self, count: int, trouble: Trouble) -> list[Task]:
        """Return up to `count` matches, in order, and last those that workers gave back."""
        tasks = chain(self._tasks, self._take_spared())
        return list(islice(still_to_play(tasks, trouble), count))

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
        self._spared.extendleft(self.take(1, trouble))
        return not self._spared

    def give_back(self, tasks: Iterable[Task]) -> None:
        """Take back matches that were dealt but did not begin, for another worker."""
        self._spared.extend(tasks)

    def _take_spared(self) -> Iterator[Task]:
        while self._spared:
            yield self._spared.popleft()
