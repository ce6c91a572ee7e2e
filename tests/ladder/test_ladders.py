"""Ladders, and the legs that their runs append."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import store
from ladder.round_robin import missing
from ladder.schedule import Group, TooFewBots, canonical, match_id, match_seed
from ladder.store.database import in_memory
from tests.ladder.fakes import KEY, begin, enter, finished, play, steps, void

# the modules: `ladder.store` has functions of the same names
evidence, legs = sys.modules["ladder.store.evidence"], sys.modules["ladder.store.legs"]


def make(db: Database, key: store.records.LadderKey = KEY, seed: str | None = None) -> store.Ladder:
    return store.ladders.find_or_make(db, key, draw_probability=0.1, seed=seed)


def test_the_same_key_is_the_same_ladder(db: Database) -> None:
    """Run again, a ladder goes on; with another option it is another ladder with ratings of its own."""
    made = make(db)
    assert make(db) == made == store.ladders.find(db, KEY.id)
    assert make(db, KEY._replace(options={"sides": 8})).id != made.id
    assert store.ladders.find(db, KEY._replace(rules_version=2).id) is None


def test_the_event_seed_comes_from_the_operating_system(db: Database) -> None:
    """No bot's author can foresee a die unless somebody chooses the seed."""
    one, other = make(db), make(db, KEY._replace(seats=3))
    assert len(one.event_seed) == 32
    assert one.event_seed != other.event_seed
    assert one.seed_text is None


def test_a_chosen_seed_gives_the_same_dice_in_every_home(db: Database) -> None:
    """It is how a result is reproduced."""
    assert make(db, seed="spring").event_seed == sha256(b"spring").digest()


def test_another_seed_is_refused_naming_both(db: Database) -> None:
    """Results on two event seeds would not be one schedule; the same seed, or none, is the ladder as it is."""
    for seats, begun, own in [(2, "spring", "'spring'"), (3, None, "one made by the operating system")]:
        made = make(db, KEY._replace(seats=seats), seed=begun)
        with pytest.raises(store.StoreError, match=f"ladder {made.id} keeps its seed, {own}: .* with 'autumn'"):
            make(db, KEY._replace(seats=seats), seed="autumn")
        assert make(db, KEY._replace(seats=seats), seed=begun) == make(db, KEY._replace(seats=seats)) == made


def test_ladders_come_with_the_one_played_last_first(db: Database) -> None:
    """`arena leaderboard` without more words shows that one."""
    two, three = begin(db, "a", "b"), begin(db, "a", "b", "c", seats=3)
    assert [ladder.id for ladder in store.ladders.all(db)] == [three.id, two.id]
    play(db, two)
    assert [ladder.id for ladder in store.ladders.all(db, "dice")] == [two.id, three.id]
    assert [ladder.id for ladder in store.ladders.all(db, "dice", 3)] == [three.id]
    assert store.ladders.all(db, "cards") == ()


