"""A run ends after some matches or some time, with every group complete and all bots even."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from arena.referee.match import Void, VoidReason
from arena.terminal.options import Hour
from arena.tournament.budget import GROWTH, Budget
from arena.tournament.forecast import OURS, Forecast, forecast
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.verification import MatchVerdict, verify_home
from arena.worker.jobs import Played, Task
from ladder import store
from tests.cli.commands import arena
from tests.tournament import playing

BOTS = ["ann", "bob", "cid", "dan", "eve"]
ROUND = 20
"""Matches that five bots play in a round of two players."""


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which five bots have played one round."""
    playing.make(tmp_path / ".arena", "birth", BOTS, 1)
    return tmp_path / ".arena"


def played(home: Path, budget: Budget | None, rounds: int | None = None, bots: list[str] = BOTS) -> Counter[str]:
    """Run the one ladder of a home; return how many matches each bot played in this run. All groups are complete."""
    with store.open(home, checkpoints=True) as db, playing.ByTheRules() as workers:
        (ladder,) = store.ladders.all(db)
        before = matches_by_bot(home)
        run = run_ladder(
            db,
            home,
            ladder,
            LadderRequest(bots, rounds, budget=budget),
            workers=workers,
            report=lambda _done, _total: None,
        )
        assert store.ladders.counts(db, ladder).scheduled == 0
    after = matches_by_bot(home)
    after.subtract(before)
    assert sum(after.values()) == 2 * run.played
    return after


def matches_by_bot(home: Path) -> Counter[str]:
    with store.open_read(home) as db:
        return Counter(dict(db.execute("SELECT version, count(*) FROM seats GROUP BY version").fetchall()))


def check(home: Path) -> int:
    """Check everything stored; return the number of matches."""
    found = verdict(home)
    assert found.difference is None, found.difference
    return found.matches


def verdict(home: Path) -> MatchVerdict:
    return verify_home(home, jobs=1, report=lambda _done, _total: None)


@pytest.mark.long
@pytest.mark.parametrize("matches", [2, 11, ROUND, 3 * ROUND + 8])
def test_a_run_of_some_matches_plays_whole_groups_and_is_even(home: Path, matches: int) -> None:
    """At most as many as it was given; of a round that is not whole, all bots play about equally many."""
    groups = matches // 2
    counts = played(home, Budget(matches=matches))
    assert sum(counts.values()) == 4 * groups
    assert max(counts.values()) - min(counts.values()) <= 4
    assert check(home) == ROUND + 2 * groups


def test_what_a_run_left_is_played_by_the_next(home: Path) -> None:
    """However it was divided, the matches are those of the rounds, each once, with the same results."""
    for matches in (10, 2, 30):
        played(home, Budget(matches=matches))
    played(home, None, rounds=4)
    assert check(home) == 4 * ROUND
    with store.open_read(home) as db:
        divided = db.execute("SELECT id, choices_digest FROM matches ORDER BY id").fetchall()
    whole = home.parent / "whole" / ".arena"
    whole.parent.mkdir()
    playing.make(whole, "birth", BOTS, 4)
    with store.open_read(whole) as db:
        assert divided == db.execute("SELECT id, choices_digest FROM matches ORDER BY id").fetchall()


def test_rounds_are_a_limit_of_their_own(home: Path) -> None:
    """With both, a run ends when the first of the two is reached."""
    assert sum(played(home, Budget(matches=1000), rounds=2).values()) == 2 * ROUND
    assert sum(played(home, Budget(matches=6), rounds=4).values()) == 12


def test_a_new_bot_does_not_wait_for_what_a_run_left(home: Path) -> None:
    """It is in the groups that the next run begins with."""
    played(home, Budget(matches=2))
    with store.open(home) as db:
        program = store.bots.find(db, "eve")
        store.bots.add(
            db, store.bots.NewBot("new", program.digest, games=program.games, run=program.run, origin="submitted")
        )
    assert played(home, Budget(matches=60), bots=[*BOTS, "new"])["new@1"] >= 18


def test_a_leg_that_was_ended_cannot_be_made_longer_or_shorter(home: Path) -> None:
    """The groups of a leg are the first of those that its field and rounds ask for, as many as are stored."""
    played(home, Budget(matches=6))
    for most in (2, 4, None):
        with store.open(home) as db:
            assert db.execute("SELECT most FROM legs WHERE leg = 1").fetchone() == (3,)
            db.execute("UPDATE legs SET most = ? WHERE leg = 1", [most])
        found = verdict(home).difference
        assert found is not None
        assert "leg 1, group" in found.what
        with store.open(home) as db:
            db.execute("UPDATE legs SET most = 3 WHERE leg = 1")
    check(home)


