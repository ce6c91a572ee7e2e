"""A ladder whose pairing is new, a Swiss of one file and one line: it is played, goes on, and is checked like any."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlite_utils import Database

from arena import roster
from arena.games.birth import Birth
from arena.referee.limits import Limits
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.verification import MatchVerdict, verify_home
from arena.tournament.worker_pool import Workers
from arena.worker.local_host import LocalHost
from ladder import store
from ladder.pairing import PAIRINGS
from ladder.schedule import Basis, Group, canonical, canonical_json, line_up, match_id, match_seed
from tests.ladder import swiss
from tests.tournament import playing

BOTS, ROUNDS = ["ann", "bob", "cid", "dan", "eve", "fay"], 3
GROUPS = len(BOTS) // 2


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of the registry."""
    monkeypatch.setitem(PAIRINGS, "toy-swiss", swiss)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def play(
    home: Path, rounds: int = ROUNDS, report: Callable[[int, int], None] = lambda _done, _total: None
) -> store.Ladder:
    """Play the rounds, or go on with them."""
    return playing.make(home, "birth", BOTS, rounds, pairing="toy-swiss", report=report)


def verdict(home: Path) -> MatchVerdict:
    return verify_home(home, jobs=1, report=lambda _done, _total: None)


def check(home: Path) -> int:
    """Check everything stored; return the number of matches."""
    found = verdict(home)
    assert (found.difference, found.remarks) == (None, ())
    return found.matches


def refusal(home: Path) -> str:
    """What is wrong with what is stored."""
    found = verdict(home).difference
    assert found is not None
    return found.what


def ladder_hash(home: Path, ladder: store.Ladder) -> str:
    with store.open(home) as db:
        return store.ratings.keep_hash(db, ladder)


def legs(home: Path) -> list[tuple[int, int, int]]:
    """Leg, round, and how many groups that has."""
    with store.open_read(home) as db:
        query = "SELECT leg, round, count(*) FROM groups GROUP BY leg, round ORDER BY leg, round"
        return [tuple(row) for row in db.execute(query)]


def test_each_round_is_a_leg_that_follows_from_those_before(home: Path) -> None:
    """One run plays them all, each bot once a round, and no two bots twice."""
    play(home)
    assert legs(home) == [(number, number, GROUPS) for number in range(ROUNDS)]
    with store.open_read(home) as db:
        met = Counter(bots for (bots,) in db.execute("SELECT bots FROM groups"))
    assert set(met.values()) == {1}
    assert check(home) == 2 * GROUPS * ROUNDS


def test_it_goes_on_after_every_interruption(home: Path, tmp_path: Path) -> None:
    """Wherever a run ends, the next one goes on, and all is as if nothing had happened."""
    whole = ladder_hash(tmp_path / "whole", play(tmp_path / "whole"))

    def interrupt(done: int, _total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    interruptions = 0
    while True:
        try:
            ladder = play(home, report=interrupt)
            break
        except KeyboardInterrupt:
            interruptions += 1
            assert check(home) == 4 * interruptions
    assert interruptions == 2 * GROUPS * ROUNDS // 4
    assert ladder_hash(home, ladder) == whole
    play(home)
    assert check(home) == 2 * GROUPS * ROUNDS


def test_real_bots_play_it(home: Path) -> None:
    """Workers know nothing of pairings: they get line-ups. The first run is stopped after two matches."""
    key = store.records.LadderKey("birth", 2, Birth().options({}), Limits().plain(), Birth.rules_version, "toy-swiss")
    with store.open(home, checkpoints=True) as db:
        roster.enter_built_ins(db, home)
        ladder = store.ladders.find_or_make(db, key, draw_probability=Birth.draw_probability, seed="known")
        assert run(db, home, ladder, stop=2) == 2
        assert run(db, home, ladder, stop=sys.maxsize) == 4
        assert store.ladders.counts(db, ladder) == store.records.Counts(done=6)
    assert legs(home) == [(number, number, 1) for number in range(3)]
    assert check(home) == 6


def run(db: Database, home: Path, ladder: store.Ladder, stop: int) -> int:
    """Play three rounds of three bots, until so many matches are played; return how many were."""
    request = LadderRequest(["random", "cautious", "greedy"], 3)
    with Workers(LocalHost(1)) as workers:

        def report(done: int, _total: int) -> None:
            if done >= stop:
                workers.stop()

        return run_ladder(db, home, ladder, request, workers=workers, report=report).played


def alter(db: Database, ladder: store.Ladder) -> None:
    """Let bots of the last leg change places, with the seeds and ids that follow."""
    rows = db.execute("SELECT id, round, bots FROM groups WHERE leg = 2 ORDER BY position LIMIT 2").fetchall()
    (a, b), (c, d) = (line_up(bots, 0) for *_, bots in rows)
    for (id, number, _), order in zip(rows, [(a, c), (b, d)], strict=True):
        group = Group(number, canonical(order))
        seed = match_seed(ladder.event_seed, ladder.id, group)
        db.execute("UPDATE groups SET bots = ?, seed = ? WHERE id = ?", [canonical_json(group.order), seed, id])
        for rotation in (0, 1):
            db.execute(
                "UPDATE matches SET id = ? WHERE group_id = ? AND rotation = ?",
                [match_id(ladder.id, group, rotation), id, rotation],
            )


def test_a_plan_that_somebody_altered_is_refused(home: Path) -> None:
    """Also if all else that is stored of it fits: the opponents are not those of the standings."""
    ladder = play(home, rounds=2)
    with store.open(home) as db:
        assert store.ladders.plan(db, ladder, BOTS, 3) == 2 * GROUPS
    assert check(home) == 4 * GROUPS
    with store.open(home) as db, store.database.write(db):
        alter(db, ladder)
    assert "leg 2, group 0 is Group(round=2" in refusal(home)


def test_a_leg_that_another_pairing_has_planned_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even after it was played and rated: here by luck alone, whatever points the bots have."""
    play(home, rounds=1)
    with monkeypatch.context() as other:
        other.setattr(swiss, "missing", partial(by_luck, swiss.missing))
        play(home, rounds=2)
        assert check(home) == 4 * GROUPS
    assert "leg 1, group 1 is Group(round=1" in refusal(home)


def by_luck(missing: Callable[[Basis], Iterator[Group]], basis: Basis) -> Iterator[Group]:
    return missing(basis._replace(points=lambda _round: {}))
