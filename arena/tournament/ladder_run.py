"""Run a ladder: play what its schedule lacks, store the results and compute the ratings.

A leg is played in blocks, and blocks in phases: see `ladder.store.phases`. Workers finish matches in any order; results
are stored as they come and applied to the ratings in the schedule's order. Only this process stores results.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import replay, roster
from arena.referee.limits import Limits
from arena.referee.match import SeatForfeit, VoidReason
from arena.replay.log_text import packed_log
from arena.tournament import DiskFull
from arena.tournament.budget import Budget
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Played, SeatRecord, Task, Trouble
from arena.worker.progress import ProgressReport
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

ALARM = 0.01
"""Share of matches that the machine's load may affect before people are told to use fewer jobs."""
PHASE_SECONDS = 30.0
"""About how many seconds a phase of a long leg lasts: long enough that starting bots anew costs little, and short
enough that the first groups are soon complete."""
NEWS = 1.0
"""Seconds between two checks whether a bot was retired, at least."""
SMALL = 1000
"""Number of matches up to which a leg is one block, however long it lasts."""


class Health(NamedTuple):
    """How busy the machine was during a run, and how that affected the matches."""

    matches: int = 0
    pressure: float = 0.0
    """Sum over the matches: percentage of the time in which something waited for a processor."""
    relieved: int = 0
    """Matches in which a bot was charged another time than elapsed, mostly less, since it waited for a processor."""
    overloads: int = 0
    """Attempts that were void because the machine was too busy."""

    def merge(self, results: Sequence[Played]) -> Health:
        """Return the health with more matches counted."""
        return Health(
            self.matches + len(results),
            self.pressure + sum(result.conditions.get("pressure") or 0.0 for result in results),
            self.relieved + sum(any(seat.charged for seat in result.seats) for result in results),
            self.overloads + sum(result.is_void_by(VoidReason.OVERLOAD) for result in results),
        )

    @property
    def line(self) -> str:
        """The health in one line for people."""
        busy = self.pressure / max(self.matches, 1)
        said = f"the machine was busy {busy:.0f} % of the time (something waited for a processor)"
        if self.relieved:
            said += f"; bots were not charged for waiting in {self.relieved:,} matches"
        if self.overloads:
            said += f"; too busy to judge {self.overloads:,} attempts"
        many = self.relieved + self.overloads > ALARM * self.matches
        return f"{said}: use fewer --jobs, or a quieter machine" if many else said


class Run(NamedTuple):
    """Result of a run: how many matches and decisions it added, and the last attempt that was void."""

    played: int = 0
    decisions: int = 0
    void: store.records.VoidMatch | None = None
    health: Health = Health()
    chances: tuple[tuple[str, str], ...] = ()
    """Labels of bots that used their second chance, each with what had happened."""
    retired: tuple[str, ...] = ()
    """Labels of bots that were retired during the run."""


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
    field, rounds, budget, retry, since = request
    budget = budget or Budget()
    entrant = roster.starter(db, home, workers.sandbox)
    labels = [store.bots.find(db, name).label for name in field]
    awaited = store.ladders.awaited(db, ladder, retry=retry)
    entrants = [entrant(label) for label in (*awaited, *labels)]  # before anything is played or planned
    player = _Player(db, ladder, workers, entrant, report, time.time() if since is None else since)
    player.know(entrants)
    store.ratings.apply(db, ladder)  # rate what waited for matches that were dropped since
    player.see_retired()
    if retry:
        player.play_unplayable(ends=lambda: budget.is_over)
    if budget.is_limited:
        player.play_scheduled(Budget(), ends=lambda: budget.is_over)
    is_own = not workers.stopped  # what is scheduled from here on was planned, and all that was dealt of it is known
    step = rounds or ladder.pairing.default_rounds(len(labels), ladder.key.seats)
    due, grows = step, rounds is None and budget.is_limited
    while not (workers.stopped or budget.is_spent or budget.is_over):
        player.see_retired()
        field = [label for label in labels if label not in player.run.retired]
        fits = len(field) >= ladder.key.seats
        piece = budget.piece(player.run.played, ladder.key.seats)
        added = store.ladders.plan(db, ladder, field, due, piece) if fits else 0
        if store.ladders.counts(db, ladder).scheduled:
            player.grows = grows or added == piece * ladder.key.seats
            if not player.run.played:
                planned()
            player.play_scheduled(budget, ends=lambda: budget.is_hard and budget.is_over)
        elif grows and fits:
            due += step
        else:
            break
    player.see_retired()
    if budget.is_limited and is_own:
        store.ladders.end_leg(db, ladder)
    return player.run


