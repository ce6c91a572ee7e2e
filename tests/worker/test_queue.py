"""Which matches may go on: those whose processes have room, oldest first."""

from __future__ import annotations

from arena.worker.jobs import Entrant, Key, Task
from arena.worker.queue import Queues
from tests.worker.conftest import bot, task

A, B, C = (bot(name=name) for name in "abc")


def waits(queues: Queues, name: str, *lineup: Entrant) -> Task:
    """A match that waits from now on."""
    one = task(name, *lineup)
    queues.add(one)
    return one


def remembered(queues: Queues) -> list[object]:
    """What is left of anything that ever waited."""
    return [thing for things in vars(queues).values() if isinstance(things, dict) for thing in things]


def process(one: Task, seat: int) -> Key:
    """What plays a seat."""
    return one.keys[seat]


def test_the_match_that_waited_longest_is_first() -> None:
    """Whatever order its processes come in."""
    queues = Queues()
    first, second = waits(queues, "1", A, B), waits(queues, "2", A, C)
    queues.ready()
    queues.wake(process(second, 1))
    queues.wake(process(first, 1))
    assert [queue.take().id for queue in queues.ready()] == ["1", "2"]


def test_what_may_go_on_is_told_once() -> None:
    """Until something happens that concerns it."""
    queues = Queues()
    one, other = waits(queues, "1", A, B), waits(queues, "2", B, C)
    queues.ready()
    assert queues.ready() == []
    queues.wake(process(one, 0))
    assert [queue.take().id for queue in queues.ready()] == ["1"]
    queues.wake(process(other, 1))
    assert [queue.take().id for queue in queues.ready()] == ["2"]


def test_room_goes_to_who_has_waited_for_it_longest() -> None:
    """One after the other, each when the one before has its processes or wants them no more."""
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
    """A long ladder of many seats has as many line-ups as matches, and each bot's would be looked through each time."""
    queues = Queues()
    waits(queues, "1", A, B)
    (queue,) = queues.ready()
    queue.take()
    queues.crowd_out(queue)
    queues.forget(queue)
    queues.ready()
    assert remembered(queues) == []


def test_what_is_removed_was_never_there() -> None:
    """From whatever queue it is in; the others keep their turn."""
    queues = Queues()
    first, second, third = waits(queues, "1", A, B), waits(queues, "2", A, C), waits(queues, "3", A, C)
    assert queues.remove(lambda one: one.id in "13") == [first, third]
    assert [queue.take() for queue in queues.ready() if queue.tasks] == [second]