def test_what_was_tried_stays_in_its_leg(home: Path) -> None:
    """Also in a leg that an arena began which played no blocks; a leg of which nothing was tried is gone."""
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        assert store.ladders.plan(db, ladder, BOTS, 2) == store.ladders.end_leg(db, ladder) == ROUND
        store.ladders.plan(db, ladder, BOTS, 2)
        match = list(store.ladders.scheduled(db, ladder))[5]
        store.matches.record(db, ladder, [store.records.VoidMatch(match.id, "for no reason")])
        assert store.ladders.end_leg(db, ladder) == ROUND - 6
        assert store.ladders.counts(db, ladder).scheduled == 6
        assert store.ladders.end_leg(db, ladder) == 0


def test_the_places_of_dropped_groups_are_free_again(home: Path) -> None:
    """The ratings had passed over them: what is planned in their places is rated all the same."""
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, BOTS, 2)
        store.retirement.retire(db, "eve")
        store.retirement.retire(db, "dan")
        store.retirement.retire(db, "cid")
        store.ratings.apply(db, ladder)
        store.ladders.end_leg(db, ladder)
    for matches in (2, 4, 6):
        played(home, Budget(matches=matches), bots=["ann", "bob"])
        check(home)


def test_no_more_is_planned_than_can_be_played(home: Path) -> None:
    """A million rounds for a second: planning them all took minutes, in silence, and left 454 MB."""
    begun = time.monotonic()
    counts = played(home, Budget(seconds=1.0), rounds=1_000_000)
    assert time.monotonic() - begun < 20
    assert sum(counts.values()) > 0
    check(home)


def test_a_plan_of_some_groups_is_a_leg_that_others_go_on_with(home: Path) -> None:
    """Together they have every group of the rounds once, and verify knows that each is a part."""
    with store.open(home) as db, playing.ByTheRules() as workers:
        (ladder,) = store.ladders.all(db)
        planned: list[int] = []
        while planned[-1:] != [0]:
            planned.append(store.ladders.plan(db, ladder, BOTS, 3, 7))
            run_ladder(db, home, ladder, LadderRequest(BOTS, 1), workers=workers, report=lambda _done, _total: None)
    assert planned == [14, 14, 12, 0]
    assert check(home) == 3 * ROUND


class Ticking(Clock):
    """A clock that goes on by a second each time that it is looked at."""

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_what_is_tried_again_counts_too(home: Path) -> None:
    """There may be thousands of matches that were void too often."""
    with store.open(home) as db, playing.ByTheRules() as workers:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, BOTS, 4)
        db.execute("""UPDATE matches SET status = 'unplayable', voids = '["a", "b", "c"]' WHERE status = 'scheduled'""")
        budget = Budget(seconds=10, clock=Ticking())
        run = run_ladder(
            db,
            home,
            ladder,
            LadderRequest(BOTS, budget=budget, retry=True),
            workers=workers,
            report=lambda _done, _total: None,
        )
        assert 0 < run.played <= 10


class NobodyJoins(playing.ByTheRules):
    """Workers whose matches are all void, since no bot joins."""

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for task in tasks:
            yield [Played(task.id, None, Void(VoidReason.NOBODY), (), ())]


@pytest.mark.timeout(60)
def test_where_no_match_counts_rounds_are_not_added_for_ever(home: Path) -> None:
    """A run for some matches would never come to its end."""
    with store.open(home) as db, NobodyJoins() as workers:
        (ladder,) = store.ladders.all(db)
        budget, report = Budget(matches=1000), lambda _done, _total: None
        run = run_ladder(db, home, ladder, LadderRequest(BOTS, budget=budget), workers=workers, report=report)
        assert run.played == 0
        assert 0 < store.ladders.counts(db, ladder).unplayable < 2000


