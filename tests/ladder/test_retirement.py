"""A bot that is retired while a leg is played, and comes back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.store import checks, database, schema
from ladder.store.checks import Mismatch
from tests.ladder.fakes import begin, finished, play, void

NAMES = ("a", "b", "c")
LABELS = ("a@1", "b@1", "c@1")


def half_played(db: Database, seats: int = 2, names: Sequence[str] = NAMES) -> store.Ladder:
    """A ladder of which every group has its first rotation played."""
    ladder = begin(db, *names, seats=seats, rounds=2)
    phase = store.phases.next_phase(db, ladder)
    assert phase is not None
    store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder, phase)])
    store.phases.close_block(
        db, ladder, 0, store.ladders.counts(db, ladder).scheduled + store.ladders.counts(db, ladder).done
    )
    return ladder


def play_all(db: Database, ladder: store.Ladder) -> None:
    """Play what is left phase by phase, as a ladder does."""
    while (phase := store.phases.next_phase(db, ladder)) is not None:
        matches = list(store.ladders.scheduled(db, ladder, phase))
        store.matches.record(db, ladder, [finished(match) for match in matches])
        if phase.end is None:
            store.phases.close_block(db, ladder, phase.begin, matches[-1].seq + ladder.key.seats)
    store.ratings.apply(db, ladder)


def check(db: Database, ladder: store.Ladder) -> None:
    """All that `arena verify` checks of a ladder without the rules of its game."""
    checks.check_file(db)
    checks.check_schedule(db, ladder)
    checks.check_phases(db, ladder)
    assert len(list(checks.results(db, ladder, 0, 10_000))) == store.ladders.counts(db, ladder).done
    assert checks.check_ratings(db, ladder) == []


def test_what_a_retired_bot_was_to_play_is_dropped(db: Database) -> None:
    """Nobody plays it, those that did not meet it play on, and the rest of its groups goes with it."""
    ladder = half_played(db)
    retired = store.retirement.retire(db, "c")
    assert ([version.label for version in retired.versions], retired.dropped) == (["c@1"], 4)
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=2, done=6, unplayable=0, dropped=4)
    assert {match.line_up for match in store.ladders.scheduled(db, ladder)} == {("b@1", "a@1")}
    check(db, ladder)


def test_a_half_played_group_is_rated_and_counts_in_no_interval(db: Database) -> None:
    """What was played was played; but an interval is over whole groups, in which nobody has the better seat."""
    ladder = half_played(db)
    store.retirement.retire(db, "c")
    play_all(db, ladder)
    assert {row.label: row.matches for row in store.ratings.leaderboard(db, ladder)} == {"a@1": 6, "b@1": 6, "c@1": 4}
    assert store.evidence.of_ladder(db, ladder).bots == ["a@1", "b@1"]
    check(db, ladder)


def test_a_bot_that_comes_back_has_a_leg_of_what_was_dropped(db: Database) -> None:
    """On dice of its own: some of the old ones were seen. The legs of the others stay as they are."""
    ladder = half_played(db)
    store.retirement.retire(db, "c")
    old = {seed for (seed,) in db.execute("SELECT seed FROM groups")}
    play_all(db, ladder)
    assert store.ladders.plan(db, ladder, ["a", "b"], 2) == 0
    assert [version.label for version in store.retirement.reinstate(db, "c")] == ["c@1"]
    assert store.ladders.plan(db, ladder, NAMES, 2) == 8
    assert all("c@1" in match.line_up and match.seed not in old for match in store.ladders.scheduled(db, ladder))
    check(db, ladder)
    play_all(db, ladder)
    assert store.ladders.plan(db, ladder, NAMES, 2) == 0
    check(db, ladder)


@pytest.mark.parametrize("seats", [2, 3])
def test_a_bot_may_go_and_come_back_again_and_again(db: Database, seats: int) -> None:
    """Each time in the middle of a leg; in the end the field has every group once, complete."""
    ladder = half_played(db, seats)
    for _ in range(3):
        assert store.retirement.retire(db, "b").dropped > 0
        check(db, ladder)
        play_all(db, ladder)
        store.retirement.reinstate(db, "b")
        assert store.ladders.plan(db, ladder, NAMES, 2) > 0
        phase = store.phases.next_phase(db, ladder)
        assert phase is not None
        some = islice(store.ladders.scheduled(db, ladder, phase), 2)
        store.matches.record(db, ladder, [finished(match) for match in some])
    play_all(db, ladder)
    check(db, ladder)
    whole = db.execute(
        "SELECT round, bots, count(*) FROM groups g WHERE NOT EXISTS"
        " (SELECT 1 FROM matches WHERE group_id = g.id AND status != 'done') GROUP BY round, bots"
    ).fetchall()
    assert sorted(count for *_, count in whole) == [1] * {2: 6, 3: 4}[seats]
    assert store.ladders.plan(db, ladder, NAMES, 2) == 0


def test_a_result_that_comes_after_it_was_dropped_is_none(db: Database) -> None:
    """Nor is a failed attempt: a worker may be about to deliver."""
    ladder = begin(db, *NAMES)
    first, second, *_ = [match for match in store.ladders.scheduled(db, ladder) if "c@1" in match.line_up]
    store.retirement.retire(db, "c")
    assert store.matches.record(db, ladder, [finished(first), *void(second)]) == 0
    assert store.matches.find(db, first.id).status == store.matches.find(db, second.id).status == "dropped"
    check(db, ladder)


def test_a_retired_bot_is_retired_once_more_if_there_is_something_to_drop(db: Database) -> None:
    """A field may name a retired version, and somebody may want that stopped too."""
    ladder = begin(db, *NAMES)
    play(db, ladder)
    store.retirement.retire(db, "c")
    before = store.retirement.retirements(db)
    store.ladders.plan(db, ladder, NAMES, 2)
    assert store.retirement.retire(db, "c") == ((), 4)
    assert store.retirement.retirements(db)["c@1"] > before["c@1"]
    assert store.retirement.retire(db, "c") == ((), 0)


def test_the_dice_of_a_dropped_group_are_shown_once_nobody_plays_them(db: Database) -> None:
    """So that the matches of it that were played can be checked."""
    ladder = half_played(db)
    match = next(match for match in store.ladders.scheduled(db, ladder) if "c@1" in match.line_up)
    assert store.matches.find(db, match.id).seed is None
    store.retirement.retire(db, "c")
    assert store.matches.find(db, match.id).seed == match.seed


def test_unplayable_matches_of_a_dropped_group_are_not_tried_again(db: Database) -> None:
    """A group that is not there has nothing to try."""
    ladder = half_played(db)
    match = next(match for match in store.ladders.scheduled(db, ladder) if "c@1" in match.line_up)
    store.matches.record(db, ladder, void(match, 3))
    play_all(db, ladder)
    assert store.matches.find(db, match.id).status == "unplayable"
    assert store.retirement.retire(db, "c") == ((store.bots.find(db, "c"),), 1)
    assert store.matches.find(db, match.id).status == "dropped"
    assert list(store.ladders.scheduled(db, ladder, retry=True)) == []
    check(db, ladder)


@pytest.mark.parametrize(
    ("forgery", "what"),
    [
        ("UPDATE matches SET status = 'scheduled' WHERE status = 'dropped'", "it was dropped, and was complete"),
        ("UPDATE matches SET status = 'scheduled' WHERE rotation = 2", "it is 'scheduled', and its group was"),
        ("UPDATE groups SET dropped = NULL, absent = NULL", "it is 'dropped', and was void 0 times"),
        ("UPDATE matches SET status = 'dropped' WHERE status = 'scheduled'", "it is 'dropped', and was void 0 times"),
        ("UPDATE groups SET absent = 0 WHERE dropped IS NOT NULL", "it was dropped before leg 0"),
        ("UPDATE groups SET absent = 2 WHERE dropped IS NOT NULL", "is there for the next leg"),
        ("UPDATE groups SET dropped = 1, absent = 1 WHERE dropped IS NULL", "it was dropped, and was complete"),
        ("UPDATE groups SET again = 1", "its seed does not follow"),
    ],
)
def test_what_was_dropped_cannot_be_made_up(db: Database, forgery: str, what: str) -> None:
    """A match is dropped with its group and a group before a leg, or the planner would plan something else."""
    ladder = half_played(db, seats=3, names="abcd")
    store.retirement.retire(db, "c")
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute(forgery)
    with pytest.raises(Mismatch) as found:
        check(db, ladder)
    assert what in str(found.value)


def test_an_older_home_keeps_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of its tables are made anew, with every row, reference and index."""
    with store.open(tmp_path / "new") as db:
        ladder = half_played(db)
        store.matches.record(db, ladder, void(next(store.ladders.scheduled(db, ladder))))
        store.ratings.apply(db, ladder)
        store.cards.complete(db, no_times)
        db.execute("UPDATE ladders SET zero = 'field'")  # as it was then
        db.execute("UPDATE legs SET rule = 1")
        before = dump(db)
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", schema.MIGRATIONS[:7])
        with store.open(tmp_path / "old") as db:
            db.execute("ATTACH ? AS new", [str(tmp_path / "new" / "arena.db")])
            for table in db.table_names():
                columns = ", ".join(column.name for column in db[table].columns)
                db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
    with store.open(tmp_path / "old") as db:
        db.execute("UPDATE legs SET even = 1")  # as its order is, which an older arena would not have planned
        store.cards.complete(db, no_times)
        assert dump(db) == before
        check(db, ladder)


def no_times(_replay: bytes) -> Sequence[Sequence[float]]:
    """The times in a replay of these tests."""
    return ()


def dump(db: Database) -> list[str]:
    """All that is stored, as SQL, tables and indexes too, but for who did it, which an older arena did not know."""
    return sorted(line for line in db.conn.iterdump() if not line.startswith('INSERT INTO "corrections"'))
