"""TrueSkill: published numbers, an independent formula, and no trace of the seating."""

from __future__ import annotations

import subprocess
import sys
from math import inf, sqrt
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ladder import factor_graph, trueskill_ratings
from ladder.trueskill_ratings import NEW, Rating, rate

BETA = NEW.sigma / 2
UNIT = NormalDist()

ratings_ = st.builds(Rating, st.floats(5, 45), st.floats(0.5, 8.5))
seats_ = st.lists(st.tuples(ratings_, st.integers(0, 3)), min_size=2, max_size=5)


def two_players(winner: Rating, loser: Rating, margin: float, drawn: bool) -> tuple[Rating, Rating]:
    """Herbrich, Minka and Graepel (2006), the closed form: moments of a normal cut to what was seen."""
    c = sqrt(2 * BETA**2 + winner.sigma**2 + loser.sigma**2)
    t, e = (winner.mu - loser.mu) / c, margin / c
    low, high = (-e - t, e - t) if drawn else (e - t, inf)
    top = 0.0 if high == inf else UNIT.pdf(high)
    mass = UNIT.cdf(high) - UNIT.cdf(low)
    v = (UNIT.pdf(low) - top) / mass
    w = v**2 + ((0.0 if high == inf else high * top) - low * UNIT.pdf(low)) / mass

    def moved(rating: Rating, sign: int) -> Rating:
        pull = rating.sigma**2 / c
        return Rating(rating.mu + sign * pull * v, rating.sigma * sqrt(1 - pull / c * w))

    return moved(winner, 1), moved(loser, -1)


@pytest.mark.parametrize("drawn", [False, True], ids=["won", "drawn"])
@settings(max_examples=40, deadline=None)
@given(first=ratings_, second=ratings_)
def test_two_players_follow_the_closed_form(drawn: bool, first: Rating, second: Rating) -> None:
    """Written from the paper, not from the library: a wrong tau, beta or margin shows at once."""
    margin = UNIT.inv_cdf((0.1 + 1) / 2) * sqrt(2) * BETA
    expected = two_players(first, second, margin, drawn)
    for rating, wanted in zip(rate([first, second], [0, 0 if drawn else 1], 0.1), expected, strict=True):
        assert rating == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_ratings_are_those_of_the_library_to_the_last_bit(seats: int) -> None:
    """Its messages are written out, to be faster; one bit more or less would change the hash of every ladder.

    Some players lie so far apart that the digits do not suffice; then both must fail in the same way.
    """
    chance, failed = Random(seats), 0
    for number in range(1_500):
        spread, draw_probability = (1, 8, 30, 500)[number % 4], chance.choice((0.001, 0.1, 0.6))
        sigmas = [chance.choice((NEW.sigma, chance.uniform(0.05, 9))) for _ in range(seats)]
        players = [Rating(chance.gauss(25, spread), sigma) for sigma in sigmas]
        ranks = sorted(chance.choices(range(seats), k=seats))
        environment = trueskill_ratings.trueskill(draw_probability)
        try:
            expected = environment.rate([(environment.create_rating(*player),) for player in players], ranks)
        except (FloatingPointError, ValueError) as error:
            failed += 1
            with pytest.raises(type(error)):
                factor_graph.rate_ranks(players, ranks, environment)
        else:
            assert factor_graph.rate_ranks(players, ranks, environment) == [tuple(after) for (after,) in expected]
    assert failed


@pytest.mark.parametrize(
    ("ranks", "published"),
    [
        ([0, 1], [(29.396, 7.171), (20.604, 7.171)]),
        ([0, 0], [(25.000, 6.458), (25.000, 6.458)]),
        ([0, 1, 2], [(31.675, 6.656), (25.000, 6.208), (18.325, 6.656)]),
        ([0, 1, 2, 3, 4], [(34.363, 6.136), (29.058, 5.536), (25.000, 5.420), (20.942, 5.536), (15.637, 6.136)]),
    ],
)
def test_published_examples(ranks: list[int], published: list[tuple[float, float]]) -> None:
    """Newcomers only, where leaving out tau (0.083 beside 8.333) hardly shows."""
    for rating, wanted in zip(rate([NEW] * len(ranks), ranks, 0.1), published, strict=True):
        assert rating == pytest.approx(wanted, abs=0.003)


@settings(max_examples=40, deadline=None)
@given(seats_, st.randoms(use_true_random=False))
def test_seating_changes_nothing_to_the_last_bit(seats: list[tuple[Rating, int]], chance: object) -> None:
    """Ratings are signed by a hash, and ties of four or more would differ by who sat where."""
    order = list(range(len(seats)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    plain = rate([rating for rating, _ in seats], [rank for _, rank in seats], 0.1)
    mixed = rate([seats[seat][0] for seat in order], [seats[seat][1] for seat in order], 0.1)
    assert mixed == tuple(plain[seat] for seat in order)


def test_who_is_alike_stays_alike() -> None:
    """Three newcomers who share the first place must not leave it with three ratings."""
    first, second, third, last = rate([NEW] * 4, [0, 0, 0, 3], 0.1)
    assert first == second == third
    assert last.mu < NEW.mu < first.mu


@settings(max_examples=40, deadline=None)
@given(ratings_, ratings_)
def test_every_match_teaches_something(first: Rating, second: Rating) -> None:
    """With no room for drift uncertainty only shrinks: a ladder settles."""
    after = rate([first, second], [0, 1], 0.05)
    assert after[0].sigma < first.sigma
    assert after[1].sigma < second.sigma
    assert after[0].mu > first.mu


def test_a_tie_where_ties_are_unheard_of_is_rated() -> None:
    """A game may declare that ties do not happen and be wrong."""
    stronger, weaker = rate([Rating(30, 4), Rating(20, 4)], [0, 0], 0.0)
    assert 20 < weaker.mu < stronger.mu < 30


def test_the_shown_rating_is_almost_certain() -> None:
    """A newcomer begins at nought."""
    assert Rating(30, 2).shown == 24
    assert NEW.shown == 0


def test_slow_libraries_are_imported_where_they_are_used() -> None:
    """`arena --help` must not wait for them."""
    code = "import sys, ladder.store, ladder.trueskill_ratings; print({'trueskill', 'sqlite_utils'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"set()\n"
