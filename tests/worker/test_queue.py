"""Which matches may go on: those whose processes have room, oldest first."""

from __future__ import annotations

from arena.worker.jobs import Entrant, Key, Task
from arena.worker.queue import Lanes
from tests.worker.conftest import bot, task

A, B, C = (bot(name=name) for name in "abc")


def waits(lanes: Lanes, id: str, *lineup: Entrant) -> Task:
    """A match that waits from now on."""
    one = task(id, *lineup)
    lanes.add(one)
    return one


def remembered(lanes: Lanes) -> list[object]:
    """What is left of anything that ever waited."""
    return [thing for things in vars(lanes).values() if isinstance(things, dict) for thing in things]


def process(one: Task, seat: int) -> Key:
    """What plays a seat."""
    return one.keys[seat]


def test_the_match_that_waited_longest_is_first() -> None:
    """Whatever order its processes come in."""
    lanes = Lanes()
    first, second = waits(lanes, "1", A, B), waits(lanes, "2", A, C)
    lanes.ready()
    lanes.wake(process(second, 1))
    lanes.wake(process(first, 1))
    assert [lane.take().id for lane in lanes.ready()] == ["1", "2"]


def test_what_may_go_on_is_told_once() -> None:
    """Until something happens that concerns it."""
    lanes = Lanes()
    one, other = waits(lanes, "1", A, B), waits(lanes, "2", B, C)
    lanes.ready()
    assert lanes.ready() == []
    lanes.wake(process(one, 0))
    assert [lane.take().id for lane in lanes.ready()] == ["1"]
    lanes.wake(process(other, 1))
    assert [lane.take().id for lane in lanes.ready()] == ["2"]


def test_room_goes_to_who_has_waited_for_it_longest() -> None:
    """One after the other, each when the one before has its processes or wants them no more."""
    lanes = Lanes()
    waits(lanes, "1", A, B), waits(lanes, "2", A, C), waits(lanes, "3", B, C)
    first, second, third = lanes.ready()
    for lane in (second, third, first):
        lanes.crowd_out(lane)
    lanes.let_in(second)
    assert lanes.ready() == [third]
    lanes.forget(third)
    assert lanes.ready() == [first]


def test_a_forgotten_lineup_leaves_nothing() -> None:
    """A long ladder of many seats has as many line-ups as matches, and each bot's would be looked through each time."""
    lanes = Lanes()
    waits(lanes, "1", A, B)
    (lane,) = lanes.ready()
    lane.take()
    lanes.crowd_out(lane)
    lanes.forget(lane)
    lanes.ready()
    assert remembered(lanes) == []


def test_what_is_removed_was_never_there() -> None:
    """From whatever lane it is in; the others keep their turn."""
    lanes = Lanes()
    first, second, third = waits(lanes, "1", A, B), waits(lanes, "2", A, C), waits(lanes, "3", A, C)
    assert lanes.remove(lambda one: one.id in "13") == [first, third]
    assert [lane.take() for lane in lanes.ready() if lane.tasks] == [second]
