"""From a ladder's schedule to its ratings.

Workers finish in any order; results are stored as they come and folded into ratings in the schedule's order. Only
this side writes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from arena import replay, roster
from arena.clock import Limits
from arena.match import SeatForfeit, Void
from arena.seated import Entrant
from arena.task import Played, SeatRecord, Task
from arena.tournament import DiskFull
from arena.tournament.pool import Workers
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

Report: TypeAlias = Callable[[int, int], None]
"""Told how many matches are done, and of how many."""

ALARM = 0.01
"""Share of matches that the load of the machine may touch before it is said loudly."""
MAX_REPEATS = 8
"""More than a match is ever played again inside a worker: each seat's version falls back to one at a time once."""


class Health(NamedTuple):
    """How the machine bore a run."""

    matches: int = 0
    pressure: float = 0.0
    """Summed over the matches: per cent of the time in which something waited for a processor."""
    relieved: int = 0
    """Matches in which a bot was not charged for time that it waited."""
    overloads: int = 0
    """Attempts that were void since the machine was too busy."""

    def and_also(self, results: Sequence[Played]) -> Health:
        """With more matches."""
        return Health(
            self.matches + len(results),
            self.pressure + sum(result.conditions.get("pressure") or 0.0 for result in results),
            self.relieved + sum(any(seat.charged for seat in result.seats) for result in results),
            self.overloads + sum((result.void or "").startswith(Void.OVERLOAD) for result in results),
        )

    @property
    def line(self) -> str:
        """For people."""
        busy = self.pressure / max(self.matches, 1)
        said = f"the machine was busy {busy:.0f} % of the time (something had to wait for a processor)"
        if self.relieved:
            said += f"; bots were not charged for waiting in {self.relieved:,} matches"
        if self.overloads:
            said += f"; too busy to judge {self.overloads:,} attempts"
        many = self.relieved + self.overloads > ALARM * self.matches
        return f"{said}: use fewer --jobs, or a quieter machine" if many else said


class Run(NamedTuple):
    """What a run came to: how many matches count by it, and the attempt that was void last."""

    played: int = 0
    decisions: int = 0
    void: store.VoidMatch | None = None
    health: Health = Health()


def run_ladder(
    db: Database,
    home: Path,
    ladder: store.Ladder,
    field: Sequence[str],
    rounds: int,
    *,
    workers: Workers,
    report: Report,
    retry: bool = False,
) -> Run:
    """Finish an interrupted leg, then play what the rounds of the field still lack."""
    entrant = roster.starter(db, home, workers.sandbox)
    for label in (*store.awaited(db, ladder, retry=retry), *field):  # before anything is played or planned
        entrant(label)
    run = _play(Run(), db, ladder, workers, entrant, report, retry=retry)
    if not workers.stopped and store.plan(db, ladder, field, rounds):
        run = _play(run, db, ladder, workers, entrant, report)
    return run


def _play(
    run: Run,
    db: Database,
    ladder: store.Ladder,
    workers: Workers,
    entrant: Callable[[str], Entrant],
    report: Report,
    *,
    retry: bool = False,
) -> Run:
    """Play every match that is scheduled. A void one comes again until it is unplayable."""
    while not workers.stopped and (left := _left(db, ladder, retry)):
        total = run.played + left
        report(run.played, total)
        tasks = (task(ladder, match, entrant) for match in store.scheduled(db, ladder, retry=retry))
        for results in workers.play(tasks):
            run = _record(run, db, ladder, results)
            report(run.played, total)
        retry = False
    return run


def _left(db: Database, ladder: store.Ladder, retry: bool) -> int:
    counts = store.counts(db, ladder)
    return counts.scheduled + (counts.unplayable if retry else 0)


def _record(run: Run, db: Database, ladder: store.Ladder, results: Sequence[Played]) -> Run:
    """Store results and rate what can be rated. Matches for which the disk had no room were not tried: DiskFull."""
    full = {result.id: result.void for result in results if (result.void or "").startswith(Void.DISK)}
    values = [finished(result) for result in results if result.id not in full]
    played = store.record(db, ladder, values)
    store.fold(db, ladder)
    for void in full.values():
        raise DiskFull(f"{void}: make room in {tempfile.gettempdir()} and run the command again")
    voids = [value for value in values if isinstance(value, store.VoidMatch)]
    decisions = sum(len(result.choices) for result in results)
    return Run(
        run.played + played, run.decisions + decisions, voids[-1] if voids else run.void, run.health.and_also(results)
    )


def task(ladder: store.Ladder, match: store.ScheduledMatch, entrant: Callable[[str], Entrant]) -> Task:
    """A scheduled match as a worker gets it."""
    seats = len(match.line_up)
    return Task(
        match.id,
        ladder.key.game,
        ladder.key.options,
        match.seed,
        tuple(entrant(label) for label in match.line_up),
        (match.rotation,) * seats,
        Limits(**ladder.key.limits),
        match.attempts * MAX_REPEATS,
    )


def finished(played: Played) -> store.FinishedMatch | store.VoidMatch:
    """A result as the store takes it."""
    if played.outcome is None:
        return store.VoidMatch(played.id, played.void or "")
    ranks, scores, forfeits = played.outcome
    of_seat = {forfeit.seat: forfeit for forfeit in forfeits}
    seats = tuple(
        seat_outcome(ranks[seat], scores[seat], record, of_seat.get(seat)) for seat, record in enumerate(played.seats)
    )
    return store.FinishedMatch(played.id, seats, replay.plain(played.choices), replay.pack(played))


def seat_outcome(rank: int, score: int, record: SeatRecord, forfeit: SeatForfeit | None) -> store.SeatOutcome:
    """How a match ended for one seat."""
    reason = None if forfeit is None else forfeit.reason.value
    evidence = None if forfeit is None else {"detail": forfeit.detail, **(record.evidence or {})}
    times = record.times
    return store.SeatOutcome(rank, score, reason, evidence, len(times), sum(times), max(times, default=0.0))
