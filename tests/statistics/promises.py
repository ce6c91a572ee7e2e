"""What the statistics promise, measured on simulated ladders and comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice, pairwise
from random import Random
from statistics import fmean
from typing import NamedTuple

from ladder.sequential import SequentialTest
from ladder.settled import fit
from ladder.shares import Estimate
from tests.statistics.simulated import DRAWS, Played, Size, label, play, shares


class Coverage(NamedTuple):
    """How often 95 % intervals held the truth, by what they are of."""

    points: float
    head_to_head: float
    lead: float
    seat: float


def coverage(size: Size, spread: float, ladders: int, *, part: float = 1.0) -> Coverage:
    """Over ladders of bots whose strengths are drawn with this standard deviation, of which a part is played."""
    held: dict[str, Counter[bool]] = {name: Counter() for name in Coverage._fields}
    for whole in _ladders(size, spread, ladders):
        played = whole._replace(groups=whole.groups[: round(part * len(whole.groups))])
        for name, estimate, truth in _estimates(played):
            held[name][estimate.low <= truth <= estimate.high] += 1
    return Coverage(*(counts[True] / counts.total() for counts in held.values()))


def _ladders(size: Size, spread: float, ladders: int) -> Iterator[Played]:
    chance = Random(f"{size} {spread}")
    for _ in range(ladders):
        yield play(size, [chance.gauss(0, spread) for _ in range(size.bots)], chance)


def _estimates(played: Played) -> Iterator[tuple[str, Estimate, float]]:
    evidence, bots = played.evidence(), range(played.size.bots)
    for bot in bots:
        estimate = evidence.score(label(bot))
        assert estimate is not None
        yield "points", estimate, played.score(bot)
    for one, other in combinations(bots, 2):
        head_to_head, lead = (ask(label(one), label(other)) for ask in (evidence.head_to_head, evidence.lead))
        assert head_to_head is not None
        assert lead is not None
        yield "head_to_head", head_to_head, played.share(one, other)
        yield "lead", lead, played.lead(one, other)
    for estimate, truth in zip(evidence.seats(), played.seats(), strict=True):
        yield "seat", estimate, truth


class Crowd(NamedTuple):
    """Points of the bots of a large field."""

    held: float
    """How often their intervals held the truth."""
    reach: float
    """How far the widest interval reaches to each side, on average."""


def crowd(size: Size, spread: float, ladders: int) -> Crowd:
    """Over ladders of bots whose strengths are drawn with this standard deviation, in steps, as there are many gaps."""
    chance, held, widest = Random(f"crowd {size} {spread}"), Counter[bool](), []
    for _ in range(ladders):
        played = play(size, [round(8 * chance.gauss(0, spread)) / 8 for _ in range(size.bots)], chance)
        evidence = played.evidence()
        estimates = [estimate for bot in range(size.bots) if (estimate := evidence.score(label(bot))) is not None]
        held.update(each.low <= played.score(bot) <= each.high for bot, each in enumerate(estimates))
        widest.append(max(each.high - each.low for each in estimates) / 2)
    return Crowd(held[True] / (size.bots * ladders), fmean(widest))


class Lopsided(NamedTuple):
    """Intervals of pairs of which one bot takes more than nine tenths of the points."""

    held: float
    """How often they held the truth."""
    width: float
    """Their mean width."""


def lopsided(size: Size, spread: float, ladders: int) -> Lopsided:
    """Over ladders of bots whose strengths are drawn with this standard deviation."""
    intervals = [
        (estimate, truth)
        for played in _ladders(size, spread, ladders)
        for name, estimate, truth in _estimates(played)
        if name == "head_to_head" and not 0.1 < truth < 0.9
    ]
    held = fmean(estimate.low <= truth <= estimate.high for estimate, truth in intervals)
    return Lopsided(held, fmean(estimate.high - estimate.low for estimate, _ in intervals))


def equal_called_different(size: Size, ladders: int) -> float:
    """How often two bots that are equal in truth are not marked as such, whichever of them is above."""
    called = Counter[bool]()
    for played in _ladders(size, 0.0, ladders):
        evidence = played.evidence()
        for one, other in combinations(evidence.bots, 2):
            called[evidence.in_order(one, other) or evidence.in_order(other, one)] += 1
    return called[True] / called.total()


class Order(NamedTuple):
    """How often pairs are the right way round: by live rating, by settled rating, and neighbours without a ~."""

    live: float
    settled: float
    marked: float


def order(size: Size, step: float, ladders: int) -> Order:
    """Over ladders of bots each of which is a step better than the next."""
    chance = Random(f"order {size} {step}")
    found: dict[str, Counter[bool]] = {name: Counter() for name in Order._fields}
    for _ in range(ladders):
        played = play(size, [-step * bot for bot in range(size.bots)], chance)
        evidence, live, settled = played.evidence(), played.live(), fit(Counter(played.outcomes()), DRAWS)
        for better, worse in combinations(map(label, range(size.bots)), 2):
            found["live"][live[better].shown > live[worse].shown] += 1
            found["settled"][settled[better].mu > settled[worse].mu] += 1
        board = sorted(live, key=lambda bot: -live[bot].shown)
        found["marked"].update(one < other for one, other in pairwise(board) if evidence.in_order(one, other))
    return Order(*(counts[True] / max(1, counts.total()) for counts in found.values()))


def shuffled(size: Size, spread: float, ladders: int) -> float:
    """By how much shuffling the results moves a centred settled mu at most."""
    chance, most = Random(1), 0.0
    for played in _ladders(size, spread, ladders):
        outcomes = played.outcomes()
        fits = [fit(Counter(chance.sample(outcomes, len(outcomes))), DRAWS) for _ in range(2)]
        most = max([most, *(abs(fits[0][bot].mu - fits[1][bot].mu) for bot in fits[0])])
    return most


class Comparisons(NamedTuple):
    """How often comparisons decide, decide wrongly and hold the true share to the end; groups they took on average."""

    decided: float
    wrong: float
    held: float
    groups: float


def comparisons(gap: float, budget: int, times: int) -> Comparisons:
    """Comparisons of a bot with one so much weaker, looked at after every group."""
    chance = Random(f"compare {gap}")
    truth = Played(Size(2, 2, 1), (gap, 0.0), []).share(0, 1)
    ended = [_compared(gap, budget, chance) for _ in range(times)]
    return Comparisons(
        fmean(test.decided for test in ended),
        fmean(test.decided and (gap == 0 or (test.mean > 0.5) != (gap > 0)) for test in ended),
        fmean(test.interval[0] <= truth <= test.interval[1] for test in ended),
        fmean(test.count for test in ended),
    )


def _compared(gap: float, budget: int, chance: Random) -> SequentialTest:
    test = SequentialTest()
    for share in islice(shares(gap, chance), budget):
        test.add(share)
        if test.decided:
            break
    return test
