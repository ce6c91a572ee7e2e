"""Matches from the store to workers, as tasks, and from workers to the store, as results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from arena import replay
from arena.referee.limits import Limits
from arena.referee.match import SeatForfeit, VoidReason
from arena.tournament import DiskFull
from arena.tournament.run_result import Run
from arena.worker.jobs import Entrant, Played, SeatRecord, Task
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database


def task(ladder: store.Ladder, match: store.records.ScheduledMatch, entrant: Callable[[str], Entrant]) -> Task:
    """Return a scheduled match as the task that a worker gets."""
    return Task(
        match.id,
        ladder.key.game,
        ladder.key.options,
        match.seed,
        tuple(entrant(label) for label in match.line_up),
        Limits(**ladder.key.limits),
    )


def finished(played: Played) -> store.records.FinishedMatch | store.records.VoidMatch:
    """Return a result in the form in which the store records it."""
    if played.outcome is None:
        return store.records.VoidMatch(played.id, str(played.void))
    ranks, scores, forfeits = played.outcome
    of_seat = {forfeit.seat: forfeit for forfeit in forfeits}
    seats = tuple(
        seat_outcome(ranks[seat], scores[seat], told, of_seat.get(seat)) for seat, told in enumerate(played.seats)
    )
    record = replay.recorded(played)
    return store.records.FinishedMatch(
        played.id, seats, replay.plain(played.choices), replay.pack(record), times_ms=record.times_ms
    )


def seat_outcome(rank: int, score: int, record: SeatRecord, forfeit: SeatForfeit | None) -> store.records.SeatOutcome:
    """Return how a match ended for one seat, in the form in which the store records it."""
    reason = None if forfeit is None else forfeit.reason.value
    evidence = None if forfeit is None else {"detail": forfeit.detail, **(record.evidence or {})}
    times = record.times
    return store.records.SeatOutcome(rank, score, reason, evidence, len(times), sum(times), max(times, default=0.0))


def store_results(run: Run, db: Database, ladder: store.Ladder, results: Sequence[Played]) -> Run:
    """Store results, rate what can be rated, and add it to the run.

    Raises DiskFull if matches were not tried for want of disk space.
    """
    full = {result.id: result.void for result in results if result.is_void_by(VoidReason.DISK)}
    values = [finished(result) for result in results if result.id not in full]
    played = store.matches.record(db, ladder, values)
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder, least=store.sums.GATHERED)
    for void in full.values():
        raise DiskFull(f"{void}: make room in {tempfile.gettempdir()} and run the command again")
    voids = [value for value in values if isinstance(value, store.records.VoidMatch)]
    decisions = sum(len(result.choices) for result in results)
    return run._replace(
        played=run.played + played,
        decisions=run.decisions + decisions,
        void=voids[-1] if voids else run.void,
        health=run.health.merge(results),
    )
