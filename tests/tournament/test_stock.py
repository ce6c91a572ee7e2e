"""In which order workers get matches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count

from arena.clock import Limits
from arena.task import Task
from arena.tournament.stock import Stock


def schedule(groups: int, rotations: int) -> Iterator[Task]:
    """As a ladder's: the rotations of a group one after the other."""
    for number in range(groups * rotations):
        yield Task(f"{number}", "toy", {}, bytes(32), (), (number % rotations,) * rotations, Limits())


def test_workers_stay_with_a_rotation_each_while_it_lasts() -> None:
    """Half the processes for each, and twice the matches in each of them."""
    stock = Stock(schedule(1000, rotations=2))
    slots: list[tuple[int, ...]] = [(), ()]
    for _ in range(100):
        for worker in (0, 1):
            taken = stock.take(4, slots[worker], ahead=64)
            slots[worker] = taken[-1].slots
            assert {task.slots for task in taken} == {(worker, worker)}


def test_no_match_is_left_behind_others_of_the_schedule_for_long() -> None:
    """Ratings follow the schedule: they would stand still meanwhile."""
    stock, left = Stock(schedule(400, rotations=4)), set(range(1600))
    slots: tuple[int, ...] = ()
    while taken := stock.take(4, slots, ahead=25):
        slots = taken[-1].slots
        left -= {int(task.id) for task in taken}
        assert max(int(task.id) for task in taken) - min(left, default=1600) < 500


def test_every_match_is_given_out_once() -> None:
    """Whoever asks for what, and however little is taken ahead."""
    stock = Stock(schedule(33, rotations=3))
    asked = (stock.take(4, ((number % 5,) * 3), ahead=1 + number % 9) for number in count())
    taken = list(chain.from_iterable(iter(lambda: next(asked), [])))
    assert sorted(int(task.id) for task in taken) == [*range(99)]
