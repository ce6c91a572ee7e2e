"""Errors by groups: what they are of, and what they must never say."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladder.intervals import Evidence, GroupResult
from ladder.points import points
from ladder.student import quantile, wilson
from tests.statistics.simulated import Size
from tests.statistics.simulated import play as simulate


def two(one: str, other: str, first: tuple[int, int], second: tuple[int, int]) -> GroupResult:
    """A group of two, by the ranks of its two matches as the first bot would list them."""
    return ((one, other), (first, (second[1], second[0])))


WON = (0, 1)
LOST = (1, 0)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=5))
def test_points_are_shared_out(places: list[int]) -> None:
    """Half of all there are, whatever the ties, and more for a better place."""
    ranks = tuple([sum(other < own for other in places) for own in places])
    got = points(ranks)
    assert sum(got) == pytest.approx(len(ranks) / 2)
    assert all((got[a] > got[b]) == (ranks[a] < ranks[b]) for a in range(len(ranks)) for b in range(len(ranks)))


def test_points_of_two_are_wins_and_half_the_ties() -> None:
    """As in every league."""
    assert (points(WON), points((0, 0)), points((0, 1, 1))) == ((1, 0), (0.5, 0.5), (1, 0.25, 0.25))


def test_bots_that_never_met_are_not_told_apart() -> None:
    """However clearly each of them stands against a third."""
    evidence = Evidence({two("a", "b", WON, WON): 50, two("b", "c", WON, WON): 50})
    assert (evidence.lead("a", "c"), evidence.above("a", "c"), evidence.head_to_head("a", "c")) == (None, None, None)
    assert not evidence.in_order("a", "c")
    assert evidence.in_order("a", "b")
    assert not evidence.in_order("b", "a")


@pytest.mark.parametrize("groups", [1, 2])
def test_two_groups_that_ended_alike_prove_nothing(groups: int) -> None:
    """They do not differ, and yet what they say is not certain."""
    evidence = Evidence({two("a", "b", WON, WON): groups})
    assert not evidence.in_order("a", "b")
    found = evidence.head_to_head("a", "b")
    assert found is not None
    assert found.low < 0.6 < 1.0 == pytest.approx(found.high)


def test_no_group_says_more_than_fifty_matches() -> None:
    """Groups that all end alike are no proof that the next one will, however many there were."""
    found = Evidence({two("a", "b", WON, LOST): 400}).head_to_head("a", "b")
    assert found is not None
    assert found[1:3] == pytest.approx(wilson(0.5, 400 * 50, quantile(400 - 1)), abs=1e-5)


def test_both_sides_of_a_pair_say_the_same() -> None:
    """Whose row it is in changes nothing."""
    evidence = Evidence({two("a", "b", WON, LOST): 7, two("a", "b", WON, WON): 4, two("b", "a", (0, 0), WON): 2})
    one, other = evidence.head_to_head("a", "b"), evidence.head_to_head("b", "a")
    assert one is not None
    assert other is not None
    assert (one.mean, one.low, one.high) == pytest.approx((1 - other.mean, 1 - other.high, 1 - other.low))
    above, below = evidence.above("a", "b"), evidence.above("b", "a")
    assert above is not None
    assert below is not None
    assert above + below == pytest.approx(1.0)


def test_places_are_probabilities() -> None:
    """Of every bot over places, and of every place over bots; the strong bot is first and the twins share."""
    played = simulate(Size(4, 3, 2), [4.0, 0.0, 0.0, -4.0], Random(1))
    evidence = played.evidence()
    places = evidence.places(evidence.bots, evidence.bots)
    for row in (*places.values(), *zip(*places.values(), strict=True)):
        assert sum(row) == pytest.approx(1.0)
    assert places["bot000@1"][0] > 0.95
    assert 0.05 < places["bot001@1"][1] < 0.95
    assert places == evidence.places(evidence.bots, evidence.bots)


def test_dice_that_decide_everything_are_saved_whole() -> None:
    """If the seat always wins, every group is split evenly: its dice are no luck between the two bots."""
    evidence = Evidence({two("a", "b", WON, LOST): 30, two("a", "b", LOST, WON): 30})
    assert evidence.saved() == 1.0
    assert [seat.mean for seat in evidence.seats()] == [0.5, 0.5]


def test_dice_of_their_own_save_nothing() -> None:
    """Matches of a group that have nothing to do with each other are as good as any."""
    split = {two("a", "b", first, second): 25 for first in (WON, LOST) for second in (WON, LOST)}
    assert Evidence(split).saved() == pytest.approx(0.0, abs=0.02)
    assert Evidence({two("a", "b", WON, WON): 9}).saved() is None


def test_a_seat_that_always_wins_is_seen() -> None:
    """In every group each bot has it once, so it says nothing of the bots."""
    group = (("a", "b", "c"), ((0, 1, 2),) * 3)
    evidence = Evidence(Counter([group] * 5))
    assert [seat.mean for seat in evidence.seats()] == [1.0, 0.5, 0.0]
    scores = [evidence.score(bot) for bot in "ab"]
    assert scores[0] == pytest.approx(scores[1])


def test_an_interval_ends_where_a_share_does() -> None:
    """Not a last bit beyond it: a share below 0 is drawn outside of its plot, and read as an error."""
    for trials in range(1, 2000):
        assert 0 <= wilson(0, trials, 1.96)[0] < wilson(1, trials, 1.96)[1] <= 1
