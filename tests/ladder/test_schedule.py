"""The schedule: who meets whom, how often, and on which dice."""

from __future__ import annotations

import hmac
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from hashlib import sha256
from itertools import combinations, islice, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder.round_robin import GROUPS_PER_ROUND, LARGE, default_rounds, missing
from ladder.schedule import Basis, Group, Order, TooFewBots, canonical, ladder_id, match_id, match_seed, rotations

SEED = bytes(range(32))


def bots(count: int) -> list[str]:
    return [f"bot{number}@1" for number in range(count)]


def groups_of(field: Iterable[str], seats: int, rounds: int, there: Iterable[Group] = (), leg: int = 0) -> list[Group]:
    """What is missing when these groups are there."""
    by_round: dict[int, set[Order]] = defaultdict(set)
    for group in there:
        by_round[group.round].add(group.order)
    return list(missing(basis(field, seats, rounds)._replace(leg=leg, orders=by_round.__getitem__)))


def basis(field: Iterable[str], seats: int, rounds: int) -> Basis:
    """That of a first leg."""
    return Basis(list(field), seats, rounds, 0, SEED, orders=lambda _round: (), points=lambda _round: {})


def spread(counts: Collection[int]) -> int:
    return max(counts) - min(counts)


def meetings(groups: Iterable[Group], field: Iterable[str]) -> dict[tuple[str, str], int]:
    met = Counter(pair for group in groups for pair in combinations(sorted(group.order), 2))
    return {pair: met[pair] for pair in combinations(sorted(field), 2)}


def test_a_group_is_played_in_every_rotation() -> None:
    """So every bot sits in every seat on the same dice, with the same neighbours."""
    assert rotations(("a@1", "b@1", "c@1")) == (("a@1", "b@1", "c@1"), ("b@1", "c@1", "a@1"), ("c@1", "a@1", "b@1"))


@given(st.permutations(bots(5)))
def test_all_rotations_of_a_cycle_are_one_canonical_order(order: list[str]) -> None:
    """Else the same group could be scheduled twice under two names."""
    assert {canonical(rotated) for rotated in rotations(tuple(order))} == {canonical(tuple(order))}
    assert canonical(tuple(order))[0] == "bot0@1"


@pytest.mark.parametrize(
    ("field", "seats", "rounds"), [(2, 2, 150), (4, 2, 50), (64, 2, 3), (3, 3, 100), (7, 3, 9), (4, 4, 25), (5, 5, 5)]
)
def test_default_rounds_give_every_bot_the_same_number_of_matches(field: int, seats: int, rounds: int) -> None:
    """So a ladder of the default is a sitting, whatever the seats and however many have entered."""
    assert default_rounds(field, seats) == rounds
    played = Counter(bot for group in groups_of(bots(field), seats, 1) for bot in group.order)
    assert max(played.values()) * seats * rounds >= (300 if seats == 2 else 600)


def test_two_seats_every_pair_once_a_round() -> None:
    """A round robin, also of a field too large for every line-up of more seats."""
    groups = groups_of(bots(30), 2, 2)
    assert Counter(groups) == Counter(
        Group(number, pair) for number in (0, 1) for pair in combinations(sorted(bots(30)), 2)
    )


@pytest.mark.parametrize(("field", "seats", "each"), [(6, 3, 20), (5, 4, 24), (5, 5, 24), (3, 3, 2)])
def test_a_small_field_plays_every_cyclic_order(field: int, seats: int, each: int) -> None:
    """As long as that asks at most 24 groups of a bot in a round, nothing is left to a draw."""
    orders = [group.order for group in groups_of(bots(field), seats, 1)]
    assert set(orders) == {canonical(order) for order in permutations(bots(field), seats)}
    assert len(set(orders)) == len(orders)
    assert set(Counter(bot for order in orders for bot in order).values()) == {each}


@pytest.mark.parametrize(("field", "seats"), [(7, 3), (13, 3), (7, 4), (16, 4), (6, 5), (17, 5), (6, 6)])
def test_a_large_field_is_drawn_fairly(field: int, seats: int) -> None:
    """Nobody plays more than others, meets one opponent more than another, or sits behind one more than before it."""
    groups = groups_of(bots(field), seats, 4)
    for number in range(4):
        played = Counter(bot for group in groups if group.round == number for bot in group.order)
        assert min(played.values()) >= GROUPS_PER_ROUND
        assert max(played.values()) <= GROUPS_PER_ROUND + 3
    assert spread(meetings(groups, bots(field)).values()) <= 3
    follows = Counter((group.order[seat - 1], group.order[seat]) for group in groups for seat in range(seats))
    assert spread([follows[pair] for pair in permutations(bots(field), 2)]) <= 5
    assert len(set(groups)) == len(groups)
    assert all(group.order == canonical(group.order) for group in groups)


