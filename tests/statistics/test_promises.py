"""The promises of the statistics, on fewer ladders than `python -m tests.statistics` takes; the seeds are fixed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from ladder.intervals import Evidence, GroupResult
from tests.statistics.promises import comparisons, coverage, crowd, equal_called_different, lopsided, order, shuffled
from tests.statistics.simulated import Size

pytestmark = pytest.mark.timeout(300)  # seconds of computing, on a machine that may be busy


@pytest.mark.parametrize(("size", "ladders"), [(Size(4, 2, 5), 150), (Size(5, 3, 1), 40)], ids=str)
def test_intervals_hold_the_truth(size: Size, ladders: int) -> None:
    """Neither too narrow, which would lie, nor too wide, which would waste matches."""
    for held in coverage(size, 2.0, ladders):
        assert 0.91 <= held <= 0.99


def test_intervals_of_pairs_that_one_bot_nearly_always_wins_are_narrow_and_hold_the_truth() -> None:
    """A few groups that all went one way say little about their spread: that of the whole ladder says more."""
    found = lopsided(Size(4, 2, 4), 3.0, 120)
    assert found.held >= 0.94
    assert found.width <= 0.38  # 0.41 with 3 groups of the usual spread, 0.47 with 1
    assert lopsided(Size(6, 2, 12), 4.0, 30).held >= 0.94  # less with 30


def test_intervals_hold_the_truth_where_a_second_round_has_begun() -> None:
    """Most pairs have met in one group, which shows no variance; the few that met in two tell what is usual."""
    found = coverage(Size(12, 2, 2), 2.0, 40, part=0.6)
    assert min(found.points, found.head_to_head, found.lead) >= 0.93


def test_one_round_of_many_bots_has_narrow_and_true_intervals() -> None:
    """No pair has met twice, but all that a bot's groups have in common tells how much one of them says."""
    found = crowd(Size(300, 2, 1), 2.0, 1)
    assert 0.93 <= found.held <= 0.97
    assert found.reach <= 0.06


@pytest.mark.parametrize(("size", "reach"), [(Size(30, 2, 1), 0.16), (Size(30, 4, 1), 0.14)], ids=str)
def test_one_round_of_a_class_has_true_intervals(size: Size, reach: float) -> None:
    """With more seats the pairs of a group are correlated, and some of them met more often than others."""
    found = crowd(size, 2.0, 6)
    assert 0.92 <= found.held <= 0.99
    assert found.reach <= reach


def test_a_bot_that_differs_from_all_others_has_an_interval_of_its_own() -> None:
    """Copies of one program share every group, which tells nothing of how lucky the few others are."""
    chance, copies, lucky = Random(1), [f"copy{number:02}" for number in range(40)], ["lucky0", "lucky1"]
    even, won, lost = ((0, 1), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (0, 1))
    groups = Counter[GroupResult]({(pair, even): 1 for pair in combinations(copies, 2)})
    groups.update(((copy, bot), chance.choice([won, lost])) for copy in copies for bot in lucky)
    found = Evidence(groups).score("lucky0")
    assert found is not None
    assert found.high - found.low > 2 * 1.96 * 0.5 / 40**0.5 * 0.85


@pytest.mark.parametrize("size", [Size(2, 2, 5), Size(4, 2, 1), Size(4, 2, 3), Size(8, 2, 2), Size(12, 2, 1)], ids=str)
def test_equal_bots_are_seldom_called_different(size: Size) -> None:
    """Also where there are so few groups that they may all have gone the same way."""
    assert equal_called_different(size, 200) <= 0.06


def test_the_order_of_bots_is_found() -> None:
    """And what is not marked with ~ can be relied on."""
    found = order(Size(5, 2, 20), 1.0, 8)
    assert found.live >= 0.95
    assert found.settled >= 0.95
    assert found.marked >= 0.97


def test_shuffling_moves_no_settled_rating() -> None:
    """To the last bit: the fit counts outcomes and never sees an order."""
    assert shuffled(Size(5, 2, 3), 2.0, 3) == 0.0
    assert shuffled(Size(5, 3, 1), 2.0, 1) == 0.0


def test_equal_bots_are_seldom_decided_however_often_one_looks() -> None:
    """An ordinary test at 5 %, looked at 300 times, would call every fourth or so different."""
    found = comparisons(0.0, 300, 100)
    assert found.wrong <= 0.05
    assert found.held >= 0.95


def test_a_better_bot_is_found() -> None:
    """In about as many groups as a test needs that may be looked at once."""
    found = comparisons(2.0, 2000, 30)
    assert found.decided == 1.0
    assert found.wrong == 0.0
    assert found.groups < 120