def test_a_leg_holds_every_rotation_of_what_is_missing(db: Database) -> None:
    """Schedule order: rounds outermost, a group's rotations side by side, on one seed that no other group has."""
    ladder = begin(db, "a", "b", "c", "d", rounds=2)
    matches = list(store.ladders.scheduled(db, ladder))
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=24, done=0, unplayable=0)
    for number, (first, second) in enumerate(zip(matches[::2], matches[1::2], strict=True)):
        group = Group(number // 6, canonical(first.line_up))
        assert first.line_up == second.line_up[::-1] == group.order
        assert first.seed == second.seed == match_seed(ladder.event_seed, ladder.id, group)
        assert [first.id, second.id] == [match_id(ladder.id, group, rotation) for rotation in (0, 1)]
    assert len({match.seed for match in matches}) == 12


def test_to_find_nothing_missing_costs_the_same_however_many_rounds_there_are(db: Database) -> None:
    """A ladder that was played to its end is shown at once, not asked for every round of it."""
    asked = []
    for rounds in (3, 30):
        ladder = begin(db, "a", "b", rounds=rounds)
        play(db, ladder)
        statements: list[str] = []
        db.conn.set_trace_callback(statements.append)
        assert (
            store.ladders.plan(db, ladder, ["b", "a"], rounds)
            == store.ladders.plan(db, ladder, ["a", "b"], rounds - 1)
            == 0
        )
        store.ratings.leaderboard(db, ladder)
        store.evidence.of_ladder(db, ladder)
        db.conn.set_trace_callback(None)
        asked.append(len(statements))
    assert asked[0] == asked[1] > 0


def go_on_with_nothing(db: Database, ladder: store.Ladder, bots: Sequence[str], rounds: int) -> None:
    """All that a run asks of the database if it finds nothing to play."""
    assert store.ladders.counts(db, ladder).scheduled == 0
    assert store.ladders.awaited(db, ladder) == ()
    store.ratings.apply(db, ladder)
    assert store.ladders.plan(db, ladder, bots, rounds) == 0
    assert store.phases.next_phase(db, ladder) is None
    store.evidence.settle(db, ladder)
    assert store.cards.lacking(db) == 0
    store.ratings.keep_hash(db, ladder)
    show(db, ladder)


def show(db: Database, ladder: store.Ladder) -> None:
    """Read all that a leaderboard has."""
    rows = store.ratings.leaderboard(db, ladder)
    assert store.ratings.provisional(db, ladder) == []
    assert store.ladders.counts(db, ladder).done > 0
    store.evidence.find_settled(db, ladder)
    store.evidence.shares_now(db, ladder, [row.label for row in rows])
    store.ratings.waiting(db, ladder)


def steps_to_go_on(bots: str, rounds: int) -> tuple[int, int]:
    """How many steps SQLite makes for a run of these bots that finds nothing to play, and for the leaderboard."""
    with in_memory() as db:
        ladder = begin(db, *"abcd", rounds=rounds)
        play(db, ladder)
        assert store.ladders.counts(db, ladder).done == 12 * rounds
        store.evidence.settle(db, ladder)
        store.ratings.keep_hash(db, ladder)
        run = partial(go_on_with_nothing, db, ladder, bots, rounds)
        return steps(db, run), steps(db, partial(show, db, ladder))


@pytest.mark.parametrize("bots", ["abcd", "abc"])
def test_a_ladder_goes_on_and_is_shown_as_fast_with_more_matches(bots: str) -> None:
    """Counted in steps of SQLite, also without a bot that has played: a million matches are waited for no longer."""
    few, many = steps_to_go_on(bots, 10), steps_to_go_on(bots, 100)
    assert many[0] <= 1.1 * few[0]
    assert many[1] <= 1.1 * few[1]


def steps_without_a_retired_bot(rounds: int) -> int:
    """How many steps SQLite makes to plan nothing, after a bot was retired that had a group to play."""
    with in_memory() as db:
        ladder = begin(db, *"abcd", rounds=rounds)
        *most, last, _ = store.ladders.scheduled(db, ladder)
        store.matches.record(db, ladder, [finished(match) for match in most])
        gone, *_ = last.line_up
        assert store.retirement.retire(db, gone).dropped == 2
        rest = [version.label for version in store.bots.field(db, "dice")]
        taken = steps(db, lambda: store.ladders.plan(db, ladder, rest, rounds))
        assert store.ladders.counts(db, ladder).scheduled == 0
        assert store.ladders.plan(db, ladder, [*rest, gone], rounds) == 2
        return taken


def test_a_retired_bot_does_not_make_the_others_wait() -> None:
    """Its groups that were dropped are missing in no round of the rest, so these need not be looked through."""
    assert steps_without_a_retired_bot(100) <= 1.1 * steps_without_a_retired_bot(10)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 3, 4]))