@pytest.mark.parametrize(("field", "seats"), [(LARGE + 1, 3), (LARGE + 40, 4), (LARGE + 1, 5)])
def test_a_field_of_hundreds_is_drawn_as_fairly(field: int, seats: int) -> None:
    """By a rule of its own, which takes as long for a group however many bots there are."""
    groups, played = groups_of(bots(field), seats, 3), Counter(dict.fromkeys(bots(field), 0))
    for number in range(3):
        in_round = Counter(bot for group in groups if group.round == number for bot in group.order)
        assert min(in_round[bot] for bot in bots(field)) >= GROUPS_PER_ROUND
        assert max(in_round.values()) <= GROUPS_PER_ROUND + 2
    for group in groups:
        played.update(group.order)
        if not played.total() % (20 * seats):
            assert spread(played.values()) <= 4
    assert spread(meetings(groups, bots(field)).values()) <= 3
    follows = Counter((group.order[seat - 1], group.order[seat]) for group in groups for seat in range(seats))
    assert max(follows.values()) <= 2
    assert len(set(groups)) == len(groups)
    assert all(group.order == canonical(group.order) for group in groups)
    assert groups_of(bots(field), seats, 3, there=groups) == []


@pytest.mark.parametrize("seats", [3, 4])
def test_who_enters_a_field_of_hundreds_meets_all_equally(seats: int) -> None:
    """Two that come at the same time share few groups, and everybody else plays no more than they need."""
    field, new = bots(LARGE + 1), ("x@1", "y@1")
    there = groups_of(field, seats, 3)
    leg = groups_of([*field, "x@1"], seats, 3, there=there)
    assert len(leg) == 3 * GROUPS_PER_ROUND
    assert all("x@1" in group.order for group in leg)
    assert spread([count for pair, count in meetings(leg, [*field, "x@1"]).items() if "x@1" in pair]) <= 2
    met = meetings(groups_of([*field, *new], seats, 3, there=there), [*field, *new])
    with_old = [count for pair, count in met.items() if len({*pair} & {*new}) == 1]
    assert spread(with_old) <= 3
    assert min(with_old) <= met[new] <= 2 * max(with_old)


def test_a_group_of_a_large_field_costs_as_much_as_any_other() -> None:
    """Planning grows with the matches, not with the square of the field: 30 s for 500 bots at a table of four."""

    def seconds(field: int) -> float:
        groups, begun = missing(basis(bots(field), 4, 1)), time.process_time()
        assert len(list(islice(groups, 1200))) == 1200
        return time.process_time() - begun

    small, large = (min(seconds(field) for _ in range(3)) for field in (250, 2000))
    assert large < 3 * small


@pytest.mark.parametrize(("field", "seats"), [(9, 2), (5, 3), (12, 3), (16, 4)])
def test_nothing_is_missing_twice(field: int, seats: int) -> None:
    """Running a finished ladder again plays nothing."""
    assert groups_of(bots(field), seats, 3, there=groups_of(bots(field), seats, 3)) == []


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_more_rounds_only_add(seats: int) -> None:
    """Two runs of two rounds are the four rounds that one run would have played."""
    first = groups_of(bots(9), seats, 2)
    assert {*first, *groups_of(bots(9), seats, 4, there=first)} == set(groups_of(bots(9), seats, 4))


@pytest.mark.parametrize(("field", "seats"), [(9, 2), (5, 3), (12, 3), (20, 4)])
def test_a_new_bot_gets_groups_of_its_own(field: int, seats: int) -> None:
    """Everybody else's matches are played already: its leg holds none without it, and meets all equally."""
    there = groups_of(bots(field), seats, 3)
    leg = groups_of([*bots(field), "new@1"], seats, 3, there=there)
    assert leg
    assert all("new@1" in group.order for group in leg)
    assert spread([count for pair, count in meetings(leg, [*bots(field), "new@1"]).items() if "new@1" in pair]) <= 2


def test_two_new_bots_share_few_of_their_groups() -> None:
    """Both need groups; sharing them all would leave them strangers to the field, and to each other if none."""
    field, new = bots(16), ("x@1", "y@1")
    met = meetings(groups_of([*field, *new], 4, 4, there=groups_of(field, 4, 4)), [*field, *new])
    with_old = [count for pair, count in met.items() if len({*pair} & {*new}) == 1]
    assert spread(with_old) <= 3
    assert min(with_old) <= met[new] <= 2 * max(with_old)


@pytest.mark.parametrize(("field", "seats"), [(2, 2), (9, 2), (12, 2), (5, 3), (5, 4), (16, 3), (12, 4)])
def test_bots_are_even_wherever_a_round_ends(field: int, seats: int) -> None:
    """A ladder that ends in the middle of a round was fair to everybody, to within a few groups."""
    played = Counter(dict.fromkeys(bots(field), 0))
    for group in groups_of(bots(field), seats, 3):
        played.update(group.order)
        assert spread(played.values()) <= (2 if seats == 2 else 3)


