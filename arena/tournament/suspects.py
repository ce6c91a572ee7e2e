"""Matches that may be why workers died or hosts were lost: which of them is to blame is found by playing them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from arena.referee.match import Void, VoidReason
from arena.tournament import WorkersDied
from arena.tournament.paces import Paces
from arena.tournament.phase_stock import Stock, still_to_play
from arena.worker.jobs import Played, Task, Trouble

LOSSES = 3
"""How often hosts may be lost while they hold a match, before it is played apart: once or twice is bad luck."""
ALONE = 2
"""How often hosts may then be lost while they play it, before it is void: the first may be bad luck, again."""
DEATHS = 8
"""Matches that may each kill a worker, with no result in between: a few are a bot's doing, more are the machine's."""


class Suspects:
    """Matches held by workers that died or by hosts that were lost, in hands (batches) for the next phase.

    A hand of which a worker dies is halved, until a match that kills a worker alone is void.
    """

    def __init__(self) -> None:
        self._hands: list[list[Task]] = []
        self._killers: set[str] = set()
        """Matches, by id, that each killed a worker alone since the last result."""
        self._losses = Counter[str]()
        """How often hosts were lost while they held a match, by its id, since it last had a result."""

    def stock(self, tasks: Iterable[Task], trouble: Trouble, paces: Paces) -> Stock:
        """Return the matches of a phase to be dealt, the suspects among them apart from the others."""

        def is_urgent(task: Task) -> bool:
            return paces.stands_out(task, trouble)

        hands, self._hands = [list(still_to_play(hand, trouble)) for hand in self._hands], []
        if not any(hands):
            return Stock(tasks, is_urgent=is_urgent)
        of_id = {task.id: task for task in tasks}
        apart = [[of_id.pop(task.id) for task in hand if task.id in of_id] for hand in hands]
        return Stock(of_id.values(), filter(None, apart), is_urgent=is_urgent)

    def note_results(self, results: Collection[Played]) -> None:
        """Hold no earlier losses against matches that have results: these also say that workers can play."""
        for result in results:
            self._losses.pop(result.id, None)
        if results:
            self._killers.clear()

    def note_death(self, held: list[Task], how: str) -> list[Played]:
        """Suspect what a worker held that died; if that is one match, it died of it: return it, void.

        Raises WorkersDied if too many did.
        """
        if len(held) != 1:
            middle = len(held) // 2
            self._hands += [hand for hand in (held[:middle], held[middle:]) if hand]
            return []
        self._killers.add(held[0].id)
        if len(self._killers) > DEATHS:
            raise WorkersDied(
                f"worker processes died, each of another match, {len(self._killers)} times in a row,"
                " perhaps for want of memory: try a smaller -j"
            )
        return [_void(held[0], f"the worker process {how}, and it played nothing else")]

    def note_loss(self, held: Sequence[Task], stock: Stock, *, were_apart: bool) -> list[Played]:
        """Give back to the stock what a worker held whose host is lost; what was played apart stays apart.

        A match that is held again and again where a host is lost may be why: it is played alone and, if hosts are lost
        all the same, returned as void.
        """
        self._losses.update(task.id for task in held)
        if were_apart and len(held) == 1 and self._losses[held[0].id] >= LOSSES + ALONE:
            losses = self._losses.pop(held[0].id)
            return [_void(held[0], f"hosts were lost {losses} times while they held it, {ALONE} times it alone")]
        self._hands += [[task] for task in held if self._losses[task.id] >= LOSSES]
        seldom = [task for task in held if self._losses[task.id] < LOSSES]
        if were_apart and seldom:
            self._hands.append(seldom)
        else:
            stock.give_back(seldom)
        return []


def _void(task: Task, why: str) -> Played:
    return Played(task.id, None, Void(VoidReason.INTERRUPTED, why))
