"""When frames are sent: a frame costs as much as ten decisions, so it waits for more of them if more may come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from arena.worker.dispatcher import AT_ONCE, LINGER, SPACING, TURN, Dispatcher
from tests.referee.fakes import FakeTimer, VirtualTime, Wire


class Loop(VirtualTime):
    """Virtual time that also knows delays."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> FakeTimer:
        return self.call_at(self.now + delay, lambda _: callback(), 0.0)


class Dispatch:
    """A dispatcher, and bots with nine matches each that have not been asked anything yet."""

    def __init__(self, bots: int = 1) -> None:
        self.loop = Loop()
        self.are_starting = False
        self.dispatcher = Dispatcher(cast(asyncio.AbstractEventLoop, self.loop), lambda: self.are_starting)
        self.wires = [Wire() for _ in range(bots)]
        self._seats = {wire.stream: [wire.sit() for _ in range(9)] for wire in self.wires}

    def ask(self, wire: Wire, count: int) -> None:
        """Ask a decision in the first `count` matches of a bot."""
        for at in self._seats[wire.stream][:count]:
            wire.ask(at, 1)
        self.dispatcher.add(wire.stream)
        self.dispatcher.send()

    def answer(self, wire: Wire) -> None:
        """Have a bot answer what it was asked."""
        wire.say(*[(at, 1, 0) for at in wire.stream.questions.owed.values()])
        self.dispatcher.add(wire.stream)
        self.dispatcher.send()

    def sent(self) -> list[int]:
        """Return the number of decisions that were sent, by bot."""
        return [wire.stream.decisions for wire in self.wires]


def test_a_frame_with_its_share_is_sent_at_once() -> None:
    """In nine matches of two players, five wait for this bot, which is more than half: hardly more will come."""
    dispatch = Dispatch(2)
    asked, bot = dispatch.wires
    dispatch.ask(asked, 9)
    dispatch.ask(bot, 5)
    assert dispatch.sent() == [9, 5]


def test_a_frame_that_may_fill_waits_for_a_moment() -> None:
    """Answers of other bots may soon add decisions to the frame; after a moment it is sent as it is."""
    dispatch = Dispatch(2)
    asked, bot = dispatch.wires
    dispatch.ask(asked, 9)
    dispatch.ask(bot, 1)
    dispatch.ask(bot, 2)
    assert dispatch.sent() == [9, 0]
    dispatch.loop.pass_by(LINGER)
    assert dispatch.sent() == [9, 2]


def test_nothing_waits_where_nobody_owes_an_answer() -> None:
    """If no bot owes an answer, nothing can be added to a frame, so a match that is played alone is never delayed."""
    dispatch = Dispatch()
    dispatch.ask(dispatch.wires[0], 1)
    assert dispatch.sent() == [1]


def test_few_bots_are_asked_at_once_and_the_others_in_turn() -> None:
    """Bots that all compute at once would wait for processors; who has waited longest is asked next."""
    dispatch = Dispatch(AT_ONCE + 3)
    for wire in dispatch.wires:
        dispatch.ask(wire, 5)
    assert dispatch.sent() == [5] * AT_ONCE + [0] * 3
    dispatch.ask(dispatch.wires[-1], 9)
    dispatch.answer(dispatch.wires[2])
    assert dispatch.sent() == [5] * AT_ONCE + [5, 0, 0]


def test_a_bot_that_thinks_long_takes_nobody_elses_turn() -> None:
    """Bots that sleep, or think for a second, would else hold up all others for as long."""
    dispatch = Dispatch(AT_ONCE + 2)
    for wire in dispatch.wires:
        dispatch.ask(wire, 5)
    dispatch.loop.pass_by(TURN - LINGER / 2)
    assert dispatch.sent()[AT_ONCE:] == [0, 0]
    dispatch.loop.pass_by(2 * LINGER)
    assert dispatch.sent()[AT_ONCE:] == [5, 5]


def test_a_frame_that_never_fills_is_not_overtaken_for_ever() -> None:
    """A bot whose share never comes is due after a moment, and then has its turn like bots with full frames."""
    dispatch = Dispatch(AT_ONCE + 2)
    *asked, bot, other = dispatch.wires
    for wire in asked:
        dispatch.ask(wire, 9)
    dispatch.ask(bot, 1)
    dispatch.loop.pass_by(LINGER)
    dispatch.ask(other, 9)
    dispatch.answer(asked[0])
    assert dispatch.sent()[AT_ONCE:] == [1, 0]


def test_a_stream_that_closes_while_it_owes_gives_its_turn_back() -> None:
    """A bot that died never answers; who waits is asked all the same."""
    dispatch = Dispatch(AT_ONCE + 1)
    for wire in dispatch.wires:
        dispatch.ask(wire, 5)
    for wire in dispatch.wires[:AT_ONCE]:
        wire.stream.close()
    dispatch.loop.pass_by(TURN + 2 * LINGER)
    assert dispatch.sent()[AT_ONCE] == 5


def test_while_bots_start_frames_go_out_one_by_one() -> None:
    """What starts has the processors, frames fill meanwhile, and matches go on all the same."""
    dispatch = Dispatch(3)
    dispatch.are_starting = True
    for wire in dispatch.wires:
        dispatch.ask(wire, 5)
    assert dispatch.sent() == [5, 0, 0]
    dispatch.ask(dispatch.wires[1], 9)
    dispatch.loop.pass_by(SPACING)
    assert dispatch.sent() == [5, 9, 0]
    dispatch.are_starting = False
    dispatch.answer(dispatch.wires[0])
    assert dispatch.sent() == [5, 9, 5]


def test_frames_of_decisions_are_counted() -> None:
    """Each since they were counted last, however many decisions it has; none without a decision."""
    dispatch = Dispatch(2)
    asked, bot = dispatch.wires
    dispatch.ask(asked, 9)
    dispatch.ask(bot, 5)
    assert (dispatch.dispatcher.take_frames(), dispatch.dispatcher.take_frames()) == (2, 0)
    dispatch.answer(bot)
    assert dispatch.dispatcher.take_frames() == 0