def test_what_an_interrupted_run_left_counts_too(home: Path) -> None:
    """A minute is a minute: what is not played in it stays scheduled, and comes first in the next run."""
    with store.open(home) as db, playing.ByTheRules() as workers:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, BOTS, 4)
        store.phases.close_block(db, ladder, ROUND, 4 * ROUND)
        budget = Budget(seconds=30, clock=Ticking())
        run = run_ladder(
            db, home, ladder, LadderRequest(BOTS, budget=budget), workers=workers, report=lambda _done, _total: None
        )
        assert 0 < run.played <= 30
        assert store.ladders.counts(db, ladder).scheduled == 3 * ROUND - run.played
    assert sum(played(home, None, rounds=4).values()) == 2 * (3 * ROUND - run.played)
    check(home)


def test_how_long_a_start_takes_is_known_from_the_quickest(clock: Clock) -> None:
    """A block that was slow for another reason says that groups are slow: else the next one is planned too large."""
    budget = Budget(seconds=100, clock=clock)
    budget.learn(10, seconds=3.0, thought=1.0, workers=1)  # 2 s to start, 0.1 s a group
    budget.learn(10, seconds=9.0, thought=1.0, workers=1)
    assert budget.room(so_far=20, seats=2, bots=2) == int((100 - 2) / 0.7)


@pytest.mark.parametrize("is_hard", [True, False])
def test_a_run_that_must_end_does(home: Path, is_hard: bool) -> None:
    """It leaves the groups that it began to the next run; one that is to take about so long completes them."""
    with store.open(home) as db, playing.ByTheRules() as workers:
        (ladder,) = store.ladders.all(db)
        clock = Ticking()
        budget = Budget(seconds=30, clock=clock, is_hard=is_hard)
        budget.learn(groups=1000, seconds=1e-3, thought=0.0, workers=1)  # it takes longer than it seemed to
        run_ladder(
            db, home, ladder, LadderRequest(BOTS, budget=budget), workers=workers, report=lambda _done, _total: None
        )
        assert bool(store.ladders.counts(db, ladder).scheduled) == is_hard
    played(home, None, rounds=1)
    check(home)


def test_a_run_that_must_end_plans_less_than_fits(clock: Clock) -> None:
    """So that it is not cut off amid its last block, which gets smaller and smaller."""
    budget = Budget(seconds=100, clock=clock, is_hard=True)
    budget.learn(groups=50, seconds=50, thought=50, workers=1)
    assert budget.room(0, 2, 9) == 80


def test_without_a_budget_there_is_always_room(clock: Clock) -> None:
    """Blocks are then as long as they ever were."""
    assert Budget(clock=clock).room(10**6, 2, 4) == sys.maxsize


def test_matches_bound_the_next_block() -> None:
    """Only whole groups fit."""
    budget = Budget(matches=100)
    assert (budget.room(0, 3, 9), budget.is_spent) == (33, False)
    assert (budget.room(98, 3, 9), budget.is_spent) == (0, True)


def test_the_first_block_by_time_has_every_bot_once(clock: Clock) -> None:
    """So no bot that is slow stays unknown, and one that is costs as little as possible."""
    assert Budget(seconds=60, clock=clock).room(0, 2, 9) == 5
    assert Budget(seconds=60, clock=clock).room(0, 3, 2) == 1


def test_blocks_by_time_fit_into_what_is_left(clock: Clock) -> None:
    """Ten seconds to start the bots, two to think for a group with two workers, so one second a group."""
    budget = Budget(seconds=100, clock=clock)
    clock.now += 14
    budget.learn(groups=5, seconds=14, thought=8, workers=2)
    assert budget.room(10, 2, 8) == 80
    clock.now += 50
    budget.learn(groups=40, seconds=50, thought=80, workers=2)
    assert budget.room(88, 2, 8) == 26
    clock.now += 36
    assert (budget.room(140, 2, 8), budget.is_spent) == (0, True)


def test_blocks_by_time_grow_step_by_step(clock: Clock) -> None:
    """How long a group takes is known from a few only."""
    budget = Budget(seconds=10_000, clock=clock)
    budget.learn(groups=2, seconds=1, thought=0.01, workers=2)
    assert budget.room(4, 2, 4) == 2 * GROWTH


def test_progress_counts_what_the_budget_allows(clock: Clock) -> None:
    """Of the matches that are planned, or as many as there will be time for at this rate."""
    assert Budget(matches=50).total(10, 1000) == 50
    budget = Budget(seconds=100, clock=clock)
    clock.now += 10
    assert budget.total(0, 1000) == 1000
    assert budget.total(30, 1000) == 300
    assert budget.total(30, 200) == 200
    clock.now += 95
    assert budget.total(400, 1000) == 400


