"""The test that may be looked at after every value; how often it errs is in tests/statistics."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from ladder.sequential import SequentialTest


def after(values: Iterable[float]) -> SequentialTest:
    test = SequentialTest()
    for value in values:
        test.add(value)
    return test


def test_nothing_is_known_at_first() -> None:
    """A group or two decide nothing, even if they are as clear as can be."""
    assert (SequentialTest().mean, SequentialTest().interval, SequentialTest().decided) == (0.5, (0.0, 1.0), False)
    assert not after([1.0] * 8).decided, "with equal bots that is not rare enough for an error in twenty tests"
    assert after([1.0] * 10).decided


@pytest.mark.parametrize("mean", [0.3, 0.55, 0.9])
def test_the_interval_holds_the_mean_and_narrows(mean: float) -> None:
    """And it leaves a half out exactly when the test decides."""
    chance = Random(1)
    test, widths = SequentialTest(), []
    for number in range(1, 2001):
        test.add(float(chance.random() < mean))
        if number % 100 == 0:
            low, high = test.interval
            assert low <= test.mean <= high
            assert test.decided == (not low <= 0.5 <= high)
            widths.append(high - low)
    assert widths[-1] < widths[0] / 3


def test_both_sides_are_treated_alike() -> None:
    """Who is named first changes nothing, nor does the order of the values."""
    values = [1.0, 0.5, 1.0, 0.75, 0.0] * 20
    one, other = after(values), after(1 - value for value in reversed(values))
    assert one.interval == pytest.approx([1 - end for end in reversed(other.interval)], abs=2e-4)
    assert one.decided == other.decided


def test_the_outlook_is_about_right() -> None:
    """So many more values, of bots so far apart, do decide."""
    test = after([0.0, 0.5, 0.5, 1.0] * 25)
    more = test.still(0.05)
    for value in [0.1, 0.55, 0.55, 1.0] * (more // 4 + 1):
        assert not test.decided or test.count > 0.7 * (100 + more)
        test.add(value)
    assert test.decided or test.still(0.05) < more / 2
    assert test.still(0.01) > more


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0, 0.5, 1.0], [1.0, 1.0, 0.5, 0.0], [0.5], [1.0], [0.0, 1.0] * 50])
def test_there_is_an_outlook_whoever_leads(values: list[float]) -> None:
    """Also for a bot that is behind so far, and values at either end: they cannot all be moved alike."""
    test = after(values)
    outlooks = [test.still(difference) for difference in (0.1, 0.01, 0.001, 0.0005)]
    assert outlooks == sorted(outlooks)
    assert 0 < outlooks[1] < 10_000_000


def looked_at(test: SequentialTest, mean: float, chance: Random, most: int) -> SequentialTest:
    """Add values of 0 and 1 with this mean until the test ends."""
    while test.count < most and not (test.decided or test.alike):
        test.add(float(chance.random() < mean))
    return test


@pytest.mark.long
@pytest.mark.parametrize(("mean", "wrong"), [(0.6, "alike"), (0.4, "alike"), (0.5, "decided")])
def test_errors_are_as_rare_as_was_asked(mean: float, wrong: str) -> None:
    """At 20 % for both, of 200 tests no more than that go wrong, and many do: a bound that never binds is of no use."""
    chance = Random(mean)
    ended = [looked_at(SequentialTest(0.2, 0.1, 0.2), mean, chance, 2000) for _ in range(200)]
    assert all(test.decided or test.alike for test in ended)
    assert 2 <= sum(bool(getattr(test, wrong)) for test in ended) <= 40


def test_more_certainty_takes_longer() -> None:
    """And a smaller difference does; without one, equal bots are never found alike."""
    counts = [
        looked_at(SequentialTest(alpha, difference, beta), 0.5, Random(3), 20_000).count
        for alpha, difference, beta in [(0.05, 0.1, 0.1), (0.05, 0.1, 0.001), (0.05, 0.03, 0.001), (0.05, None, 0.1)]
    ]
    assert counts == sorted(counts)
    assert len({*counts}) == 4
    assert counts[-1] == 20_000
    assert SequentialTest(0.001).interval == (0.0, 1.0)
    values = [1.0, 0.5] * 20
    assert after(values).interval[0] > narrowed(values, 0.001)[0]


def narrowed(values: Iterable[float], alpha: float) -> tuple[float, float]:
    """The interval of a test with this alpha."""
    test = SequentialTest(alpha)
    for value in values:
        test.add(value)
    return test.interval
