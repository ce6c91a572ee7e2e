"""Legs that are stored piece by piece, as they are reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from hashlib import sha256
from itertools import chain
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from ladder import round_robin, store
from ladder.round_robin import missing
from ladder.schedule import canonical_json
from ladder.store import checks, legs
from ladder.store.database import in_memory
from tests.ladder.fakes import KEY, enter, finished, play


def make(db: Database, seats: int) -> store.Ladder:
    return store.ladders.find_or_make(db, KEY._replace(seats=seats), draw_probability=0.1, seed="test")


def stored(db: Database) -> list[Any]:
    """All that is planned, in the order of the schedule, and the legs."""
    matches = (
        "SELECT m.seq, m.id, m.rotation, g.round, g.leg, g.position, g.bots, g.again, hex(g.seed), g.id,"
        " m.status = 'dropped', g.absent FROM matches m JOIN groups g ON g.id = m.group_id ORDER BY m.seq"
    )
    legs = "SELECT leg, field, rounds, most, phased, even FROM legs ORDER BY leg"
    return list(chain(db.execute(matches), db.execute(legs)))


@pytest.mark.parametrize(
    ("seats", "sizes", "golden"),
    [
        (2, [*range(2, 14), 65, 200], "8fec1f3f65112a7f"),
        (3, [*range(3, 14), 65], "f0271f2a76cbbd48"),
        (4, [*range(4, 14), 33], "028ad3b5a6f53087"),
        (5, [*range(5, 14), 33], "a6575e1393f96366"),
    ],
)
def test_round_robins_of_up_to_200_bots_are_as_ever(seats: int, sizes: Iterable[int], golden: str) -> None:
    """Golden, of an arena that stored each leg at once: ids, seeds, line-ups, order and legs."""
    digest = sha256()
    for size in sizes:
        with in_memory() as db:
            ladder = make(db, seats)
            rounds = 1 if size > 20 else 2
            store.ladders.plan(db, ladder, enter(db, *(f"b{number}" for number in range(size))), rounds)
            digest.update(canonical_json(stored(db)).encode())
    assert digest.hexdigest()[:16] == golden


def in_pieces(db: Database, ladder: store.Ladder, field: Collection[str], rounds: int, chance: Random) -> None:
    """Store a leg in pieces; every now and then the run is killed, and the next one goes on."""
    leg = store.ladders.next_leg(db, ladder, field, rounds)
    while leg.more():
        checks.check_schedule(db, ladder)
        if chance.random() < 0.4:
            leg = store.ladders.next_leg(db, ladder, field, rounds)
        if chance.random() < 0.5:
            matches = list(store.ladders.scheduled(db, ladder))
            store.matches.record(db, ladder, [finished(match) for match in matches[: chance.randint(0, len(matches))]])


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 3, 4]), st.integers(1, 9), st.booleans())
def test_a_leg_is_the_same_wherever_its_pieces_end(chance: Random, seats: int, piece: int, is_large: bool) -> None:
    """Also if it was interrupted between them, after a leg of fewer bots, and by the rule for large fields."""
    with pytest.MonkeyPatch.context() as patch, in_memory() as whole, in_memory() as pieces:
        patch.setattr(legs, "PIECE", piece)
        if is_large:
            patch.setattr(round_robin, "LARGE", 6)
            patch.setattr(round_robin, "GROUPS_PER_ROUND", 3)
        names = "abcdefghi"[: chance.randint(seats + 1, 9)]
        for db, plan in ((whole, store.ladders.plan), (pieces, partial(in_pieces, chance=chance))):
            ladder, field = make(db, seats), enter(db, *names)
            for bots, rounds in ((field[1:], 1), (field, 2), (field, 3)):
                plan(db, ladder, bots, rounds)
                play(db, ladder)
        assert stored(whole) == stored(pieces)
        assert not pieces.execute("SELECT 1 FROM legs WHERE open").fetchall()
        checks.check_schedule(pieces, ladder)


@pytest.mark.parametrize("is_killed", [False, True])
def test_who_is_retired_meanwhile_has_no_more_matches(
    db: Database, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    """The order of the others' groups stays as it was planned, whether the same run goes on or the next one."""
    monkeypatch.setattr(legs, "PIECE", 2)
    ladder, field = make(db, 3), enter(db, *"abcde")
    leg = store.ladders.next_leg(db, ladder, field, 1)
    leg.more()
    store.retirement.retire(db, "c")
    if is_killed:
        leg = store.ladders.next_leg(db, ladder, [bot for bot in field if bot != "c@1"], 1)
    while leg.more(without=["c@1"]):
        pass
    checks.check_schedule(db, ladder)
    in_one, pieces = in_memory(), stored(db)
    with in_one as other:
        ladder = make(other, 3)
        store.ladders.plan(other, ladder, enter(other, *"abcde"), 1)
        store.retirement.retire(other, "c")
        assert stored(other) == pieces


