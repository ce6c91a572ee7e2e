"""Run a ladder: plan what its schedule lacks, and play it. Only the process that does this stores results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import roster
from arena.tournament.block_player import SMALL, BlockPlayer
from arena.tournament.budget import Budget
from arena.tournament.field_watch import FieldWatch
from arena.tournament.forecast import NOTHING
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from arena.worker.progress import ProgressReport
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from ladder.store.legs import Leg


class LadderRequest(NamedTuple):
    """What a run is asked to play."""

    field: Sequence[str] | Callable[[], Sequence[str]]
    """The bots: labels, or names for their newest versions. A function says who they are whenever it is called."""
    rounds: int | None = None
    """None: the default number or, with a budget, as many as it allows."""
    budget: Budget | None = None
    retry: bool = False
    """Whether unplayable matches are tried once more."""
    since: float | None = None
    """When the field was chosen, in seconds since 1970; None: now. Bots that are retired later leave it."""

    def choose(self) -> Sequence[str]:
        """Return the field as it is to be now."""
        return self.field() if callable(self.field) else self.field


def run_ladder(
    db: Database,
    home: Path,
    ladder: store.Ladder,
    request: LadderRequest,
    *,
    workers: Workers,
    report: ProgressReport,
    planned: Callable[[store.records.Lacking], object] = lambda _lacking: None,
) -> Run:
    """Finish an interrupted leg, then play what the rounds of the field still lack.

    What is scheduled already is played before anything is planned, until the time of the budget is over; groups that
    the budget leaves unplayed are taken out of the leg, and a later run finds them missing again. Legs are planned in
    pieces, as they are reached. `planned` is called before the first match is played, with what is not planned yet.

    Where the field is a function, bots that come meanwhile play as soon as the block that is played then is over.
    """
    budget = request.budget or Budget()
    bots = roster.Starter(db, home, workers.sandbox)
    labels = [store.bots.find(db, name).label for name in request.choose()]
    awaited = store.ladders.awaited(db, ladder, retry=request.retry)
    entrants = [bots.expected(label) for label in (*awaited, *labels)]  # before anything is played or planned
    since = time.time() if request.since is None else request.since
    watch = FieldWatch(db, ladder, workers, bots.expected, choose=request.choose, since=since)
    player = BlockPlayer(db, ladder, workers, bots, watch, report)
    watch.know(entrants)
    store.ratings.apply(db, ladder)  # rate what waited for matches that were dropped since
    player.see_retired()
    if request.retry:
        player.play_unplayable(ends=lambda: budget.is_over)
    if budget.is_limited:
        player.play_scheduled(Budget(), ends=lambda: budget.is_over)
    is_own = not workers.stopped  # what is scheduled from here on was planned, and all that was dealt of it is known
    plan = _Plan(db, ladder, request, budget, watch, len(labels))
    while not (workers.stopped or budget.is_spent or budget.is_over):
        player.see_retired()
        watch.choose_field()
        if plan.extend(player.run.played):
            player.plan_more, player.beyond = plan.more, lambda: plan.beyond(player.run.played)
            if not player.run.played:
                planned(plan.lacking)
            player.play_scheduled(budget, ends=lambda: budget.is_hard and budget.is_over)
        elif not plan.add_rounds(player.run.played):
            break
    player.see_retired()
    if budget.is_limited and is_own:
        store.ladders.end_leg(db, ladder)
    return player.run._replace(
        chances=tuple(watch.chances),
        retired=tuple(sorted(watch.retired)),
        joined=tuple(sorted(watch.playing - {*awaited, *labels})),
        left_out=tuple(sorted(watch.left_out.items())),
        beyond=0 if budget.is_limited else plan.beyond(0),
    )


class _Plan:
    """What the rounds of a field still lack, planned as it is reached; if only the budget ends a run, it grows."""

    def __init__(
        self,
        db: Database,
        ladder: store.Ladder,
        request: LadderRequest,
        budget: Budget,
        watch: FieldWatch,
        bots: int,
    ) -> None:
        """Plan for a field that has so many bots when the run begins."""
        self._db = db
        self._ladder = ladder
        self._budget = budget
        self._watch = watch
        self._step = request.rounds or ladder.pairing.default_rounds(bots, ladder.key.seats)
        self._rounds = self._step
        """How many rounds the field is to have played in the end, as far as is known."""
        self._grows = request.rounds is None and budget.is_limited
        """Whether rounds are added."""
        self._fits = True
        """Whether enough bots are left to play."""
        self._so_far = -1
        """How many matches were played when rounds were added last."""
        self._leg: Leg | None = None
        self.lacking = NOTHING
        """About what the leg lacked after its first groups."""
        self._beyond = 0
        """About how many groups of the leg are still to be planned."""

    def extend(self, so_far: int) -> bool:
        """Begin the next leg for the field as it is, after so many matches; return if anything is scheduled."""
        field = self._watch.field
        self._fits = len(field) >= self._ladder.key.seats
        if self._fits:
            most = self._budget.groups_left(so_far, self._ladder.key.seats)
            first = self._leg_of_newcomers(field, most)
            self._leg = first or store.ladders.next_leg(self._db, self._ladder, field, self._rounds, most)
            self.more()
            is_whole = self._leg.is_whole and first is None
            self.lacking = NOTHING if is_whole else store.ladders.lacking(self._db, self._ladder, field, self._rounds)
            self._beyond = self.lacking.groups
        return store.ladders.counts(self._db, self._ladder).scheduled > 0

    def _leg_of_newcomers(self, field: Sequence[str], most: int) -> Leg | None:
        """Return a leg with the first matches of new bots, if they would have to wait long for what all others lack.

        What was planned but not begun makes room for it.
        """
        if not self._ladder.pairing.PLANS_AHEAD or not (new := store.ladders.newcomers(self._db, self._ladder, field)):
            return None
        lacking = store.ladders.lacking(self._db, self._ladder, field, self._rounds)
        if lacking.groups * self._ladder.key.seats <= SMALL:
            return None
        leg = store.ladders.leg_of_newcomers(self._db, self._ladder, field, new, most)
        if leg is not None:
            store.ladders.end_leg(self._db, self._ladder)
        return leg

    def more(self) -> int:
        """Plan the next groups of the leg; return how many, 0 if it has no more."""
        if self._leg is None or not self._fits:
            return 0
        added = self._leg.more(self._watch.retired)
        self._beyond = 0 if self._leg.is_whole else max(0, self._beyond - added)
        return added

    def beyond(self, so_far: int) -> int:
        """Return about how many matches are still to be planned, where a run has played so many."""
        return sys.maxsize if self._grows and so_far else self._beyond * self._ladder.key.seats

    def add_rounds(self, so_far: int) -> bool:
        """Add rounds if the run may have more, enough bots are left, and those before gave results; return whether."""
        if not (self._grows and self._fits) or so_far == self._so_far:
            return False
        self._so_far = so_far
        self._rounds += self._step
        return True
