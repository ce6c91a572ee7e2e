"""When frames are sent: a frame costs as much as ten decisions, so it waits for more of them if more may come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from arena.worker.dispatcher import LINGER, Dispatcher
from tests.referee.fakes import Wire


class Loop:
    """An event loop that only records what it should call, and after how many seconds."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        self.calls.append((delay, callback))
        return object()


class Dispatch:
    """A dispatcher, and a bot with nine matches that has not been asked anything yet."""

    def __init__(self) -> None:
        self.awaits_answers = True
        self.loop = Loop()
        loop = cast(asyncio.AbstractEventLoop, self.loop)
        self.dispatcher = Dispatcher(loop, lambda: self.awaits_answers)
        self.wire = Wire()
        self.seats = [self.wire.sit() for _ in range(9)]

    def ask(self, count: int) -> None:
        """Ask a decision in the first `count` matches."""
        for at in self.seats[:count]:
            self.wire.ask(at, 1)
        self.dispatcher.add(self.wire.stream)
        self.dispatcher.send()

    @property
    def sent(self) -> int:
        """Number of decisions that were sent."""
        return self.wire.stream.decisions


@pytest.fixture
def dispatch() -> Dispatch:
    """A fresh dispatcher with its bot."""
    return Dispatch()


def test_a_frame_with_its_share_is_sent_at_once(dispatch: Dispatch) -> None:
    """In nine matches of two players, five wait for this bot, which is more than half: hardly more will come."""
    dispatch.ask(5)
    assert (dispatch.sent, dispatch.loop.calls) == (5, [])


def test_a_frame_that_may_fill_waits_for_a_moment(dispatch: Dispatch) -> None:
    """Answers of other bots may soon add decisions to the frame; after a moment it is sent as it is."""
    dispatch.ask(1)
    dispatch.ask(2)
    ((delay, go),) = dispatch.loop.calls
    assert (dispatch.sent, delay) == (0, LINGER)
    go()
    assert dispatch.sent == 2


def test_nothing_waits_where_nobody_owes_an_answer(dispatch: Dispatch) -> None:
    """If no bot owes an answer, nothing can be added to a frame, so a match that is played alone is never delayed."""
    dispatch.awaits_answers = False
    dispatch.ask(1)
    assert (dispatch.sent, dispatch.loop.calls) == (1, [])