def test_nothing_is_missing_exactly_if_no_round_lacks_a_group(chance: Random, seats: int) -> None:
    """Whatever was planned, ended early, dropped or annulled before: what is known of legs only saves the looking."""
    with in_memory() as db:
        bots = enter(db, *"abcdef"[: seats + 2])
        ladder = make(db, KEY._replace(seats=seats), seed="test")
        for _ in range(chance.randint(3, 12)):
            field, rounds = chance.sample(bots, chance.randint(seats, len(bots))), chance.randint(1, 3)
            (number,) = db.execute(f"SELECT {legs.NEXT_LEG.format(ladder='?')}", [ladder.id]).fetchone()
            lacks = list(missing(legs.basis(db, ladder, field, rounds, number)))
            assert store.ladders.plan(db, ladder, field, rounds) == len(lacks) * seats
            matches = list(store.ladders.scheduled(db, ladder))
            store.matches.record(db, ladder, [finished(match) for match in matches[: chance.choice([len(matches), 5])]])
            for label in chance.sample(bots, chance.choice([0, 1])):
                store.retirement.retire(db, label)
                store.retirement.reinstate(db, label)
            if chance.random() < 0.3 and (done := list(store.watching.latest_of(db, ladder, 3))):
                store.annulment.annul_match(db, done[-1].id, "unfair")
            if chance.random() < 0.3:
                store.ladders.end_leg(db, ladder)
            store.matches.record(db, ladder, [finished(match) for match in store.ladders.scheduled(db, ladder)])


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_counts_and_settled_matches_are_those_of_the_rows(chance: Random) -> None:
    """Matches that are done are never counted one by one, and are as many as if they were."""
    with in_memory() as db:
        ladder = begin(db, *"abcd", rounds=3)
        for _ in range(6):
            matches = list(store.ladders.scheduled(db, ladder, retry=True))
            for match in chance.sample(matches, len(matches) // 3):
                store.matches.record(db, ladder, void(match, 3) if chance.random() < 0.2 else [finished(match)])
            store.ratings.apply(db, ladder)
            if chance.random() < 0.3:
                store.retirement.retire(db, chance.choice("abcd"))
            if chance.random() < 0.3 and (done := list(store.watching.latest_of(db, ladder, 3))):
                store.annulment.annul_match(db, done[-1].id, "unfair")
            if chance.random() < 0.3:
                store.ladders.end_leg(db, ladder)
            rows = db.execute("SELECT status, count(*) FROM matches GROUP BY status").fetchall()
            assert store.ladders.counts(db, ladder) == store.records.Counts(**dict(rows))
            (rated,) = db.execute("SELECT count(*) FROM history").fetchone()
            assert evidence._rated(db, ladder) in (rated, 0)
            store.ratings.apply(db, ladder)
            (rated,) = db.execute("SELECT count(*) FROM history").fetchone()
            assert evidence._rated(db, ladder) == rated
            for bot in "abcd":
                store.retirement.reinstate(db, bot)
            store.ladders.plan(db, ladder, "abcd", 3)


def test_what_one_ladder_has_played_another_still_lacks(db: Database) -> None:
    """The same bots for as many rounds, in as many seats more."""
    play(db, begin(db, "a", "b", "c"))
    assert store.ladders.counts(db, begin(db, "a", "b", "c", seats=3)).scheduled == 6


def test_a_finished_schedule_adds_no_leg(db: Database) -> None:
    """Run again, a ladder that has played everything plays nothing; with more rounds it adds those."""
    ladder = begin(db, "a", "b", "c", rounds=2)
    play(db, ladder)
    assert store.ladders.plan(db, ladder, ["a", "b", "c"], 2) == 0
    assert store.ladders.plan(db, ladder, ["a", "b", "c"], 3) == 6
    assert store.matches.find(db, next(store.ladders.scheduled(db, ladder)).id).leg == 1


def test_an_unfinished_leg_comes_first(db: Database) -> None:
    """Legs follow each other in the order they were found missing, or two runs would end differently."""
    ladder = begin(db, "a", "b", "c")
    assert store.ladders.plan(db, ladder, ["a", "b", "c"], 50) == 0
    assert store.ladders.counts(db, ladder).scheduled == 6


def test_an_unplayable_match_finishes_its_leg(db: Database) -> None:
    """A machine's fault must not hold up the ladder for good."""
    ladder = begin(db, "a", "b")
    stuck, other = store.ladders.scheduled(db, ladder)
    store.matches.record(db, ladder, [*void(stuck, 3), finished(other)])
    assert store.ladders.plan(db, ladder, ["a", "b"], 2) == 2


def test_a_new_version_replaces_the_old_one_in_new_legs_only(db: Database) -> None:
    """What the old one has played stays; nothing is played without the new one."""
    ladder = begin(db, "a", "b", "c", rounds=2)
    play(db, ladder)
    store.bots.add(db, store.bots.NewBot("a", "better", games=["dice"], run=["bot"], origin="submitted"))
    assert store.ladders.plan(db, ladder, [version.label for version in store.bots.field(db, "dice")], 2) == 8
    assert all("a@2" in match.line_up and "a@1" not in match.line_up for match in store.ladders.scheduled(db, ladder))


def test_a_plan_with_a_stranger_is_refused_before_anything_is_stored(db: Database) -> None:
    """The same for a field too small for the seats."""
    ladder = make(db)
    enter(db, "a")
    with pytest.raises(store.NotFound, match="no bot 'nobody'"):
        store.ladders.plan(db, ladder, ["a", "nobody"], 1)
    with pytest.raises(TooFewBots, match="2 seats need 2 bots, the field has 1: a@1"):
        store.ladders.plan(db, ladder, ["a"], 1)
    assert store.ladders.counts(db, ladder) == store.records.Counts(0, 0, 0)


def test_matches_are_streamed_while_results_come_in(db: Database) -> None:
    """However long the ladder: each match once, in schedule order, over several pages."""
    ladder = begin(db, *"abcdefgh", rounds=10)
    planned = [match.id for match in store.ladders.scheduled(db, ladder)]
    played, batch = [], []
    for match in store.ladders.scheduled(db, ladder):
        played.append(match.id)
        batch.append(finished(match))
        if len(batch) == 50:
            store.matches.record(db, ladder, batch[::2])
            batch = []
    assert played == planned
    assert store.ladders.counts(db, ladder) == store.records.Counts(scheduled=285, done=275, unplayable=0)
    seqs = dict(db.execute("SELECT id, seq FROM matches").fetchall())
    assert [seqs[id] for id in played] == list(range(560))


def test_unplayable_matches_are_tried_again_on_request(db: Database) -> None:
    """With what was tried before, so that the machine's owner sees whether the fault was mended."""
    ladder = begin(db, "a", "b", "c")
    stuck = list(store.ladders.scheduled(db, ladder))[2]
    store.matches.record(db, ladder, void(stuck, 3))
    assert stuck.id not in [match.id for match in store.ladders.scheduled(db, ladder)]
    assert [match.attempts for match in store.ladders.scheduled(db, ladder, retry=True)] == [0, 0, 3, 0, 0, 0]


@pytest.mark.parametrize("seats", [2, 4])
def test_a_long_schedule_is_planned_quickly(db: Database, seats: int) -> None:
    """Some 10,000 matches; generous, for a busy machine: a second is usual for 50,000 of two seats."""
    begun = time.process_time()
    ladder = begin(db, *(f"bot{number}" for number in range(20)), seats=seats, rounds=26 if seats == 2 else 20)
    planned = store.ladders.counts(db, ladder).scheduled
    assert planned > 9000
    assert time.process_time() - begun < planned / 2500
