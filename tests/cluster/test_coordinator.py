"""The coordinator's side of a cluster, beside an engine that has hosts in this process."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from arena.bench import simulated_hosts
from arena.cluster import coordinator, endpoint
from arena.cluster.coordinator import ClusterHosts
from arena.cluster.engine import Function, Place
from arena.cluster.messages import HostNews
from arena.referee.limits import Limits
from arena.referee.match import Void, VoidReason
from arena.sandbox import UNCONFINED
from arena.worker.jobs import Delivery, Entrant, Played, StartCommand, Task
from tests.cluster.grid import until

PATIENCE = 60.0
"""Seconds that may pass until something happens."""


SIMULATED: Mapping[Function, Function] = {
    endpoint.join_cluster: simulated_hosts.join_hosts,
    endpoint.ask: simulated_hosts.ask_hosts,
    endpoint.leave: simulated_hosts.leave_hosts,
}
"""What a simulated host has in the place of each function of a real one."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator that waits for nothing long."""
    monkeypatch.setattr(coordinator, "RETRY_INTERVAL", 0.01)
    monkeypatch.setattr(coordinator, "LATER", 0.01)
    monkeypatch.setattr(coordinator, "LOOK_INTERVAL", 0.01)
    monkeypatch.setattr(coordinator, "FIRST_PARCEL", 0.0)
    monkeypatch.setattr(coordinator, "LOST", 3.0)
    monkeypatch.setattr(coordinator, "SEND_PATIENCE", 0.1)
    monkeypatch.setattr(coordinator, "MOMENT", 0.0)


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
        if function is endpoint.join_cluster:
            self.joined += 1
        if function is endpoint.join_cluster or (function is endpoint.ask and self.joined > self._ends):
            return await SIMULATED[function](session, request)
        return endpoint.GONE

    async def close(self) -> None:
        """Be gone."""


def test_a_host_that_fails_again_and_again_is_named_once() -> None:
    """It is tried for ever, but nobody wants to read of it each time, until it takes part for a while."""
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


class Startless:
    """An engine with two hosts; on that at "bad" no bot starts."""

    async def connect(self) -> None:
        """Be there."""

    async def places(self) -> Mapping[str, Place]:
        return {"good": Place("good", 4), "bad": Place("bad", 4)}

    async def call(self, address: str, function: Function, session: str, request: bytes) -> bytes:
        answer = await SIMULATED[function](session, request)
        if address == "good" or function is not endpoint.ask or answer == endpoint.GONE:
            return answer
        heard = pickle.loads(answer)
        if isinstance(heard, HostNews):
            said = [(number, startless(each)) for number, each in heard.deliveries if isinstance(each, Delivery)]
            heard = heard._replace(deliveries=tuple(said))
        return pickle.dumps(heard)

    async def close(self) -> None:
        """Be gone."""


def startless(delivery: Delivery) -> Delivery:
    """Return what a worker delivers of the same matches where no bot starts."""
    void = Void(VoidReason.NO_STARTS, "no watches are left")
    return delivery._replace(results=[Played(each.id, None, void) for each in delivery.results])


def test_a_host_on_which_nothing_starts_is_left_out_where_there_are_others(tmp_path: Path) -> None:
    """Else it would take match after match from those that can play; alone it stays, and the run says what is wrong."""
    said: list[str] = []
    task = Task("one", "birth", {}, b"seed", (Entrant("bot@1", "digest", ("true",), str(tmp_path)),), Limits())
    with ClusterHosts(Startless(), sandbox=UNCONFINED, say=said.append) as hosts:
        until(lambda: len(hosts.present()) == 2, "hosts")
        for host in hosts.present():
            worker = host.start()
            for number in range(coordinator.STARTLESS):
                worker.send(StartCommand((task._replace(id=str(number)),)))
                until(partial(getattr, worker, "has_news"), "delivery")
                if not worker.is_lost:
                    worker.receive()
        until(lambda: len(hosts.present()) == 1, "host fewer")
        assert [host.name for host in hosts.present()] == ["good"]
        line = "bad rests, and tries again every 30 s: this machine cannot start bots now: no watches are left"
        until(lambda: line in said, "line")
