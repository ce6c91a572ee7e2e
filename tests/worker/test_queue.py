"""The queues of a worker: matches may begin when their processes have room, the oldest match first."""

from __future__ import annotations

from arena.worker.jobs import Entrant, Key, Task
from arena.worker.queue import Queues
from tests.worker.conftest import bot, task

A, B, C = (bot(name=name) for name in "abc")


def waits(queues: Queues, name: str, *lineup: Entrant) -> Task:
    """Add a match of this line-up to the queues and return it."""
    one = task(name, *lineup)
    queues.add(one)
    return one


def remembered(queues: Queues) -> list[object]:
    """Everything that the queues still hold."""
    return [thing for things in vars(queues).values() if isinstance(things, dict) for thing in things]


def process(one: Task, seat: int) -> Key:
    """The key of the process that plays a seat of a match."""
    return one.keys[seat]


def test_the_match_that_waited_longest_is_first() -> None:
    """Queues are returned by the age of their oldest match, whatever the order in which their processes wake them."""
    queues = Queues()
    first, second = waits(queues, "1", A, B), waits(queues, "2", A, C)
    queues.ready()
    queues.wake(process(second, 1))
    queues.wake(process(first, 1))
    assert [queue.take().id for queue in queues.ready()] == ["1", "2"]


def test_what_may_go_on_is_told_once() -> None:
    """A queue that may go on is returned once, and again only when one of its processes wakes it."""
    queues = Queues()
    one, other = waits(queues, "1", A, B), waits(queues, "2", B, C)
    queues.ready()
    assert queues.ready() == []
    queues.wake(process(one, 0))
    assert [queue.take().id for queue in queues.ready()] == ["1"]
    queues.wake(process(other, 1))
    assert [queue.take().id for queue in queues.ready()] == ["2"]


def test_room_goes_to_who_has_waited_for_it_longest() -> None:
    """Crowded-out queues are called one after the other: the next when the one before is let in or forgotten."""
    queues = Queues()
    waits(queues, "1", A, B), waits(queues, "2", A, C), waits(queues, "3", B, C)
    first, second, third = queues.ready()
    for queue in (second, third, first):
        queues.crowd_out(queue)
    queues.let_in(second)
    assert queues.ready() == [third]
    queues.forget(third)
    assert queues.ready() == [first]


def test_a_forgotten_lineup_leaves_nothing() -> None:
    """In a long ladder with many seats most matches have another line-up, so old queues would slow every search."""
    queues = Queues()
    waits(queues, "1", A, B)
    (queue,) = queues.ready()
    queue.take()
    queues.crowd_out(queue)
    queues.forget(queue)
    queues.ready()
    assert remembered(queues) == []


def test_what_is_removed_was_never_there() -> None:
    """Matches are removed from all queues, and the others keep their turn."""
    queues = Queues()
    first, second, third = waits(queues, "1", A, B), waits(queues, "2", A, C), waits(queues, "3", A, C)
    assert queues.remove(lambda one: one.id in "13") == [first, third]
    assert [queue.take() for queue in queues.ready() if queue.tasks] == [second]
