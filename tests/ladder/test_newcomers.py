"""Newcomers first: what bots that come late play before everybody else goes on."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import pytest
from sqlite_utils import Database

from ladder import newcomers, store
from ladder.schedule import canonical
from ladder.store import checks, legs
from tests.ladder.fakes import KEY, enter, play

OLD = [f"old{number:02}" for number in range(12)]
NEW = ["new0", "new1"]


def begun(db: Database, seats: int) -> tuple[store.Ladder, list[str]]:
    """A ladder in which some groups of the old bots' first round were played, and the labels of all bots."""
    ladder = store.ladders.find_or_make(db, KEY._replace(seats=seats), draw_probability=0.1, seed="test")
    field = enter(db, *OLD, *NEW)
    store.ladders.plan(db, ladder, field[:-2], 1, most=20)
    play(db, ladder)
    return ladder, field


def groups(db: Database, leg: int) -> list[tuple[int, tuple[str, ...]]]:
    """The round and the bots of each group of a leg."""
    rows = db.execute("SELECT round, bots FROM groups WHERE leg = ? ORDER BY position", [leg])
    return [(number, tuple(json.loads(bots))) for number, bots in rows]


@pytest.mark.parametrize("count", [*range(10), 300])
def test_opponents_are_spread_over_the_board(count: int) -> None:
    """The best and the last are among them, and no two places between two of them differ by more than one."""
    chosen = newcomers.opponents(ranked := [str(place) for place in range(count)])
    assert len(chosen) == len(set(chosen)) == min(count, newcomers.OPPONENTS)
    places = list(map(ranked.index, chosen))
    assert places == sorted(places)
    assert places[:1] + places[-1:] == [0, count - 1] * bool(count)
    gaps = [after - before for before, after in pairwise(places)]
    assert not gaps or max(gaps) - min(gaps) <= 1


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_each_newcomer_plays_a_few_groups_with_its_opponents(db: Database, seats: int) -> None:
    """No two newcomers meet, none plays more than another, and whom they meet they meet about equally often."""
    ladder, field = begun(db, seats)
    assert store.ladders.newcomers(db, ladder, field) == sorted(field[-2:])
    leg = store.ladders.leg_of_newcomers(db, ladder, field, field[-2:])
    assert leg is not None
    assert leg.more() == 2 * newcomers.FIRST
    assert leg.is_whole
    for new in field[-2:]:
        own = [order for number, order in groups(db, 1) if new in order and number == 0]
        assert len(own) == len(set(own)) == newcomers.FIRST
        assert all(order == canonical(order) for order in own)
        met = Counter(bot for order in own for bot in order if bot != new)
        assert met.keys() <= {*field[:-2]}
        assert len(met) == newcomers.OPPONENTS
        assert max(met.values()) - min(met.values()) <= 2
    checks.check_schedule(db, ladder)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_what_newcomers_lack_then_comes_with_everybody_elses(db: Database, seats: int) -> None:
    """Nothing is played twice, all rounds become complete, and nobody is new any more."""
    ladder, field = begun(db, seats)
    leg = store.ladders.leg_of_newcomers(db, ladder, field, field[-2:])
    assert leg is not None
    leg.more()
    assert store.ladders.newcomers(db, ladder, field) == []
    assert store.ladders.plan(db, ladder, field, 1) == 0, "an earlier leg comes first"
    play(db, ladder)
    lacking = store.ladders.lacking(db, ladder, field, 1).groups * seats
    assert store.ladders.plan(db, ladder, field, 1) == pytest.approx(lacking, rel=0.05)
    play(db, ladder)
    assert store.ladders.plan(db, ladder, field, 1) == 0
    every = [group for leg in range(3) for group in groups(db, leg)]
    assert len(every) == len(set(every))
    each = Counter(bot for _, order in every for bot in order)
    assert len(each) == len(field)
    assert min(each.values()) >= ladder.pairing.groups_each(len(field), seats)
    checks.check_schedule(db, ladder)


def test_without_rated_bots_there_is_no_leg_of_newcomers(db: Database) -> None:
    """At the beginning of a ladder all are new, and play with each other."""
    ladder = store.ladders.find_or_make(db, KEY, draw_probability=0.1, seed="test")
    field = enter(db, *OLD)
    assert store.ladders.newcomers(db, ladder, field) == sorted(field)
    assert store.ladders.leg_of_newcomers(db, ladder, field, field) is None


def test_a_leg_of_newcomers_that_was_begun_is_gone_on_with_by_none(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is new still gets another; the next leg of the field is one of its own."""
    monkeypatch.setattr(legs, "PIECE", newcomers.FIRST)
    ladder, field = begun(db, 2)
    for new in sorted(field[-2:]):
        leg = store.ladders.leg_of_newcomers(db, ladder, field, store.ladders.newcomers(db, ladder, field))
        assert leg is not None
        assert leg.more() == newcomers.FIRST
        assert all(new in order for _, order in groups(db, 1 if new == "new0@1" else 2))
        play(db, ladder)
    assert store.ladders.newcomers(db, ladder, field) == []
    assert store.ladders.plan(db, ladder, field, 1) == 2 * (14 * 13 // 2 - 20 - 2 * newcomers.FIRST)
    checks.check_schedule(db, ladder)


@pytest.mark.parametrize("alteration", ["NULL", "'[\"new0@1\"]'", "'[\"old00@1\"]'"])
def test_who_was_new_cannot_be_altered(db: Database, alteration: str) -> None:
    """The groups of a leg follow from its newcomers."""
    ladder, field = begun(db, 2)
    leg = store.ladders.leg_of_newcomers(db, ladder, field, field[-2:])
    assert leg is not None
    leg.more()
    play(db, ladder)
    checks.check_schedule(db, ladder)
    db.execute(f"UPDATE legs SET newcomers = {alteration} WHERE leg = 1")
    with pytest.raises(checks.Mismatch, match="leg 1"):
        checks.check_schedule(db, ladder)


def test_a_newcomer_whose_matches_were_dropped_is_new_again(db: Database) -> None:
    """It plays the same groups on other dice."""
    ladder, field = begun(db, 2)
    for leg_number in (1, 2):
        leg = store.ladders.leg_of_newcomers(db, ladder, field[:-1], field[-2:-1])
        assert leg is not None
        assert leg.more() == newcomers.FIRST
        if leg_number == 1:
            store.retirement.retire(db, "new0")
            assert store.ladders.newcomers(db, ladder, field[:-1]) == field[-2:-1]
            db.execute("UPDATE versions SET retired = NULL")
    play(db, ladder)
    assert groups(db, 1) == groups(db, 2)
    checks.check_schedule(db, ladder)


def test_a_newcomer_that_is_banned_before_its_leg_is_stored_is_not_in_it(db: Database) -> None:
    """Though the leg was meant for it; the others play, and what is stored fits."""
    ladder, field = begun(db, 2)
    leg = store.ladders.leg_of_newcomers(db, ladder, field, field[-2:])
    assert leg is not None
    store.annulment.ban(db, "new0", "why", keep=True)
    assert leg.more() == newcomers.FIRST
    assert all("new1@1" in order for _, order in groups(db, 1))
    checks.check_schedule(db, ladder)
