"""A worker knows when it stood still itself: then no bot is to be judged."""

from __future__ import annotations

import asyncio
from typing import cast

from arena.worker.heartbeat import ASLEEP, INTERVAL, Heartbeat
from tests.referee.fakes import VirtualTime


class Loop(VirtualTime):
    """Virtual time as an event loop."""

    def call_later(self, delay: float, callback: object) -> object:
        return self.call_at(self.now + delay, lambda _: callback(), 0.0)  # type: ignore[operator]


def test_a_worker_that_runs_never_stood_still() -> None:
    """However long it takes until somebody asks."""
    loop = Loop()
    begun, heartbeat = loop.now, Heartbeat(cast(asyncio.AbstractEventLoop, loop), "A")
    heartbeat.start()
    loop.pass_by(100 * INTERVAL)
    assert not heartbeat.stood_still(begun)
    assert heartbeat.conditions["sandbox"] == "A"


def test_a_gap_between_two_beats_is_a_sleep() -> None:
    """It is known before the next beat, too; what began after it is not concerned."""
    loop = Loop()
    begun, heartbeat = loop.now, Heartbeat(cast(asyncio.AbstractEventLoop, loop), "A")
    heartbeat.start()
    loop.now += ASLEEP + INTERVAL
    assert heartbeat.stood_still(begun)
    assert not heartbeat.stood_still(loop.now)
    loop.pass_by(10 * INTERVAL)
    assert heartbeat.stood_still(begun)
