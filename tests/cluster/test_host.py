"""The process of a run on a host, asked as the engine of a cluster asks it."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from arena.cluster import endpoint
from arena.cluster.host import GATHERING
from arena.cluster.messages import (
    Card,
    Ended,
    Hear,
    HostNews,
    HostOrder,
    HostRequest,
    Join,
    Parcel,
    ProgramFile,
    Tell,
    Terms,
)
from arena.sandbox import STRONGEST, Grade
from arena.worker.jobs import Delivery, StartCommand
from tests.cluster.grid import command

RUN = "a run"
SESSION = f"{RUN}/1"
JOIN = Join(Terms(RUN, Grade.D, STRONGEST, None, logs=False), 1)


async def ask(request: HostRequest) -> Any:
    """The answer to a request."""
    function = endpoint.join_cluster if isinstance(request, Join) else endpoint.ask
    answer = await asyncio.wait_for(function(SESSION, pickle.dumps(request)), 60)
    return None if answer == endpoint.GONE else pickle.loads(answer)


def workers() -> list[psutil.Process]:
    """The worker processes of the run's process here."""
    _, line = endpoint._lines[RUN]
    every = psutil.Process(line._process.pid).children(recursive=True)
    return [process for process in every if "spawn_main" in command(process)]


@pytest.fixture
async def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Card]:
    """What a host says that has joined, with programs of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = await ask(JOIN)
    assert isinstance(said, Card)
    yield said
    await endpoint.leave(SESSION, b"")


async def heard(after: int = 0) -> HostNews:
    """What comes of workers, once something has."""
    while True:
        said = await ask(Hear(after, 1.0))
        assert isinstance(said, HostNews)
        if said.deliveries or said.refusal:
            return said


@pytest.mark.usefixtures("card")
async def test_a_worker_takes_orders_and_gives_deliveries() -> None:
    """What was heard is not told again; what was not is, however often it is asked for."""
    assert await ask(Tell(1, [HostOrder(0, StartCommand(rest=True))])) is None
    first = await heard()
    ((worker, delivery),) = first.deliveries
    assert worker == 0
    assert isinstance(delivery, Delivery)
    assert delivery.rested
    assert (await heard()).deliveries == first.deliveries
    await ask(
        Tell(1, [HostOrder(0, StartCommand(rest=True)), HostOrder(0, StartCommand(rest=True))])
    )  # the first of them came before
    again = await heard(after=1)
    assert (again.first, len(again.deliveries)) == (2, 1)
    await ask(Tell(3, [HostOrder(0, None)]))
    assert isinstance((await heard(after=2)).deliveries[-1][1], Delivery)


@pytest.mark.usefixtures("card")
async def test_large_orders_come_whole_beside_other_requests() -> None:
    """A frame that is written in pieces is not mixed with another one."""
    program = Parcel("digest", (ProgramFile("bot", "file", bytes(300_000)),))
    large = pickle.dumps(Tell(-5, [program]))  # an order from before: it changes nothing

    async def hear() -> None:
        for _ in range(200):
            assert isinstance(await ask(Hear(0, 0.005)), HostNews)

    hearing = asyncio.create_task(hear())
    while not hearing.done():
        assert await endpoint.ask(SESSION, large) != endpoint.GONE
    await hearing


@pytest.mark.usefixtures("card")
async def test_an_order_that_comes_after_a_worker_has_died_starts_nobody() -> None:
    """Nobody would ever tell that one to end its bots."""
    await ask(Tell(1, [HostOrder(0, StartCommand(rest=True))]))
    await heard()
    (worker,) = workers()
    worker.kill()
    told = await heard(after=1)
    assert told.deliveries == ((0, Ended("was killed by SIGKILL")),)
    await ask(Tell(2, [HostOrder(0, StartCommand(spare=True)), HostOrder(1, StartCommand(rest=True))]))
    assert [number for number, _ in (await heard(after=2)).deliveries] == [1]
    assert len(workers()) == 1


@pytest.mark.long
@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("hangs", [False, True])
async def test_who_joins_again_has_ended_before(hangs: bool) -> None:
    """Bots of the time before have seen dice that may be rolled again now, even if their host's process hangs."""
    await ask(Tell(1, [HostOrder(0, StartCommand(rest=True))]))
    await heard()
    (before,) = workers()
    if hangs:
        os.kill(before.ppid(), signal.SIGSTOP)
    assert isinstance(await ask(JOIN), Card)
    assert command(before) == ""
    assert workers() == []


async def test_a_host_that_cannot_keep_programs_says_so(card: Card, tmp_path: Path) -> None:
    """In one line, and it goes on answering; without this it would join again and again."""
    assert card.programs == frozenset()
    (tmp_path / "cache").write_text("a file where a folder should be")
    await ask(Tell(1, [Parcel("0" * 64, ())]))
    refusal = (await heard()).refusal
    assert refusal is not None
    assert "cache" in refusal
    assert "\n" not in refusal
    assert (await ask(Hear(0, 0.1))).refusal == refusal


async def test_a_host_without_the_sandbox_that_is_asked_for_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of a card, with what is missing."""
    monkeypatch.setenv("PATH", "/nowhere")
    said = await ask(Join(JOIN.terms._replace(wanted=Grade.A), 1))
    assert isinstance(said, str)
    assert said.startswith("sandbox grade A is not to be had here")
    await endpoint.leave(SESSION, b"")


async def test_a_host_without_the_memory_that_its_bots_may_take_says_so() -> None:
    """Each looks for itself: machines differ."""
    said = await ask(Join(JOIN.terms._replace(memory=1 << 60), 1))
    assert said.startswith("this machine has only ")
    await endpoint.leave(SESSION, b"")


@pytest.mark.usefixtures("card")
async def test_a_request_of_an_earlier_session_finds_nobody() -> None:
    """It may have been on its way for long, and would start a worker that nobody knows."""
    late = pickle.dumps(Tell(1, [HostOrder(0, StartCommand(rest=True))]))
    assert await endpoint.ask(f"{RUN}/0", late) == endpoint.GONE
    await endpoint.leave(f"{RUN}/0", b"")
    assert (await ask(Hear(0, 0.2))).deliveries == ()
    assert workers() == []


async def test_a_run_that_has_no_process_is_gone() -> None:
    """Whoever asks for it is told, and leaving once more does no harm."""
    assert await endpoint.ask("another run", b"") == endpoint.GONE
    assert await endpoint.leave("another run", b"") == endpoint.GONE


@pytest.mark.usefixtures("card")
async def test_what_the_coordinator_waits_for_comes_at_once() -> None:
    """Other deliveries gather for a while, which saves answers; a worker that has rested has nothing to do."""
    await ask(Tell(1, [HostOrder(0, StartCommand(rest=True))]))
    await heard()
    took = []
    for number in range(2, 12):
        begun = time.monotonic()
        await ask(Tell(number, [HostOrder(0, StartCommand(rest=True))]))
        await heard(after=number - 1)
        took.append(time.monotonic() - begun)
    assert min(took) < GATHERING / 2
