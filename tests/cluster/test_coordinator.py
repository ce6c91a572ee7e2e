"""The coordinator's side of a cluster, beside an engine that has hosts in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Event

import pytest

from arena.bench import simulated_hosts
from arena.cluster import coordinator, endpoint
from arena.cluster.coordinator import ClusterHosts
from arena.cluster.engine import Function, Place
from arena.sandbox import UNCONFINED

PATIENCE = 20.0
"""Seconds that may pass until something happens."""


class OneHost:
    """An engine with one host, whose process ends as soon as it has joined for the first so many times."""

    def __init__(self, ends: int) -> None:
        self.joined = 0
        self._ends = ends

    async def connect(self) -> None:
        """Be there."""

    async def places(self) -> Mapping[str, Place]:
        return {"address": Place("one", 4)}

    async def call(self, _address: str, function: Function, session: str, request: bytes) -> bytes:
        if function is endpoint.join:
            self.joined += 1
            return await simulated_hosts.join(session, request)
        if function is endpoint.ask and self.joined > self._ends:
            return await simulated_hosts.ask(session, request)
        return endpoint.GONE

    async def close(self) -> None:
        """Be gone."""


def test_a_host_that_fails_again_and_again_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried for ever, but nobody wants to read of it each time, until it takes part for a while."""
    for name, seconds in {
        "AGAIN": 0.01,
        "LATER": 0.01,
        "LOOK": 0.01,
        "FIRST": 0.0,
        "LOST": 3.0,
        "PATIENCE": 0.1,
    }.items():
        monkeypatch.setattr(coordinator, name, seconds)
    said: Counter[str] = Counter()
    lasts = Event()

    def say(line: str) -> None:
        said[line] += 1
        if engine.joined > engine_fails and "takes part" in line:
            lasts.set()

    engine_fails = coordinator.TRIES + 5
    engine = OneHost(ends=engine_fails)
    with ClusterHosts(engine, sandbox=UNCONFINED, say=say):
        assert lasts.wait(PATIENCE)
    assert engine.joined == engine_fails + 1
    assert said == {
        "one takes part: 4 at once, sandbox grade D": coordinator.TRIES + 1,
        "one has left; its matches are played again": coordinator.TRIES,
        f"one failed {coordinator.TRIES} times as it joined: the log of its worker may say why": 1,
    }
