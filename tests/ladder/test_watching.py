"""What a running ladder shows of itself, without reading all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlite_utils import Database

from ladder import store
from ladder.trueskill_ratings import NEW, Rating
from tests.ladder.fakes import begin, finished, play


def test_the_latest_matches_are_of_complete_groups(db: Database) -> None:
    """What is still to be played of a group shares its dice with what was played."""
    ladder = begin(db, "ann", "bob", rounds=3)
    matches = list(store.ladders.scheduled(db, ladder))
    for match in matches[:5]:
        store.matches.record(db, ladder, [finished(match)])
    complete = [match.id for match in reversed(matches[:4])]
    assert [each.id for each in store.watching.latest_of(db, ladder, 9)] == complete
    assert [each.id for each in store.watching.latest_matches(db, 9)] == complete
    assert [each.id for each in store.watching.latest_matches(db, 2)] == complete[:2]


def test_the_speed_is_that_of_late(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two matches a second in the end, whatever came an hour before."""
    ladder = begin(db, "ann", "bob", rounds=20)
    assert store.watching.speed(db, ladder) is None
    now = 1000.0
    monkeypatch.setattr("time.time", lambda: now)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(matches.pop())])
    now += 3600
    for match in matches[:20]:
        store.matches.record(db, ladder, [finished(match)])
        now += 0.5
    assert store.watching.speed(db, ladder) == pytest.approx(2)