@pytest.mark.parametrize(("field", "seats", "groups"), [(20, 2, 10), (10, 2, 1), (12, 3, 4), (5, 4, 2)])
def test_bots_are_even_over_many_short_legs(field: int, seats: int, groups: int) -> None:
    """A leg goes on in a round where the one before it was ended."""
    there: list[Group] = []
    played = Counter(dict.fromkeys(bots(field), 0))
    for leg in range(40):
        new = groups_of(bots(field), seats, 20 if field < 11 else 3, there, leg)[:groups]
        there += new
        played.update(bot for group in new for bot in group.order)
        assert spread(played.values()) <= (2 if seats == 2 else 4)


def test_rounds_are_outermost_and_mixed_inside() -> None:
    """A ladder that is stopped has every pair equally often, and online ratings need a mixed order."""
    groups = groups_of(bots(12), 2, 3)
    assert [group.round for group in groups] == sorted(group.round for group in groups)
    orders = [[group.order for group in groups if group.round == number] for number in range(3)]
    assert orders[0] != orders[1] != sorted(orders[1])


def test_the_schedule_is_the_same_everywhere() -> None:
    """Golden: another Python, machine or order of the field must not change a ladder that others have played."""
    older, two = (10, 3, False, 1, "a6fa038dee38a854"), (10, 2, True, 1, "9148cb2f8d0571fa")
    three, large = (10, 3, True, 2, "e61e80676bf92614"), (30, 3, True, 2, "2f865df8a90028bb")
    hundreds = (201, 3, True, 1, "315e8afd57e56fad"), (201, 3, True, 2, "9b10d6ab7595b9db")
    for field, seats, even, rule, golden in (older, two, three, large, *hundreds):
        drawn = missing(basis(reversed(bots(field)), seats, 2)._replace(leg=1, even=even, rule=rule))
        text = "\n".join(f"{group.round} {' '.join(group.order)}" for group in drawn)
        assert sha256(text.encode()).hexdigest()[:16] == golden


def test_the_schedule_depends_on_the_event_seed_and_the_leg() -> None:
    """Nobody can foresee the order of play who does not know the event seed."""
    others = list(missing(basis(bots(10), 3, 2)._replace(event_seed=bytes(32))))
    assert groups_of(bots(10), 3, 2) != others
    assert groups_of(bots(9), 3, 1, leg=0) != groups_of(bots(9), 3, 1, leg=1)


def test_an_endless_ladder_needs_no_more_memory_than_a_round() -> None:
    """The schedule is made while it is stored, so that its length does not matter."""
    assert len(list(islice(missing(basis(bots(4), 2, 10**12)), 100))) == 100


def test_too_few_bots_are_named() -> None:
    """One line says how many it takes and who is there."""
    with pytest.raises(TooFewBots, match="3 seats need 3 bots, the field has 2: bot0@1, bot1@1"):
        groups_of(["bot0@1", "bot1@1", "bot0@1"], 3, 1)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 5), st.integers(0, 6), st.integers(1, 2), st.integers(0, 100))
def test_a_leg_completes_whatever_is_there(seats: int, more: int, rounds: int, kept: int) -> None:
    """However a ladder was interrupted and its field has changed, the next leg leaves nothing missing."""
    there = groups_of(bots(seats + more), seats, rounds)[:kept]
    field = bots(seats + more + 1)[1:]
    leg = groups_of(field, seats, rounds, there=there)
    assert not set(leg) & set(there)
    assert groups_of(field, seats, rounds, there=[*there, *leg]) == []


def test_a_match_seed_is_of_its_group_and_ladder_alone() -> None:
    """Rotations share dice, nothing else does; the formula is published, so that anybody can re-check it."""
    group = Group(3, ("a@1", "b@2"))
    assert match_seed(SEED, "ladder", group) == hmac.new(SEED, b"ladder/3/a@1,b@2", "sha256").digest()


def test_match_ids_are_short_and_differ() -> None:
    """A person types them; every match of every ladder has its own."""
    groups = groups_of(bots(20), 2, 2)
    ids = {match_id(ladder, group, rotation) for ladder in "xy" for group in groups for rotation in (0, 1)}
    assert len(ids) == 2 * len(groups) * 2
    assert all(len(id) == 10 and id.isalnum() and id.islower() for id in ids if not id.isdigit())


def test_a_ladder_id_is_of_what_makes_results_comparable() -> None:
    """Two homes agree on it, whatever the order of options; a change of anything is another ladder."""
    base = ladder_id("dice", 2, {"a": 1, "b": 2}, {"limit": 1.0}, 1)
    assert base == ladder_id("dice", 2, {"b": 2, "a": 1}, {"limit": 1.0}, 1)
    others = {
        ladder_id("other", 2, {"a": 1, "b": 2}, {"limit": 1.0}, 1),
        ladder_id("dice", 3, {"a": 1, "b": 2}, {"limit": 1.0}, 1),
        ladder_id("dice", 2, {"a": 2, "b": 2}, {"limit": 1.0}, 1),
        ladder_id("dice", 2, {"a": 1, "b": 2}, {"limit": 2.0}, 1),
        ladder_id("dice", 2, {"a": 1, "b": 2}, {"limit": 1.0}, 2),
    }
    assert len(others - {base}) == 5
