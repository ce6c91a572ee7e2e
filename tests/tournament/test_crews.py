"""Which matches each worker is dealt, so that few bots are started."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from arena.referee.limits import Limits
from arena.tournament.crews import Crew, Crews
from arena.worker.jobs import Entrant, Task

ALL = 10_000
"""Room for any field here."""


def tasks(lineups: Sequence[Sequence[int]]) -> list[Task]:
    """Return a match for each line-up."""
    bots = [Entrant(f"bot{number}@1", f"digest {number}", ("bot",)) for number in range(1 + max(map(max, lineups)))]
    return [
        Task(f"{number}", "birth", {}, bytes(32), tuple(bots[bot] for bot in lineup), Limits())
        for number, lineup in enumerate(lineups)
    ]


def round_robin(bots: int, rounds: int) -> list[tuple[int, int]]:
    """Return the first matches of a round robin of two seats in the usual order: `rounds` times each bot once."""
    ring, found = list(range(bots)), []
    for _ in range(rounds):
        found += [(ring[place], ring[-1 - place]) for place in range(bots // 2)]
        ring.insert(1, ring.pop())
    return found


def deal(every: Sequence[Task], crews: Sequence[Crew]) -> tuple[list[list[Task]], int]:
    """Deal all matches to crews in turn; return those of each, and how many bots were started."""
    stock, starts = Crews(), 0
    dealt: list[list[Task]] = [[] for _ in crews]
    for crew in crews:
        stock.join(crew)
    for task in every:
        stock.add(task)
    while len(stock):
        for crew, own in zip(crews, dealt, strict=True):
            before = set(crew.bots)
            if (taken := stock.take(crew, may_grow=True)) is not None:
                own.append(taken)
                assert {entrant.digest for entrant in taken.lineup} <= crew.bots.keys()
            starts += len(crew.bots.keys() - before)
    return dealt, starts


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("most", [12, 40, ALL])
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_every_match_is_dealt_once_to_a_worker_that_has_its_bots(workers: int, most: int, seats: int) -> None:
    """Whoever meets whom, and however few bots a worker can keep; no crew is ever larger than that."""
    luck = random.Random(f"{workers} {most} {seats}")
    every = tasks([luck.sample(range(60), seats) for _ in range(800)])
    crews = [Crew(most) for _ in range(workers)]
    dealt, _ = deal(every, crews)
    assert sorted(task.id for own in dealt for task in own) == sorted(task.id for task in every)
    assert all(len(crew.bots) <= most for crew in crews)
    assert min(map(len, dealt)) > 0


def test_each_bot_of_a_large_field_is_started_about_once() -> None:
    """Two workers share no more of five hundred bots than they must, though each bot meets twenty others."""
    _, starts = deal(tasks(round_robin(500, 20)), [Crew(ALL), Crew(ALL)])
    assert starts < 1.25 * 500


def test_bots_that_do_not_fit_are_started_in_turn() -> None:
    """Where a worker can keep a fifth of the field, a bot is started a few times, not for each of its matches."""
    _, starts = deal(tasks(round_robin(200, 20)), [Crew(40)])
    assert starts < 4 * 200


def test_who_keeps_no_bots_of_others_gets_the_rest() -> None:
    """A worker that ends leaves its matches to the others, which then prefer none of its bots to another."""
    stock, gone, left = Crews(), Crew(), Crew()
    for crew in (gone, left):
        stock.join(crew)
    every = tasks([(0, 1), (2, 3)])
    for task in every:
        stock.add(task)
    first = stock.take(gone, may_grow=True)
    stock.leave(gone)
    assert first is not None
    stock.add(first)
    taken = [stock.take(left, may_grow=True) for _ in range(3)]
    assert sorted(task.id for task in taken if task is not None) == ["0", "1"]


def test_before_it_is_known_how_quick_bots_are_few_are_started() -> None:
    """A crew grows no more while many of its bots have no result; then it does."""
    crew, stock = Crew(ALL), Crews()
    stock.join(crew)
    every = tasks([(2 * pair, 2 * pair + 1) for pair in range(30)])
    for task in every:
        stock.add(task)
    dealt = []
    while not crew.is_new:
        taken = stock.take(crew, may_grow=True)
        assert taken is not None
        dealt.append(taken)
    assert 4 <= len(dealt) < 16
    assert stock.take(crew, may_grow=False) is None
    crew.has_played(dealt[0])
    assert not crew.is_new
