"""Play what a ladder has scheduled, block by block and phase by phase: see `ladder.store.phases`.

Workers finish matches in any order; results are stored as they come and applied to the ratings in the schedule's order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from arena.replay.log_text import packed_log
from arena.tournament.budget import Budget
from arena.tournament.field_watch import FieldWatch
from arena.tournament.match_forms import store_results, task
from arena.tournament.paces import AHEAD
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Task
from arena.worker.progress import ProgressReport
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

PHASE_SECONDS = 30.0
"""About how many seconds a phase of a long leg lasts: starting bots anew costs little, the first groups end soon.

`docs/contest.md` says it.
"""
LONGEST = 40.0
"""Seconds after which a phase of quick bots ends, even if most of it was starts: whoever comes meanwhile waits until
its block is over, and is to be rated within a minute or so. With less, large fields would start bots more often."""
GATHERING = 5.0
"""Seconds that a phase lasts at least, even if bots have come meanwhile: of many at once each would begin a block.

It is a part of the minute in which they are to be rated.
"""
_STARTS = 10
"""How many times as long as its starts a phase lasts at least: most of the time is play. Five to twenty would do."""
_CPU_OF_START = 0.05
"""About how many seconds of a core it takes to start a bot in the sandbox: 0.03 to 0.1, and more for an interpreter."""
SMALL = 1000
"""Matches up to which a leg is one block, however long it lasts: its ratings come soon all the same."""


class BlockPlayer:
    """Plays a ladder phase by phase.

    `run` is the result so far, without second chances and retirements: `FieldWatch` has these.
    """

    def __init__(
        self,
        db: Database,
        ladder: store.Ladder,
        workers: Workers,
        entrant: Callable[[str], Entrant],
        watch: FieldWatch,
        report: ProgressReport,
    ) -> None:
        self.run = Run()
        self._db = db
        self._ladder = ladder
        self._workers = workers
        self._entrant = entrant
        self._watch = watch
        self._report = report
        self._budget = Budget()
        """What is left of the run's budget, if what is played now is bound by it."""
        self._ends: Callable[[], bool] = lambda: False
        """Whether to stop now, also amid a phase."""
        self._total = 0
        self.plan_more: Callable[[], int] = lambda: 0
        """Plans the next groups when what is scheduled is dealt; returns how many, 0 if there are no more."""
        self.beyond: Callable[[], int] = lambda: 0
        """Returns about how many matches are still to be planned."""
        self._thought = 0.0
        """Seconds for which bots have thought in this block."""

    def play_scheduled(self, budget: Budget, *, ends: Callable[[], bool] = lambda: False) -> None:
        """Play every scheduled match, block by block, while there is room in the budget, and until `ends` says so.

        After a block during which bots have come, the rest waits for these. A void match is tried again until it is
        unplayable.
        """
        self._budget, self._ends = budget, ends
        self._count()
        begun, groups = 0.0, 0
        while not self._workers.stopped:
            phase = store.phases.next_phase(self._db, self._ladder)
            if phase is not None and phase.end is not None:
                tasks = map(self._task, self._scheduled(phase))
                self._play(self._workers.paces.slowest_first(tasks, self._workers.trouble))
                continue
            budget.learn(groups, time.monotonic() - begun, self._thought, self._workers.jobs)
            if phase is None or self._watch.has_newcomers:
                return
            room = budget.room(self.run.played, self._ladder.key.seats, len(self._watch.playing))
            if not room:
                return
            begun, self._thought = time.monotonic(), 0.0
            groups = self._open_block(phase, room)

    def play_unplayable(self, ends: Callable[[], bool]) -> None:
        """Try each unplayable match, void too often before, once more, or until `ends` returns True."""
        self._ends = ends
        self._total = store.ladders.counts(self._db, self._ladder).unplayable
        for rotation in range(self._ladder.key.seats):
            matches = store.ladders.scheduled(self._db, self._ladder, store.phases.Phase(rotation), retry=True)
            most = store.records.ATTEMPTS_UNTIL_UNPLAYABLE
            left = {match.id: self._task(match) for match in matches if match.attempts >= most}
            while left and not self._workers.stopped:
                tried = self._play(list(left.values()))
                trouble = self._workers.trouble
                left = {id: task for id, task in left.items() if id not in tried and not trouble.leaves_out(task)}

    def see_retired(self) -> None:
        """Stop playing bots that somebody has retired meanwhile, and rate what waited for their matches."""
        if self._watch.drop_retired():
            store.ratings.apply(self._db, self._ladder)
            self._count()
            self._tell()

    def _open_block(self, phase: store.phases.Phase, room: int) -> int:
        """Play the first phase of a new block; return how many groups the block has, at most `room`.

        It ends where this phase ends: after `PHASE_SECONDS` or so, later where many bots have to be started, sooner if
        somebody waits. The other phases then last about as long. If the run is stopped, it ends behind what was dealt:
        bots may have printed those dice, so they are of no use for a match that is planned anew.
        """
        seats = self._ladder.key.seats
        left = store.phases.matches_left(self._db, self._ladder, phase)
        begun, started = time.monotonic(), self._workers.starts
        end, groups = phase.begin, 0
        paces, time_left = self._workers.paces, self._budget.seconds_left
        time_left = math.inf if time_left is None else time_left
        paces.horizon = min(AHEAD, time_left / seats / 4)

        def more() -> int:
            nonlocal left
            left += (added := self._plan_more())
            return added

        def reached() -> Iterator[store.records.ScheduledMatch]:
            """Yield the matches of the phase, and plan those that are not planned yet."""
            begin = phase.begin
            while True:
                for match in self._scheduled(phase._replace(begin=begin)):
                    begin = match.seq + 1
                    yield match
                if not more():
                    return

        def is_awaited() -> bool:
            """Tell whether somebody waits for the end of the block: newcomers, or who gave the run its time."""
            lasted = time.monotonic() - begun
            return (lasted + paces.horizon) * seats > time_left or (self._watch.has_newcomers and lasted > GATHERING)

        def is_long(number: int) -> bool:
            """Tell whether the phase, with so many groups, has lasted as long as a phase should."""
            starts = (self._workers.starts - started) * _CPU_OF_START / self._workers.jobs
            enough = max(PHASE_SECONDS, min(_STARTS * starts, LONGEST))
            return number * seats >= SMALL and time.monotonic() - begun > enough

        def is_worth_a_block(number: int) -> bool:
            """Tell whether as many groups are left as that, after so many."""
            while left - number <= number / 2:
                if not more():
                    return False
            return True

        def tasks() -> Iterator[Task]:
            nonlocal end, groups
            for number, match in enumerate(islice(reached(), room)):
                if number and (is_awaited() or (is_long(number) and is_worth_a_block(number))):
                    return
                end, groups = match.seq + seats, number + 1
                yield self._task(match)

        self._play(tasks())
        store.phases.close_block(self._db, self._ladder, phase.begin, end)
        return groups

    def _plan_more(self) -> int:
        if added := self.plan_more():
            self._count()
        return added

    def _scheduled(self, phase: store.phases.Phase) -> Iterator[store.records.ScheduledMatch]:
        return store.ladders.scheduled(self._db, self._ladder, phase)

    def _task(self, match: store.records.ScheduledMatch) -> Task:
        return task(self._ladder, match, self._entrant)

    def _count(self) -> None:
        """Update the number of matches that there will be in the end, for progress, but for the budget."""
        self._total = self.run.played + store.ladders.counts(self._db, self._ladder).scheduled + self.beyond()

    def _play(self, tasks: Iterable[Task]) -> set[str]:
        """Play a phase and store its results; return the ids of the matches that have a result, void ones included."""
        tried = set()
        self._tell()
        for results in self._workers.play(tasks):
            if self._ends():
                self._workers.stop()
            if self._watch.is_due:
                self.see_retired()
                self._watch.look_for_newcomers()
            self._watch.keep_chances()
            if results:
                self.run = store_results(self.run, self._db, self._ladder, results)
                self._tell()
            if logs := self._workers.take_logs():
                store.logs.keep(self._db, list(map(packed_log, logs)))
            self._thought += sum(sum(seat.times) for result in results for seat in result.seats)
            tried |= {result.id for result in results}
        return tried

    def _tell(self) -> None:
        self._report(self.run.played, self._budget.total(self.run.played, self._total))
