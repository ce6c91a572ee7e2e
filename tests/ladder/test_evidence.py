"""Settled ratings and errors of a stored ladder: which matches they are of."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from sqlite_utils import Database

from ladder import settled, store
from ladder.store import checks, schema
from ladder.store.database import in_memory
from ladder.trueskill_ratings import Rating
from tests.ladder.fakes import begin, finished, play, void


def fitted(matches: list[store.records.ScheduledMatch]) -> dict[str, Rating]:
    outcomes = [settled.outcome(match.line_up, [seat.rank for seat in finished(match).seats]) for match in matches]
    return settled.fit(Counter(outcomes), 0.1)


@pytest.mark.parametrize("seats", [2, 3])
def test_settled_ratings_cover_what_is_rated(db: Database, seats: int) -> None:
    """They are stored with the number of matches they are of, and stay so until they are asked for again."""
    ladder = begin(db, "a", "b", "c", seats=seats)
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, [finished(match) for match in matches if match is not matches[4]])
    store.ratings.apply(db, ladder)
    store.evidence.settle(db, ladder)
    assert store.evidence.find_settled(db, ladder) == (fitted(matches[:4]), 4)
    play(db, ladder)
    assert store.evidence.find_settled(db, ladder).matches == 4
    store.evidence.settle(db, ladder)
    assert store.evidence.find_settled(db, ladder) == (fitted(matches), len(matches))


def test_nothing_is_fitted_twice(db: Database) -> None:
    """A ladder that has nothing new to say costs no passes."""
    ladder = begin(db, "a", "b", "c")
    play(db, ladder)
    passes: list[int] = []
    for _ in range(2):
        store.evidence.settle(db, ladder, lambda done, _most: passes.append(done))
    assert passes.count(0) == 1


def test_an_interrupted_fit_leaves_what_was_there(db: Database) -> None:
    """Ctrl-C may come at any pass."""
    ladder = begin(db, "a", "b", "c")

    def interrupt(done: int, _most: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    play(db, ladder)
    with pytest.raises(KeyboardInterrupt):
        store.evidence.settle(db, ladder, interrupt)
    assert store.evidence.find_settled(db, ladder) == ({}, 0)


def test_only_whole_groups_are_evidence(db: Database) -> None:
    """Half a group is half of its dice: whoever had the better seat would seem better."""
    ladder = begin(db, "a", "b", "c")
    matches = list(store.ladders.scheduled(db, ladder))
    store.matches.record(db, ladder, void(matches[0], 3))
    play(db, ladder)
    evidence = store.evidence.of_ladder(db, ladder)
    one, other = matches[0].line_up
    assert evidence.head_to_head(one, other) is None
    assert sum(1 for bot in evidence.bots for rival in evidence.bots if evidence.head_to_head(bot, rival)) == 4


def test_ratings_that_an_older_arena_did_not_settle_wholly_are_no_forgery(db: Database) -> None:
    """They may be off by a little, which is remarked; whoever settles them anew has them to the last bit."""
    ladder = begin(db, "a", "b", "c", rounds=4)
    play(db, ladder)
    store.evidence.settle(db, ladder)
    settled_here = store.evidence.find_settled(db, ladder)
    db.execute("UPDATE settled SET mu = mu + 0.01")
    with pytest.raises(checks.Mismatch):
        checks.check_settled(db, ladder)
    db.execute("UPDATE ladders SET rated_by = '[\"an older arena\"]'")
    (remark,) = checks.check_settled(db, ladder)
    assert "agree to 0.1, not to the last bit: they were computed by an older arena" in remark
    store.evidence.settle(db, ladder)
    assert store.evidence.find_settled(db, ladder) == settled_here
    assert checks.check_settled(db, ladder) == []


@pytest.mark.parametrize(
    ("computed_by", "table", "promised"),
    [
        ("another Python", "ratings", 1e-6),
        (f"another Python, {settled.METHOD}", "settled", 1e-3),
        ("an older arena", "settled", 0.1),
    ],
)
def test_another_arithmetic_may_differ_by_as_much_as_is_promised(
    db: Database, computed_by: str, table: str, promised: float
) -> None:
    """docs/verify.md says how far apart ratings may be; further ones may be made up."""
    ladder = begin(db, "a", "b", "c", rounds=4)
    play(db, ladder)
    store.evidence.settle(db, ladder)
    check = checks.check_ratings if table == "ratings" else checks.check_settled
    db.execute("UPDATE ladders SET rated_by = ?", [json.dumps([computed_by])])
    assert check(db, ladder) == []
    db.execute(f"UPDATE {table} SET mu = mu + ?", [0.8 * promised])
    (remark,) = check(db, ladder)
    assert f"they were computed by {computed_by}" in remark
    db.execute(f"UPDATE {table} SET mu = mu + ?", [0.4 * promised])
    with pytest.raises(checks.Mismatch):
        check(db, ladder)


def test_ratings_that_say_nothing_of_beta_were_computed_with_the_only_one_there_was() -> None:
    """So a home of an older arena is still compared to the last bit; with another beta nothing would be."""
    with in_memory() as older:
        ladder = begin(older, "a", "b", "c", rounds=2)
        play(older, ladder)
        store.evidence.settle(older, ladder)
        names = store.ratings.rated_by(older, ladder)
        older.execute("UPDATE ladders SET rated_by = replace(rated_by, ', beta 4.16667', '')")
        assert len(set(store.ratings.rated_by(older, ladder)) & set(names)) == 0
        schema._14_beta(older)
        assert store.ratings.rated_by(older, ladder) == names