class _Player:
    """Plays a ladder phase by phase. `run` is the result so far."""

    def __init__(
        self,
        db: Database,
        ladder: store.Ladder,
        workers: Workers,
        entrant: Callable[[str], Entrant],
        report: ProgressReport,
        since: float,
    ) -> None:
        self.run = Run()
        self._db = db
        self._ladder = ladder
        self._workers = workers
        self._entrant = entrant
        self._report = report
        self._budget = Budget()
        """What is left of the run's budget, if what is played now is bound by it."""
        self._ends: Callable[[], bool] = lambda: False
        """Whether to stop now, also amid a phase."""
        self._total = 0
        self.grows = False
        """Whether more may be planned when what is scheduled is played."""
        self._thought = 0.0
        """Seconds for which bots have thought in this block."""
        self._labels: dict[str, set[str]] = {}
        """By digest, the labels of the bots that have it."""
        self._playing: set[str] = set()
        """Labels of all bots that may play."""
        self._retirements = {label: when for label, when in store.retirement.retirements(db).items() if when <= since}
        self._looked = time.monotonic()

    def know(self, entrants: Iterable[Entrant]) -> None:
        """Add bots that may play; those that used their second chance in an earlier run have none left."""
        used, chances = store.chances.by_label(self._db, self._ladder), {}
        for entrant in entrants:
            self._labels.setdefault(entrant.digest, set()).add(entrant.label)
            self._playing.add(entrant.label)
            if entrant.label in used:
                chances[entrant.digest] = used[entrant.label]
        self._workers.learn(Trouble(chances=chances))

    def play_scheduled(self, budget: Budget, *, ends: Callable[[], bool] = lambda: False) -> None:
        """Play every scheduled match, block by block, while there is room in the budget, and until `ends` says so.

        A void match is tried again until it is unplayable.
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
            if phase is None:
                return
            room = budget.room(self.run.played, self._ladder.key.seats, len(self._playing))
            if not room:
                return
            begun, self._thought = time.monotonic(), 0.0
            groups = self._open_block(phase, room)

    def _open_block(self, phase: store.phases.Phase, room: int) -> int:
        """Play the first phase of a new block; return how many groups the block has, at most `room`.

        It ends where this phase ends after `PHASE_SECONDS` or so or, if the run is stopped, behind what was dealt: bots
        may have printed those dice, so they are of no use for a match that is planned anew.
        """
        seats = self._ladder.key.seats
        left = store.phases.matches_left(self._db, self._ladder, phase)
        begun, end, groups = time.monotonic(), phase.begin, 0

        def tasks() -> Iterator[Task]:
            nonlocal end, groups
            for number, match in enumerate(islice(self._scheduled(phase), room)):
                is_long = number * seats >= SMALL and time.monotonic() - begun > PHASE_SECONDS
                if is_long and left - number > number / 2:  # what is left is worth a block of its own
                    return
                end, groups = match.seq + seats, number + 1
                yield self._task(match)

        self._play(tasks())
        store.phases.close_block(self._db, self._ladder, phase.begin, end)
        return groups

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

    def _scheduled(self, phase: store.phases.Phase) -> Iterator[store.records.ScheduledMatch]:
        return store.ladders.scheduled(self._db, self._ladder, phase)

    def _task(self, match: store.records.ScheduledMatch) -> Task:
        return task(self._ladder, match, self._entrant)

    def _count(self) -> None:
        """Update the number of matches that there will be in the end, for progress, but for the budget."""
        self._total = self.run.played + store.ladders.counts(self._db, self._ladder).scheduled
        if self.grows and self.run.played:
            self._total = sys.maxsize

    def _play(self, tasks: Iterable[Task]) -> set[str]:
        """Play a phase and store its results; return the ids of the matches that have a result, void ones included."""
        tried = set()
        self._tell()
        for results in self._workers.play(tasks):
            if self._ends():
                self._workers.stop()
            if time.monotonic() - self._looked > NEWS:
                self.see_retired()
            self._keep_chances()
            if results:
                self.run = _record(self.run, self._db, self._ladder, results)
                self._tell()
            if logs := self._workers.take_logs():
                store.logs.keep(self._db, list(map(packed_log, logs)))
            self._thought += sum(sum(seat.times) for result in results for seat in result.seats)
            tried |= {result.id for result in results}
        return tried

    def _tell(self) -> None:
        self._report(self.run.played, self._budget.total(self.run.played, self._total))

    def see_retired(self) -> None:
        """Stop playing bots that somebody has retired meanwhile; the matches that they were to play are dropped."""
        now = store.retirement.retirements(self._db)
        new = [label for label in now.keys() & self._playing if self._retirements.get(label) != now[label]]
        self._retirements, self._looked = now, time.monotonic()
        if not new:
            return
        store.retirement.drop(self._db, new)  # again: more matches may have been planned since they were retired
        self._workers.learn(Trouble(retired=frozenset(new)))
        self.run = self.run._replace(retired=tuple(sorted({*self.run.retired, *new})))
        store.ratings.apply(self._db, self._ladder)
        self._count()
        self._tell()

    def _keep_chances(self) -> None:
        """Store which bots have used their second chance, before any of their matches is played again."""
        for digest, evidence in self._workers.trouble.chances.items():
            if digest in self._labels:
                for label in sorted(self._labels.pop(digest)):
                    if store.chances.use(self._db, self._ladder, label, evidence):
                        used = (*self.run.chances, (label, str(evidence["detail"])))
                        self.run = self.run._replace(chances=used)


def _record(run: Run, db: Database, ladder: store.Ladder, results: Sequence[Played]) -> Run:
    """Store results and rate what can be rated. Raises DiskFull if matches were not tried for want of disk space."""
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
        seat_outcome(ranks[seat], scores[seat], record, of_seat.get(seat)) for seat, record in enumerate(played.seats)
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
