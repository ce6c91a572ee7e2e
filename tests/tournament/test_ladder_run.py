"""A run plays the scheduled matches and stores their results. The workers here play nothing: they invent results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pytest
from sqlite_utils import Database

from arena.referee.match import Forfeit, MatchOutcome, SeatForfeit, Void, VoidReason
from arena.sandbox import UNCONFINED, Sandbox
from arena.tournament import DiskFull, block_player, field_watch
from arena.tournament.budget import Budget
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.match_forms import finished
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Played, SeatRecord, Task, Trouble
from arena.worker.local_host import LocalHost
from ladder import store


class FakeWorkers(Workers):
    """Workers that only return results: the first `voids` attempts at a match are void, then seat 0 wins it."""

    def __init__(self, voids: int, why: VoidReason = VoidReason.OVERLOAD, *, sandbox: Sandbox = UNCONFINED) -> None:
        super().__init__(LocalHost(1, sandbox=sandbox))
        self.phases: list[list[Task]] = []
        self._voids = voids
        self._tries = Counter[str]()
        self._why = why

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        self.phases.append([])
        for task in tasks:
            self.phases[-1].append(task)
            self._tries[task.id] += 1
            seats = (SeatRecord((0.5,)), SeatRecord((0.25,)))
            won = Played(task.id, MatchOutcome((0, 1), (7, 3)), None, ((0, 1), (1, 2)), seats)
            void = Played(task.id, None, Void(self._why, f"try {self._tries[task.id]}"))
            yield [won if self._tries[task.id] > self._voids else void]


class InOneGo(FakeWorkers):
    """Workers that return all results of a phase together, as storing them one by one takes long."""

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        yield list(chain.from_iterable(super().play(tasks)))


def run(
    db: Database,
    ladder: store.Ladder,
    workers: Workers,
    *,
    rounds: int | None = 2,
    retry: bool = False,
    budget: Budget | None = None,
) -> Run:
    """Run the ladder; progress never is beyond its end, and ends there if nothing is left to play."""
    reports: list[tuple[int, int]] = []
    home = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent

    def report(done: int, total: int) -> None:
        reports.append((done, total))

    with workers:
        ran = run_ladder(
            db,
            home,
            ladder,
            LadderRequest(["ann", "bob"], rounds, retry=retry, budget=budget),
            workers=workers,
            report=report,
        )
    assert all(done <= total for done, total in reports)
    if ran.retired and budget is None:
        assert reports[-1] == (ran.played, ran.played)
    return ran


def test_every_match_is_rated_once(db: Database, ladder: store.Ladder) -> None:
    """Two rounds of one pair, each with both orders of seats, are four matches."""
    assert run(db, ladder, FakeWorkers(voids=0))[:3] == Run(played=4, decisions=8)[:3]
    assert [row.matches for row in store.ratings.leaderboard(db, ladder)] == [4, 4]


def test_rotations_share_their_dice_and_no_phase(db: Database, ladder: store.Ladder) -> None:
    """Both orders of seats get the same dice, but no bot process lives long enough to see the same dice twice.

    A short leg has one phase for each seat.
    """
    workers = FakeWorkers(voids=0)
    run(db, ladder, workers)
    assert [len({task.seed for task in phase}) for phase in workers.phases] == [2, 2]
    assert {task.seed for task in workers.phases[0]} == {task.seed for task in workers.phases[1]}


@pytest.mark.parametrize(("rounds", "phases"), [(450, 2), (850, 4)])
def test_a_long_leg_is_divided_so_that_its_first_groups_end_soon(
    rounds: int, phases: int, db: Database, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few hundred matches are one block, however long they take; of thousands nobody waits for the last."""
    monkeypatch.setattr(block_player, "PHASE_SECONDS", 0.0)
    workers = InOneGo(voids=0)
    assert run(db, ladder, workers, rounds=rounds).played == 2 * rounds
    assert len(workers.phases) == phases


def test_a_void_match_is_played_again_in_a_phase_of_its_own(db: Database, ladder: store.Ladder) -> None:
    """A void match costs no bot anything. A process that saw the first attempt has ended before the next one."""
    workers = FakeWorkers(voids=2)
    assert run(db, ladder, workers).played == 4
    phases = [sorted(task.id for task in phase) for phase in workers.phases]
    assert phases == [phases[0]] * 3 + [phases[3]] * 3
    assert not set(phases[0]) & set(phases[3])


def test_a_match_void_three_times_is_left_until_somebody_asks(db: Database, ladder: store.Ladder) -> None:
    """The run ends and says why the last attempt failed. With --retry the match is tried again."""
    ran = run(db, ladder, FakeWorkers(voids=3))
    assert (ran.played, ran.void and ran.void.reason) == (0, "overload: try 3")
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=0, done=0, unplayable=4)
    assert run(db, ladder, FakeWorkers(voids=0)).played == 0
    assert run(db, ladder, FakeWorkers(voids=0), retry=True).played == 4


