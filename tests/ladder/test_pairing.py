"""Pairings, contracts of all that there are: each group follows from what was stored when its leg was planned.

The seam is tested with a Swiss: the file `swiss.py`, and the line of the registry in `pairings` below.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import store
from ladder.pairing import PAIRINGS
from ladder.schedule import canonical
from ladder.store import checks, legs
from ladder.store.database import in_memory
from tests.ladder import swiss
from tests.ladder.fakes import KEY, enter, finished, play, void

SWISS = KEY._replace(pairing="toy-swiss")


@pytest.fixture(autouse=True, scope="module")
def pairings() -> Iterator[None]:
    """Those of the arena, and the Swiss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PAIRINGS, "toy-swiss", swiss)
        yield


def make(db: Database, key: store.records.LadderKey = SWISS) -> store.Ladder:
    return store.ladders.find_or_make(db, key, draw_probability=0.1, seed="test")


def groups(db: Database, ladder: store.Ladder) -> list[tuple[int, tuple[str, ...]]]:
    """The round and the order of each group that is scheduled."""
    return [
        (store.matches.find(db, match.id).round, canonical(match.line_up))
        for match in store.ladders.scheduled(db, ladder)
        if match.rotation == 0
    ]


def test_a_pairing_is_part_of_what_a_ladder_is(db: Database) -> None:
    """Another pairing is another ladder; round robins keep the ids that they had before there were others."""
    assert KEY.id == "a5broeez6f"
    assert make(db).id == SWISS.id != KEY.id
    assert store.ladders.find(db, SWISS.id) == make(db)
    assert store.ladders.find(db, KEY.id) is None


def test_a_pairing_that_this_arena_lacks_is_named(db: Database) -> None:
    """As of a home that a newer arena has filled: its ladder can be read, but neither go on nor be checked."""
    ladder = make(db, KEY._replace(pairing="knock-out"))
    with pytest.raises(LookupError, match="unknown pairing 'knock-out': pairings are round-robin, toy-swiss"):
        store.ladders.plan(db, ladder, enter(db, "a", "b"), 1)


def test_a_leg_waits_for_the_results_that_it_needs(db: Database) -> None:
    """A Swiss has a leg for each round, in which the winners of the one before meet, and then nothing is missing."""
    ladder, field = make(db), enter(db, *"abcd")
    for number in range(3):
        assert store.ladders.plan(db, ladder, field, 3) == 4
        orders = groups(db, ladder)
        assert [round for round, _ in orders] == [number, number]
        if number == 1:
            points = legs.points(db, ladder, 1, 0)
            better, worse = ([points[bot] for bot in order] for _, order in orders)
            assert min(better) >= max(worse) > min(worse)
        play(db, ladder)
    assert store.ladders.plan(db, ladder, field, 3) == 0
    assert store.ladders.plan(db, ladder, field, 2) == 0


def test_who_comes_later_is_paired_with_who_is_free(db: Database) -> None:
    """Two new bots in the rounds that were played meet each other there, before they meet the field."""
    ladder, field = make(db), enter(db, *"abcd")
    for _ in range(2):
        store.ladders.plan(db, ladder, field, 2)
        play(db, ladder)
    field += enter(db, "x", "y")
    assert store.ladders.plan(db, ladder, field, 3) == 2
    assert groups(db, ladder) == [(0, ("x@1", "y@1"))]


@pytest.mark.parametrize("seats", [2, 3])
def test_points_are_halves_of_every_seat_that_was_beaten(db: Database, seats: int) -> None:
    """Each pair of seats in a match shares two of them, as long as nobody had to give up on the match."""
    ladder, field = make(db, SWISS._replace(seats=seats)), enter(db, *"abcdef"[: 2 * seats])
    store.ladders.plan(db, ladder, field, 1)
    stuck, *_ = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, void(stuck, 3))
    play(db, ladder)
    points = legs.points(db, ladder, 1, 0)
    assert sum(points.values()) == (2 * seats - 1) * seats * (seats - 1)
    store.matches.record(db, ladder, [finished(stuck)])  # after all: the next leg may be planned already
    assert legs.points(db, ladder, 1, 0) == points
    assert legs.points(db, ladder, 0, 0) == legs.points(db, ladder, 1, 1) == {}


def test_points_of_a_match_that_was_annulled_count_in_no_later_leg(db: Database) -> None:
    """In legs that were planned before they go on counting, because these followed from them."""
    ladder, field = make(db), enter(db, "a", "b")
    for _ in range(2):
        store.ladders.plan(db, ladder, field, 2)
        play(db, ladder)
    points = legs.points(db, ladder, 1, 0)
    *_, first = store.watching.latest_of(db, ladder, 4)
    store.annulment.annul_match(db, first.id, "unfair")
    assert sum(points.values()) == 4
    assert legs.points(db, ladder, 1, 0) == points
    assert legs.points(db, ladder, 2, 0) == {}


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["round-robin", "toy-swiss"]), st.sampled_from([2, 3]))
def test_a_plan_follows_from_what_was_stored_then_whatever_came_later(chance: Random, name: str, seats: int) -> None:
    """So `arena verify` can ask again: also after matches were annulled, dropped or, after all, played since."""
    with in_memory() as db:
        bots, ladder = enter(db, *"abcdef"), make(db, KEY._replace(seats=seats, pairing=name))
        for _ in range(chance.randint(3, 10)):
            field, rounds = chance.sample(bots, chance.randint(seats, len(bots))), chance.randint(1, 4)
            store.ladders.plan(db, ladder, field, rounds, chance.choice([1, 2, sys.maxsize]))
            for match in list(store.ladders.scheduled(db, ladder))[:: chance.choice([1, 1, 2])]:
                store.matches.record(db, ladder, void(match, 3) if chance.random() < 0.2 else [finished(match)])
            disturb(db, ladder, chance)
            if chance.random() < 0.7:
                play(db, ladder)
            disturb(db, ladder, chance)
            checks.check_schedule(db, ladder)


def disturb(db: Database, ladder: store.Ladder, chance: Random) -> None:
    """Let happen what people may do at any time."""
    if chance.random() < 0.2:
        unplayable = [match for match in store.ladders.scheduled(db, ladder, retry=True) if match.attempts == 3]
        store.matches.record(db, ladder, [finished(match) for match in unplayable])
    if chance.random() < 0.2:
        label = chance.choice("abcdef") + "@1"
        store.retirement.retire(db, label)
        store.retirement.reinstate(db, label)
    if chance.random() < 0.2 and (done := store.watching.latest_of(db, ladder, 20)):
        store.annulment.annul_match(db, chance.choice(done).id, "unfair")
    if chance.random() < 0.2:
        store.ladders.end_leg(db, ladder)


@pytest.mark.parametrize("name", ["round-robin", "toy-swiss"])
def test_what_was_played_to_its_end_is_not_missing(db: Database, name: str) -> None:
    """Whatever the pairing: a run that is repeated plays nothing, nor one of fewer rounds."""
    ladder, field = make(db, KEY._replace(pairing=name)), enter(db, *"abcde")
    rounds = ladder.pairing.default_rounds(len(field), 2)
    while store.ladders.plan(db, ladder, field, rounds):
        play(db, ladder)
    assert store.ladders.counts(db, ladder).done >= 2 * rounds
    for fewer in range(1, rounds + 1, 10):
        assert store.ladders.plan(db, ladder, reversed(field), fewer) == 0