def test_a_leg_for_others_ends_one_that_was_interrupted(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored of it is played first; a new bot does not wait for the rest."""
    monkeypatch.setattr(legs, "PIECE", 2)
    ladder, field = make(db, 2), enter(db, *"abcde")
    store.ladders.next_leg(db, ladder, field, 1).more()
    field += enter(db, "new")
    assert store.ladders.next_leg(db, ladder, field, 1).more() == 0
    play(db, ladder)
    assert store.ladders.plan(db, ladder, field, 1) == 30 - 4
    assert db.execute("SELECT leg, most, open FROM legs").fetchall() == [(0, 2, 0), (1, None, 0)]
    play(db, ladder)
    checks.check_schedule(db, ladder)


def test_a_leg_that_was_ended_is_gone_on_with_by_none(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with a budget leaves whole blocks; the next leg is shuffled anew, as ever."""
    monkeypatch.setattr(legs, "PIECE", 2)
    ladder, field = make(db, 2), enter(db, *"abcde")
    store.ladders.next_leg(db, ladder, field, 1).more()
    store.matches.record(db, ladder, [finished(match) for match in list(store.ladders.scheduled(db, ladder))[:2]])
    assert store.ladders.end_leg(db, ladder) == 2
    assert store.ladders.plan(db, ladder, field, 1) == 20 - 2
    assert db.execute("SELECT leg, most, open FROM legs").fetchall() == [(0, 1, 0), (1, None, 0)]


def test_another_ladder_may_come_between_two_pieces(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of groups are one row for all ladders of a home."""
    monkeypatch.setattr(legs, "PIECE", 2)
    one, other, field = make(db, 2), make(db, 3), enter(db, *"abcd")
    store.ladders.next_leg(db, one, field, 2).more()
    store.ladders.plan(db, other, field, 1)
    assert store.ladders.plan(db, one, field, 2) == 24 - 4
    for ladder in (one, other):
        checks.check_schedule(db, ladder)


@pytest.mark.parametrize("most", [7, 10, 11])
def test_pieces_end_with_what_was_asked_for(db: Database, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A leg that lacks nothing more has no end of its own, unless it was asked for just that many."""
    monkeypatch.setattr(legs, "PIECE", 5)
    ladder, field = make(db, 2), enter(db, *"abcde")
    assert store.ladders.plan(db, ladder, field, 1, most) == 2 * min(most, 10)
    assert db.execute("SELECT most, open FROM legs").fetchall() == [(None if most > 10 else most, 0)]


def test_old_legs_of_large_fields_are_checked_by_their_rule(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule for large fields came later; no leg may claim another than its own, nor go back to an older one."""
    monkeypatch.setattr(legs, "NEWEST_RULE", 1)
    monkeypatch.setattr(round_robin, "LARGE", 8)
    ladder, field = make(db, 3), enter(db, *"abcdefghij")
    on = legs.basis(db, ladder, field, 1, 0)
    old, new = (list(missing(on._replace(rule=rule))) for rule in (1, 2))
    assert old != new
    for rule in (1, 2):
        monkeypatch.setattr(legs, "NEWEST_RULE", rule)
        store.ladders.plan(db, ladder, field, rule)
        play(db, ladder)
    checks.check_schedule(db, ladder)
    db.execute("UPDATE legs SET rule = 2 WHERE leg = 0")
    with pytest.raises(checks.Mismatch, match="leg 0, group"):
        checks.check_schedule(db, ladder)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 3, 4]))
def test_how_much_is_lacking_is_known_without_planning_it(chance: Random, seats: int) -> None:
    """Exactly where every order is played, whatever was played before with others."""
    with in_memory() as db:
        bots = enter(db, *("abcdefghijkl" if seats == 2 else "abcdef" if seats == 3 else "abcde"))
        ladder = make(db, seats)
        for _ in range(3):
            field, rounds = chance.sample(bots, chance.randint(seats, len(bots))), chance.randint(1, 3)
            lacking = store.ladders.lacking(db, ladder, field, rounds)
            planned = store.ladders.plan(db, ladder, field, rounds)
            load = Counter(store.ladders.to_play(db, ladder))
            assert lacking.groups * seats == planned
            assert {bot: seats * groups for bot, groups in lacking.by_bot.items() if groups} == load
            play(db, ladder)


def test_how_much_a_draw_lacks_is_about_known(db: Database) -> None:
    """Each bot is in 24 groups a round, and who has played sits with those who have not."""
    ladder, field = make(db, 4), enter(db, *(f"b{number}" for number in range(20)))
    for bots, rounds, about in ((field[:-1], 2, 912), (field, 2, 192), (field, 3, 480)):
        lacking = store.ladders.lacking(db, ladder, bots, rounds).groups * 4
        assert lacking == pytest.approx(about, abs=4)
        assert store.ladders.plan(db, ladder, bots, rounds) == pytest.approx(lacking, rel=0.02)
        play(db, ladder)