def test_a_disk_without_room_for_sockets_ends_the_run_and_counts_against_no_match(
    db: Database, ladder: store.Ladder
) -> None:
    """If such voids counted, three for each match would make a whole ladder unplayable within seconds."""
    with pytest.raises(DiskFull, match="disk: try 1: make room in"):
        run(db, ladder, FakeWorkers(voids=1, why=VoidReason.DISK))
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=4, done=0, unplayable=0)
    assert run(db, ladder, FakeWorkers(voids=0)).played == 4


def test_who_was_told_to_stop_plays_nothing(db: Database, ladder: store.Ladder) -> None:
    """Workers that were told to stop play nothing, and no matches are planned that the next run must finish first."""
    workers = FakeWorkers(voids=0)
    workers.stop()
    assert run(db, ladder, workers) == Run()
    assert store.ladders.counts(db, ladder) == store.records.Counts(0, 0, 0)


class Retiring(FakeWorkers):
    """Workers during whose phase number `phase`, from 1, bob is retired after a match; the run notices it at once."""

    def __init__(self, db: Database, phase: int) -> None:
        super().__init__(voids=0)
        self._db = db
        self._phase = phase

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for results in super().play(task for task in tasks if not self.trouble.leaves_out(task)):
            yield results
            if len(self.phases) == self._phase:
                store.retirement.retire(self._db, "bob")
                yield []


@pytest.mark.parametrize(("phase", "played", "missed"), [(1, 1, 4), (2, 3, 2)])
def test_a_run_ends_once_nobody_is_left_to_play(
    phase: int, played: int, missed: int, db: Database, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The matches stored by then are rated. A later run that names the retired bot plays the incomplete groups."""
    monkeypatch.setattr(field_watch, "NEWS", 0.0)
    workers = Retiring(db, phase)
    ran = run(db, ladder, workers)
    assert (ran.played, ran.retired) == (played, ("bob@1",))
    assert sum(map(len, workers.phases)) == played, "they heard of it at once"
    assert store.ladders.counts(db, ladder) == store.records.Counts(0, played, 0, 4 - played)
    assert store.ratings.rateable_range(db, ladder) == (4, 4)
    assert run(db, ladder, FakeWorkers(voids=0)).played == missed


def test_a_run_that_adds_rounds_ends_all_the_same_once_nobody_is_left_to_play(
    db: Database, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of a single bot have no matches, however many there are."""
    monkeypatch.setattr(field_watch, "NEWS", 0.0)
    assert run(db, ladder, Retiring(db, 1), rounds=None, budget=Budget(matches=100)).retired == ("bob@1",)


def test_a_run_of_many_matches_adds_rounds(db: Database, ladder: store.Ladder) -> None:
    """Without a number of rounds only the budget ends it."""
    rounds = ladder.pairing.default_rounds(2, 2)
    assert run(db, ladder, InOneGo(voids=0), rounds=None, budget=Budget(matches=3 * rounds)).played == 3 * rounds


def test_what_an_earlier_run_left_stays_if_this_one_is_stopped_before_it_plans(
    db: Database, ladder: store.Ladder
) -> None:
    """Bots of that run may have seen their dice: these matches are played, and never planned anew."""
    store.ladders.plan(db, ladder, ["ann@1", "bob@1"], 2)
    workers = FakeWorkers(voids=0)
    workers.stop()
    run(db, ladder, workers, budget=Budget(matches=10))
    assert store.ladders.counts(db, ladder).scheduled == 4


def test_who_used_a_second_chance_is_named(db: Database, ladder: store.Ladder) -> None:
    """And it has none in the next run."""
    workers = FakeWorkers(voids=0)
    workers.learn(Trouble(chances={store.bots.find(db, "ann").digest: {"detail": "it went"}}))
    assert run(db, ladder, workers).chances == (("ann@1", "it went"),)
    assert store.chances.by_label(db, ladder).keys() == {"ann@1"}


def test_a_retry_waits_for_nobody_who_was_retired(
    db: Database, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --retry, too, the matches of a retired bot are not played, and the run does not wait for them for ever."""
    monkeypatch.setattr(field_watch, "NEWS", 0.0)
    run(db, ladder, FakeWorkers(voids=3))
    assert run(db, ladder, Retiring(db, 1), retry=True).played == 1


def test_a_result_keeps_times_and_evidence_by_seat() -> None:
    """For each seat the sum and the longest of its decision times are kept; evidence only for a forfeit."""
    forfeit = SeatForfeit(1, Forfeit.CRASH, "it went", 3)
    seats = (SeatRecord((0.5, 1.0)), SeatRecord((), {"exit": "was killed by SIGSEGV"}))
    value = finished(Played("m", MatchOutcome((0, 1), (7, 3), (forfeit,)), None, ((0, 1),), seats))
    assert isinstance(value, store.records.FinishedMatch)
    assert value.seats == (
        store.records.SeatOutcome(0, 7, None, None, 2, 1.5, 1.0),
        store.records.SeatOutcome(1, 3, "crash", {"detail": "it went", "exit": "was killed by SIGSEGV"}, 0, 0, 0.0),
    )
    assert value.choices == b"[[0,1]]"