@pytest.mark.long
def test_a_run_of_some_seconds_ends_then(cwd: Path) -> None:
    """With real bots, however busy the machine is: it plays something, and no group that it began is incomplete."""
    ran = arena("ladder", "--game", "birth", "--bots", "random,greedy", "--for", "8s", "--json", cwd=cwd)
    assert ran.code == 0, ran.err
    with store.open_read(cwd / ".arena") as db:
        counts = store.ladders.counts(db, store.ladders.all(db)[0])
    assert counts.scheduled == 0
    assert counts.done >= 2
    assert counts.done % 2 == 0
    assert "every group that was begun is complete; the same command plays more" in ran.err
    assert check(cwd / ".arena") == counts.done


def test_less_than_a_group_is_refused(cwd: Path) -> None:
    """One line says what a group is."""
    ran = arena("ladder", "--game", "birth", "--players", "3", "--matches", "2", cwd=cwd)
    assert ran.code == 2
    assert "a group is 3 matches, one for each rotation of the seats" in ran.err


def test_a_time_of_the_day_is_the_next(cwd: Path) -> None:
    """Today or else tomorrow; what is no time, and two ends of one run, are refused."""
    now = time.time()
    for text in ("0:00", "06:30", "23:59"):
        moment = Hour().convert(text, None, None)
        assert now < moment <= now + 25 * 3600  # a day may have 25 hours
        assert time.strftime("%H:%M", time.localtime(moment)) == text.zfill(5)
    ladder = ("ladder", "--game", "birth", "--until")
    assert "'25:00' is no time of the day: write 21:00" in arena(*ladder, "25:00", cwd=cwd).err
    assert arena(*ladder, "21:00", "--for", "1h", cwd=cwd).code == 2


def test_a_time_that_is_over_today_is_said_to_be_tomorrows(cwd: Path) -> None:
    """Whoever mistyped it would learn so in a day."""
    over = time.strftime("%H:%M", time.localtime(time.time() - 120))
    is_tomorrow = time.localtime(Hour().convert(over, None, None)).tm_yday != time.localtime().tm_yday
    words = ("--bots", "random,greedy", "--rounds", "1", "--until", over)
    said = arena("ladder", "--game", "birth", *words, cwd=cwd).err
    assert (f"it ends tomorrow, {over}: today that time is over" in said) == is_tomorrow


def test_a_forecast_adds_what_bots_think(home: Path) -> None:
    """From their matches of the same game; a bot that has played none is named, and not counted."""
    with store.open(home) as db:
        (ladder,) = store.ladders.all(db)
        assert forecast(db, ladder, 2) is None  # nothing is to be played
        program = store.bots.find(db, "ann")
        store.bots.add(
            db, store.bots.NewBot("new", program.digest, games=program.games, run=program.run, origin="submitted")
        )
        db.execute("UPDATE seats SET think_total = 0.0, decisions = 10")
        db.execute("UPDATE seats SET think_total = 6.0 WHERE version = 'eve@1'")
        labels = [store.bots.find(db, bot).label for bot in (*BOTS, "new")]
        before = forecast(db, ladder, 2, store.ladders.lacking(db, ladder, labels, 2))
        store.ladders.plan(db, ladder, [*BOTS, "new"], 2)
        found = forecast(db, ladder, 2)
    matches = 2 * 5 + 30  # the new bot's of the first round, and all of the second
    ours = 10 * OURS * (2 * matches - 20) / 2
    assert found is not None
    assert found == before == Forecast(matches, found.seconds, "eve@1", 36.0, ("new@1",))
    assert found.seconds == pytest.approx(36.0 + ours)


@pytest.mark.long
def test_a_ladder_says_how_long_it_takes(cwd: Path) -> None:
    """Before it plays; with a budget, what there is time for."""
    words = ("ladder", "--game", "birth", "--bots", "random,greedy")
    assert arena(*words, "--rounds", "1", cwd=cwd).code == 0
    with store.open(cwd / ".arena") as db:
        db.execute("UPDATE seats SET think_total = 30.0 WHERE version = 'greedy@1'")
        db.execute("UPDATE seats SET think_total = 0.0 WHERE version = 'random@1'")
    ran = arena(*words, "--rounds", "20", "-j", "1", cwd=cwd)
    assert "about 19 min for 38 matches, of which greedy@1 takes 19 min" in ran.err
