"""The settled rating: TrueSkill's own answers, from all matches at once and in no order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from random import Random
from statistics import fmean

import pytest

from ladder import settled
from ladder.settled import PRIOR, GroupOutcome, SettledNormal, fit, outcome
from ladder.trueskill_ratings import NEW, Rating, rate

DRAWS = 0.1


def centred(ratings: dict[str, Rating]) -> dict[str, Rating]:
    middle = fmean(mu for mu, _ in ratings.values())
    return {label: Rating(mu - middle, sigma) for label, (mu, sigma) in ratings.items()}


def assert_close(found: dict[str, Rating], wanted: dict[str, Rating], within: float) -> None:
    assert found.keys() == wanted.keys()
    for label, rating in found.items():
        assert rating == pytest.approx(wanted[label], abs=within)


@pytest.mark.parametrize("ranks", [(0, 1), (0, 0), (0, 1, 2), (0, 0, 2), (0, 1, 1, 3), (0, 1, 2, 3, 4)])
def test_a_single_match_is_rated_as_trueskill_does(ranks: tuple[int, ...]) -> None:
    """Then there is nothing to pass over again; the library has its own code and is good to some digits."""
    labels = "abcde"[: len(ranks)]
    live = dict(zip(labels, rate([NEW] * len(ranks), ranks, DRAWS), strict=True))
    assert_close(fit({outcome(labels, ranks): 1}, DRAWS), centred(live), 0.02)


def by_the_library(matches: Sequence[GroupOutcome]) -> dict[str, Rating]:
    """TrueSkill Through Time with TrueSkill itself for every match, one after the other, none counted together."""
    skills = {label: SettledNormal(0.0, PRIOR.pi) for match in matches for label, _ in match}
    said = [[SettledNormal(0.0, 0.0)] * len(match) for match in matches]
    for _ in range(60):
        for match, messages in zip(matches, said, strict=True):
            cavities = [skills[label].times(told, -1) for (label, _), told in zip(match, messages, strict=True)]
            before = [Rating(tau / pi, pi**-0.5) for tau, pi in cavities]
            after = rate(before, [rank for _, rank in match], DRAWS)
            for seat, (label, _) in enumerate(match):
                skills[label] = SettledNormal(after[seat].mu / after[seat].sigma ** 2, after[seat].sigma ** -2)
                messages[seat] = skills[label].times(cavities[seat], -1)
    return centred({label: Rating(tau / pi, pi**-0.5) for label, (tau, pi) in skills.items()})


@pytest.mark.parametrize("seats", [2, 3])
def test_many_matches_are_as_by_passing_over_them_one_by_one(seats: int) -> None:
    """Counting equal outcomes, damping and passing over all at once are short cuts to the same place."""
    chance, bots = Random(seats), "abcd"
    matches = []
    for _ in range(24):
        labels = chance.sample(bots, seats)
        played = [chance.gauss(-3 * bots.index(label), 4) // 2 for label in labels]
        matches.append(outcome(labels, [sum(other > own for other in played) for own in played]))
    assert_close(fit(Counter(matches), DRAWS), by_the_library(matches), 0.03)


@pytest.mark.parametrize(
    "results",
    [
        {outcome("ab", (0, 1)): 100_000},
        {outcome("ab", (0, 1)): 10_000, outcome("ab", (1, 0)): 1},
        {outcome(pair, (0, 1)): 5_000 for pair in ("ab", "bc", "cd", "ad")},
        {outcome("abcde", (0, 1, 2, 3, 4)): 5_000},
    ],
    ids=["always", "nearly always", "chain", "five"],
)
def test_who_always_wins_is_far_ahead_and_no_further(results: dict[GroupOutcome, int]) -> None:
    """Certain results are where such fits run away or oscillate."""
    ratings = fit(results, DRAWS)
    mus = [ratings[label].mu for label in sorted(ratings)]
    assert mus == sorted(mus, reverse=True)
    assert all(abs(mu) < 100 and 0 < sigma < NEW.sigma for mu, sigma in ratings.values())


def without_a_win(bots: int, seed: int) -> Counter[GroupOutcome]:
    """A round robin of two, home and away, in which the first loses every match."""
    chance = Random(seed)
    strengths = [-1000.0, *(chance.gauss(0, 3) for _ in range(bots - 1))]
    labels = [f"bot{number:02}" for number in range(bots)]
    matches = Counter[GroupOutcome]()
    for one, other in permutations(range(bots), 2):
        wins = chance.gauss(strengths[one], 4) > chance.gauss(strengths[other], 4)
        matches[outcome([labels[one], labels[other]], [not wins, wins])] += 1
    return matches


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_bot_that_lost_every_match_settles(
    seed: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Then everybody else moves on together by less and less: without mixing, 500 passes are too few."""
    matches, passes = without_a_win(38, seed), list[int]()
    assert matches.total() == 1406
    ratings = fit(matches, DRAWS, lambda done, _: passes.append(done))
    assert len(passes) < 50
    monkeypatch.setattr(settled, "CLOSE_ENOUGH", 1e-10)
    assert_close(ratings, fit(matches, DRAWS), 1e-5)
    assert caplog.messages == []


