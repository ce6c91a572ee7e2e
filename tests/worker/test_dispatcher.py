"""When frames are sent: a frame costs as much as ten decisions, so it waits for more, but never for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from arena.worker.dispatcher import LINGER, Dispatcher
from tests.referee.fakes import Wire


class Loop:
    """An event loop that only remembers what it is to call, and when."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        self.calls.append((delay, callback))
        return object()


class Dispatch:
    """A dispatcher with a bot that holds nine matches, none of which has been asked anything yet."""

    def __init__(self) -> None:
        self.awaits_answers = True
        self.loop = Loop()
        loop = cast(asyncio.AbstractEventLoop, self.loop)
        self.dispatcher = Dispatcher(loop, lambda: self.awaits_answers)
        self.wire = Wire()
        self.seats = [self.wire.sit() for _ in range(9)]

    def ask(self, count: int) -> None:
        """Put a decision to so many seats."""
        for at in self.seats[:count]:
            self.wire.ask(at, 1)
        self.dispatcher.add(self.wire.stream)
        self.dispatcher.send()

    @property
    def sent(self) -> int:
        """How many decisions were sent."""
        return self.wire.stream.decisions


@pytest.fixture
def dispatch() -> Dispatch:
    """A bot to send to."""
    return Dispatch()


def test_a_frame_with_its_share_is_sent_at_once(dispatch: Dispatch) -> None:
    """Of nine matches of two players, five wait for this bot: more will hardly come."""
    dispatch.ask(5)
    assert (dispatch.sent, dispatch.loop.calls) == (5, [])


def test_a_frame_that_may_fill_waits_for_a_moment(dispatch: Dispatch) -> None:
    """Answers of other bots may add to it; if they do not come soon, it goes."""
    dispatch.ask(1)
    dispatch.ask(2)
    ((delay, go),) = dispatch.loop.calls
    assert (dispatch.sent, delay) == (0, LINGER)
    go()
    assert dispatch.sent == 2


def test_nothing_waits_where_nobody_owes_an_answer(dispatch: Dispatch) -> None:
    """A lone match is never held up."""
    dispatch.awaits_answers = False
    dispatch.ask(1)
    assert (dispatch.sent, dispatch.loop.calls) == (1, [])
