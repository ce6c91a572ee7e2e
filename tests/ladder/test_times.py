"""Times of decisions: those of every match that is done, whoever stored it, known to a fifth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import store
from ladder.store import checks, times
from tests.ladder.fakes import begin, finished


def timed(match: store.records.ScheduledMatch) -> store.records.FinishedMatch:
    """The result of a match, with times that follow from its seed and are in its replay."""
    chance = Random(match.seed + bytes([match.rotation]))
    times_ms = [[round(chance.random() * 10, 2) for _ in range(5)] for _ in match.line_up]
    return finished(match)._replace(times_ms=times_ms, replay=json.dumps(times_ms).encode())


def times_of(replay: bytes) -> Sequence[Sequence[float]]:
    """The times in such a replay."""
    found: list[list[float]] = json.loads(replay)
    return found


@settings(deadline=None)
@given(st.lists(st.integers(0, 3_000_000_000), min_size=1), st.sampled_from([0.5, 0.99]))
def test_times_are_known_to_a_fifth(hundredths: list[int], part: float) -> None:
    """From counts in buckets: what so many did not exceed is never told too small, and too large by a fifth at most."""
    distinct = sorted({round(each / 100, 2) for each in hundredths})
    summed = times.DecisionTimes({}, 0.0).merge(dict.fromkeys(distinct, 1))
    assert (summed.longest_ms, summed.decisions) == (distinct[-1], len(distinct))
    exact = next(each for number, each in enumerate(distinct, 1) if number >= part * len(distinct))
    assert exact <= summed.at_most(part) <= max(0.01, exact * 1.19)


def test_buckets_are_those_of_homes_that_exist() -> None:
    """Homes store their numbers: with other ends, all times that were counted before would be told wrong."""
    counted = times.DecisionTimes({}, 0.0).merge(dict.fromkeys((0.01, 10.24, 10.25, 60_000.0, 1e9), 1))
    assert counted.counts == dict.fromkeys((0, 40, 41, 91, 127), 1)


def test_times_are_of_every_match_that_is_done(db: Database) -> None:
    """They need no group and no rating; a result that comes twice counts once."""
    ladder = begin(db, "a", "b")
    _, last = store.ladders.scheduled(db, ladder)
    for _ in range(2):
        store.matches.record(db, ladder, [timed(last)])
    store.ratings.apply(db, ladder)
    known = store.times.decision_times(db, ladder, "b@1")
    assert known is not None
    assert (known.decisions, known.longest_ms) == (5, max(timed(last).times_ms[last.line_up.index("b@1")]))
    assert store.cards.unrated_matches(db, ladder) == 1
    checks.check_times(db, ladder, times_of)


@pytest.mark.parametrize("at_once", [1, 4, 1000])
def test_what_an_older_arena_stored_is_read_from_replays(
    db: Database, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stores no times, before an update or while this arena is used, too; no match is counted twice."""
    monkeypatch.setattr(times, "READ_AT_ONCE", at_once)
    ladder = begin(db, "a", "b", "c", rounds=4)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [timed(match) for match in matches[:3]])
    known = {table: list(db[table].rows) for table in ("time_sums", "times_known")}
    store.matches.record(db, ladder, [timed(match) for match in matches[3:10]])
    for table, rows in known.items():  # an older arena leaves them as they were
        db.table(table).delete_where()
        db.table(table).insert_all(rows)
    store.matches.record(db, ladder, [timed(match) for match in matches[10:]])
    checks.check_times(db, ladder, times_of)
    assert store.cards.lacking(db) == len(matches) - 3
    told: list[tuple[int, int]] = []
    store.cards.complete(db, times_of, lambda *steps: told.append(steps))
    checks.check_times(db, ladder, times_of)
    counted = [store.times.decision_times(db, ladder, label) for label in ("a@1", "b@1", "c@1")]
    assert sum(each.decisions for each in counted if each) == 2 * 5 * len(matches)
    assert told[-1] == (len(matches) - 3,) * 2


def test_times_cannot_be_made_up(db: Database) -> None:
    """`arena verify` reads them from the replays again."""
    ladder = begin(db, "a", "b")
    store.matches.record(db, ladder, [timed(match) for match in store.ladders.scheduled(db, ladder)])
    db.execute("UPDATE time_sums SET longest_ms = longest_ms / 2 WHERE version = 'b@1'")
    with pytest.raises(checks.Mismatch, match="the table time_sums has"):
        checks.check_times(db, ladder, times_of)
