"""A worker notices when it was stopped itself, since it must not blame a bot for that time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from arena.worker.heartbeat import INTERVAL, STOOD_STILL, Heartbeat
from tests.referee.fakes import VirtualTime


class Loop(VirtualTime):
    """Virtual time as an event loop."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> object:
        return self.call_at(self.now + delay, lambda _: callback(), 0.0)


def test_a_worker_that_runs_never_stood_still() -> None:
    """As long as the beats come regularly, no sleep is reported, however much time passes."""
    loop = Loop()
    begun, heartbeat = loop.now, Heartbeat(cast(asyncio.AbstractEventLoop, loop), "A")
    heartbeat.start()
    loop.pass_by(100 * INTERVAL)
    assert not heartbeat.stood_still(begun)
    assert heartbeat.conditions["sandbox"] == "A"


def test_a_gap_between_two_beats_is_a_sleep() -> None:
    """A sleep is reported even before the next beat, and only for times before its end."""
    loop = Loop()
    begun, heartbeat = loop.now, Heartbeat(cast(asyncio.AbstractEventLoop, loop), "A")
    heartbeat.start()
    loop.now += STOOD_STILL + INTERVAL
    assert heartbeat.stood_still(begun)
    assert not heartbeat.stood_still(loop.now)
    loop.pass_by(10 * INTERVAL)
    assert heartbeat.stood_still(begun)


def test_a_busy_machine_is_not_taken_for_one_that_was_stopped() -> None:
    """A beat may come a second late there; and what is not noticed is less than the bank of a bot that waits."""
    loop = Loop()
    begun, heartbeat = loop.now, Heartbeat(cast(asyncio.AbstractEventLoop, loop), "A")
    heartbeat.start()
    loop.sleep_through(INTERVAL + 1.0)
    assert not heartbeat.stood_still(begun)
    loop.sleep_through(INTERVAL + 2.0)
    assert heartbeat.stood_still(begun)