def test_a_mixture_that_made_it_worse_is_forgotten() -> None:
    """Here, where all are tied by few and very uneven results, seven times as many passes would be needed with it."""
    often: set[GroupOutcome] = {
        (("f", 0), ("c", 1)), (("e", 0), ("b", 1)), (("e", 0), ("d", 1)), (("a", 0), ("c", 0)),
        (("b", 0), ("a", 1), ("d", 2)), (("a", 0), ("f", 1), ("d", 2)),
    }  # fmt: skip
    seldom: dict[GroupOutcome, int] = {(("c", 0), ("a", 1), ("b", 2)): 5, (("c", 0), ("f", 0), ("e", 1)): 1}
    passes: list[int] = []
    fit({**seldom, **dict.fromkeys(often, 100)}, 0.02, lambda done, _: passes.append(done))
    assert len(passes) < 100


@pytest.mark.parametrize(
    ("results", "ratings"),
    [
        (
            {outcome("dab", (0, 1, 2)): 1, outcome("ab", (0, 1)): 20, outcome("dc", (0, 1)): 1000},
            {
                "a": Rating(6.858867819, 4.1667789778),
                "b": Rating(-10.1931222477, 4.4534710685),
                "c": Rating(-11.165200669, 3.3877325506),
                "d": Rating(14.4994550977, 3.2518005182),
            },
        ),
        (
            {outcome("cab", (0, 1, 2)): 1010, outcome("ab", (0, 1)): 2000},
            {
                "a": Rating(0.6322378138, 1.6955080044),
                "b": Rating(-22.6512495333, 2.2824306228),
                "c": Rating(22.0190117195, 2.420270702),
            },
        ),
    ],
)
def test_a_method_goes_the_same_way_for_ever(results: dict[GroupOutcome, int], ratings: dict[str, Rating]) -> None:
    """Ratings that a home has of this method are compared to the last bit, and another way ends elsewhere."""
    assert settled.METHOD == "passes mixed", "another method has other ratings here"
    assert_close(fit(results, 0.0), ratings, 1e-8)


def test_results_that_plain_passes_swap_for_ever_settle(caplog: pytest.LogCaptureFixture) -> None:
    """Of 10,000 matches to an outcome a pass makes too much, however often."""
    fit({outcome("ab", (0, 1)): 10_000}, DRAWS)
    assert caplog.messages == []


def test_a_fit_that_does_not_settle_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Numbers that still move are not shown without a word of it."""
    monkeypatch.setattr(settled, "PASSES", 3)
    fit({outcome("ab", (0, 1)): 1}, DRAWS)
    assert [message.split(" by ")[0] for message in caplog.messages] == ["the settled ratings still move"]


def test_a_tie_where_ties_are_unheard_of_is_fitted() -> None:
    """A game may declare that ties do not happen and be wrong."""
    assert fit({outcome("ab", (0, 0)): 3}, 0.0)["a"].mu == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("errors", [13, 20, 30, 34, 36, 40, 100, 1e6])
def test_what_is_next_to_impossible_is_computed_to_half_a_percent(errors: float) -> None:
    """A bot may beat one that is ahead by far more than luck explains; then formulas divide nothing by nothing."""
    moved, shrunk = settled._beyond(-errors)
    assert moved == pytest.approx(errors + 1 / errors, rel=1e-4)
    assert 1 - shrunk == pytest.approx(errors**-2 * (1 - 6 / errors**2 + 50 / errors**4), rel=0.006)


def test_without_results_nobody_is_rated() -> None:
    """An empty ladder is no error."""
    assert fit({}, DRAWS) == {}
