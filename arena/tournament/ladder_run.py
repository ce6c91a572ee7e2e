"""Run a ladder: plan what its schedule lacks, and play it. Only the process that does this stores results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import roster
from arena.tournament.block_player import BlockPlayer
from arena.tournament.budget import Budget
from arena.tournament.field_watch import FieldWatch
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from arena.worker.progress import ProgressReport
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database


class LadderRequest(NamedTuple):
    """What a run is asked to play."""

    field: Sequence[str]
    """The bots: labels, or names for their newest versions."""
    rounds: int | None = None
    """None: the default number or, with a budget, as many as it allows."""
    budget: Budget | None = None
    retry: bool = False
    """Whether unplayable matches are tried once more."""
    since: float | None = None
    """When the field was chosen, in seconds since 1970; None: now. Bots that are retired later leave it."""


def run_ladder(
    db: Database,
    home: Path,
    ladder: store.Ladder,
    request: LadderRequest,
    *,
    workers: Workers,
    report: ProgressReport,
    planned: Callable[[], object] = lambda: None,
) -> Run:
    """Finish an interrupted leg, then play what the rounds of the field still lack.

    What is scheduled already is played before anything is planned, until the time of the budget is over; groups that
    the budget leaves unplayed are taken out of the leg, and a later run finds them missing again. With a budget, legs
    are planned in pieces, so that little more is planned than is played. `planned` is called before the first match is
    played.
    """
    budget = request.budget or Budget()
    entrant = roster.starter(db, home, workers.sandbox)
    labels = [store.bots.find(db, name).label for name in request.field]
    awaited = store.ladders.awaited(db, ladder, retry=request.retry)
    entrants = [entrant(label) for label in (*awaited, *labels)]  # before anything is played or planned
    watch = FieldWatch(db, ladder, workers, time.time() if request.since is None else request.since)
    player = BlockPlayer(db, ladder, workers, entrant, watch, report)
    watch.know(entrants)
    store.ratings.apply(db, ladder)  # rate what waited for matches that were dropped since
    player.see_retired()
    if request.retry:
        player.play_unplayable(ends=lambda: budget.is_over)
    if budget.is_limited:
        player.play_scheduled(Budget(), ends=lambda: budget.is_over)
    is_own = not workers.stopped  # what is scheduled from here on was planned, and all that was dealt of it is known
    plan = _Plan(db, ladder, request, budget)
    while not (workers.stopped or budget.is_spent or budget.is_over):
        player.see_retired()
        if plan.extend([label for label in labels if label not in watch.retired], player.run.played):
            player.has_more = plan.has_more
            if not player.run.played:
                planned()
            player.play_scheduled(budget, ends=lambda: budget.is_hard and budget.is_over)
        elif not plan.add_rounds():
            break
    player.see_retired()
    if budget.is_limited and is_own:
        store.ladders.end_leg(db, ladder)
    return player.run._replace(chances=tuple(watch.chances), retired=tuple(sorted(watch.retired)))


class _Plan:
    """What the rounds of a field still lack, planned in pieces; if only the budget ends a run, rounds are added."""

    def __init__(self, db: Database, ladder: store.Ladder, request: LadderRequest, budget: Budget) -> None:
        self._db = db
        self._ladder = ladder
        self._budget = budget
        self._step = request.rounds or ladder.pairing.default_rounds(len(request.field), ladder.key.seats)
        self._rounds = self._step
        """How many rounds the field is to have played in the end, as far as is known."""
        self._grows = request.rounds is None and budget.is_limited
        """Whether rounds are added."""
        self._fits = True
        """Whether enough bots are left to play."""
        self.has_more = True
        """Whether there may be more to plan."""

    def extend(self, field: Sequence[str], so_far: int) -> bool:
        """Plan the next piece for who is left of the field, after so many matches; return if anything is scheduled."""
        seats = self._ladder.key.seats
        piece = self._budget.piece(so_far, seats)
        self._fits = len(field) >= seats
        added = store.ladders.plan(self._db, self._ladder, field, self._rounds, piece) if self._fits else 0
        self.has_more = self._grows or added == piece * seats
        return store.ladders.counts(self._db, self._ladder).scheduled > 0

    def add_rounds(self) -> bool:
        """Add rounds if the run may have more, and enough bots are left; return whether."""
        if not (self._grows and self._fits):
            return False
        self._rounds += self._step
        return True