def test_the_speed_of_a_slow_ladder_is_seen_from_its_last_matches(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match every two minutes is not one a second, and of a single moment nothing can be told."""
    ladder = begin(db, "ann", "bob", rounds=20)
    now = 1000.0
    monkeypatch.setattr("time.time", lambda: now)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches[:3]])
    assert store.watching.speed(db, ladder) is None
    for match in matches[3:7]:
        now += 120
        store.matches.record(db, ladder, [finished(match)])
    assert store.watching.speed(db, ladder) == pytest.approx(1 / 120)


def test_the_history_ends_with_the_ratings(db: Database) -> None:
    """And is read at as many places as are asked for, if there are as many matches."""
    ladder = begin(db, "ann", "bob", "cid", rounds=10)
    play(db, ladder)
    history = store.watching.history(db, ladder, points=7, bots=3)
    assert len(history) == 7
    end, ratings = history[-1]
    rows = store.ratings.leaderboard(db, ladder)
    assert end == sum(row.matches for row in rows) // 2
    assert ratings == {row.label: Rating(row.mu, row.sigma) for row in rows}
    assert store.watching.history(db, begin_empty(db), points=7, bots=3) == []


def test_annulled_matches_do_not_count_in_the_history(db: Database) -> None:
    """It says after how many rated matches a rating was what it was."""
    ladder = begin(db, "ann", "bob", "cid", rounds=10)
    play(db, ladder)
    store.annulment.annul_bot(db, "cid", "it cheated")
    store.ratings.apply(db, ladder)
    counts = store.ladders.counts(db, ladder)
    assert counts.annulled > 0
    ends = [end for end, _ in store.watching.history(db, ladder, points=5, bots=2)]
    assert ends == sorted(ends)
    assert ends[-1] == counts.done


def begin_empty(db: Database) -> store.Ladder:
    """A ladder without matches."""
    key = store.records.LadderKey("dice", 3, {}, {}, 1)
    return store.ladders.find_or_make(db, key, draw_probability=0.1)


def test_ratings_before_a_match_are_those_after_the_last_one(db: Database) -> None:
    """Before the first they are those that every bot begins with."""
    ladder = begin(db, "ann", "bob", "cid", rounds=2)
    matches = list(store.ladders.scheduled(db, ladder))
    play(db, ladder)
    now = dict[str, Rating]()
    for match in matches:
        before = store.watching.ratings_before(db, match.id, match.line_up)
        assert before == {label: now.get(label, NEW) for label in match.line_up}
        now.update(store.matches.find(db, match.id).ratings or {})


def test_marks_change_with_what_is_shown(db: Database) -> None:
    """Results, ratings and corrections; of other ladders only corrections."""
    ladder, other = begin(db, "ann", "bob"), begin_empty(db)
    seen = [store.watching.marks(db)]
    store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder)])
    seen.append(store.watching.marks(db))
    store.ratings.apply(db, ladder)
    seen.append(store.watching.marks(db))
    assert len({marks[ladder.id] for marks in seen}) == 3
    assert len({marks[other.id] for marks in seen}) == 1
    store.ladders.plan(db, ladder, ["ann@1", "bob@1"], 2)
    assert store.watching.marks(db)[ladder.id] != seen[-1][ladder.id]
    store.bots.rename(db, "ann", "Annie")
    assert all(store.watching.marks(db)[each.id] != seen[-1][each.id] for each in (ladder, other))


def test_the_most_notable_matches_are_those_of_all_bots(db: Database) -> None:
    """The largest upsets come first, each once: as seen by whoever lost."""
    ladder = begin(db, "ann", "bob", "cid", rounds=20)
    play(db, ladder)
    found = store.notable_matches.of_ladder(db, ladder, 2)
    lost = [each.value for each in found if each.kind == "lost"]
    every = [
        each.value
        for label in ("ann@1", "bob@1", "cid@1")
        for each in store.notable_matches.of_version(db, ladder, label)
    ]
    assert lost == sorted(lost, reverse=True)
    assert not lost or lost[0] == max(each.value for each in found if each.kind == "lost")
    assert {each.kind for each in found} <= {"forfeit", "lost", "narrow"}
    assert {each.value for each in found} <= {*every}


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("summed", [0, 1, 7, 12])
def test_sums_say_the_same_as_the_groups(
    db: Database, summed: int, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read with what is missing in them, because that is faster; where much is missing, the groups are."""
    ladder = begin(db, "ann", "bob", "cid", "dot", seats=seats, rounds=4)
    labels = ["ann@1", "bob@1", "cid@1", "dot@1"]
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches[:summed]])
    store.ratings.apply(db, ladder)
    store.sums.add_rated(db, ladder)
    store.matches.record(db, ladder, [finished(match) for match in matches[summed:]])
    store.ratings.apply(db, ladder)
    groups, sums = store.evidence.of_ladder(db, ladder), store.evidence.shares_now(db, ladder, labels)
    assert (type(groups) is type(sums)) == (seats > 3), "with four seats not all that goes together is in the sums"
    for one in labels:
        assert groups.score(one) == sums.score(one)
        assert [groups.lead(one, other) for other in labels] == [sums.lead(one, other) for other in labels]
    assert groups.places(labels, labels) == sums.places(labels, labels)
    monkeypatch.setattr("ladder.store.evidence.FEW_GROUPS", -1)
    assert type(store.evidence.shares_now(db, ladder, labels)) is type(groups)


def test_a_running_ladder_can_be_seen(tmp_path: Path) -> None:
    """Without being in its way."""
    assert not store.database.is_running(tmp_path)
    with store.database.exclusive(tmp_path):
        assert store.database.is_running(tmp_path)
    assert not store.database.is_running(tmp_path)


def test_a_run_says_when_it_ends(tmp_path: Path) -> None:
    """Whoever watches reads it; when the run has ended, nobody takes it for that of the next."""
    store.open(tmp_path).close()
    said = store.watching.CurrentRun("abc", 1.5, 300)
    with store.open_read(tmp_path) as db:
        with store.database.exclusive(tmp_path):
            assert store.watching.current_run(db) is None
            store.watching.announce(tmp_path, said)
            assert store.watching.current_run(db) == said
            with pytest.raises(store.StoreError, match=f"process {os.getpid()}\\)"), store.database.exclusive(tmp_path):
                pass
        assert store.watching.current_run(db) is None
        with store.database.exclusive(tmp_path):
            assert store.watching.current_run(db) is None
