"""A bot's end, whose parts come in any order: the last answer, the end of the stream, the exit of the process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from arena.referee.match import Asked, Fault, Forfeit, Void
from arena.referee.service import Receive
from arena.referee.stream import Heard
from arena.sandbox import UNCONFINED
from arena.sandbox.process import BotProcess
from arena.v1 import referee_pb2 as pb
from arena.worker.bot import Bot
from arena.worker.jobs import Entrant
from tests.referee.fakes import LIMITS, VirtualTime


class Host:
    """Takes notes of what it is told of the bot."""

    sandbox = UNCONFINED
    copies = Path("/nowhere")

    def __init__(self) -> None:
        self.clock = VirtualTime()
        self.ends: list[Fault] = []
        self.answers: list[int] = []
        """The actions that were chosen."""
        self.over = asyncio.Event()

    def joined(self, bot: Bot) -> None:
        assert bot.stream is not None

    def heard(self, bot: Bot, heard: Heard) -> None:  # noqa: ARG002 - there is one bot
        self.answers += [action for _, action in heard.answers]

    def ended(self, bot: Bot, fault: Fault) -> None:
        assert bot.over
        self.ends.append(fault)
        self.over.set()

    def excused(self, bot: Bot, why: Void) -> None:
        raise AssertionError(bot, why)

    def not_started(self, bot: Bot, why: Void) -> None:
        raise AssertionError(bot, why)

    def bug(self, error: Exception) -> None:
        raise error

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        raise AssertionError(bot, address, token)


class Process:
    """Exited, as far as it is asked."""

    excess, never_began, ended_from_outside = None, False, False

    def last_lines(self) -> list[str]:
        return []

    def exit_in_words(self) -> str:
        return "exited with code 3"


@pytest.fixture
def host() -> Host:
    """Who hears of it."""
    return Host()


@pytest.fixture
async def bot(host: Host) -> Bot:
    """A bot whose process is there."""
    made = Bot(("digest", 0), Entrant("label", "digest", ("command",)), Path("/nowhere"), host)
    made._process = cast(BotProcess, Process())
    return made


def join(bot: Bot) -> Receive:
    """It says Hello."""
    return bot.joined(pb.Hello(protocol=1), lambda _frame: None)


async def test_an_answer_that_comes_after_the_exit_is_heard(bot: Bot, host: Host) -> None:
    """It was given in time; the kernel told of the exit first."""
    receive, stream = join(bot), bot.playing_stream()
    at = stream.seat(0, 2, LIMITS, b"")
    at.put(Asked(seat=0, number=1, legal=(5,)), b"")
    stream.ask(at)
    stream.flush()
    bot._process_gone()
    receive(pb.PlayRequest(choices=[pb.Choice(match=1, decision=1, action=5)]).SerializeToString())
    assert (host.answers, host.ends) == ([5], [])
    bot.stream_gone()
    assert host.ends == [(Forfeit.CRASH, "the process exited with code 3")]


async def test_an_exit_that_comes_after_the_end_of_the_stream_is_told(bot: Bot, host: Host) -> None:
    """It says more than that the stream was closed."""
    join(bot)
    bot.stream_gone()
    assert host.ends == []
    bot._process_gone()
    assert host.ends == [(Forfeit.CRASH, "the process exited with code 3")]


@pytest.mark.parametrize("part", ["_process_gone", "stream_gone"])
async def test_the_other_part_is_not_waited_for_long(
    bot: Bot, host: Host, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may live on without a stream, and something else may hold a stream open."""
    monkeypatch.setattr("arena.worker.bot.GRACE", 0.01)
    join(bot)
    getattr(bot, part)()
    await asyncio.wait_for(host.over.wait(), 20)
    assert [reason for reason, _ in host.ends] == [Forfeit.CRASH]


async def test_an_exit_before_hello_is_a_failed_start(bot: Bot, host: Host) -> None:
    """There is no stream to wait for."""
    bot._process_gone()
    assert host.ends == [(Forfeit.START, "the process exited with code 3 before it joined")]


async def test_a_bot_ends_once(bot: Bot, host: Host) -> None:
    """The first reason is the reason."""
    join(bot)
    bot.fault(Forfeit.FLOOD, "first")
    bot.fault(Forfeit.PROTOCOL, "second")
    bot.stream_gone()
    bot._process_gone()
    assert host.ends == [(Forfeit.FLOOD, "first")]


async def test_the_third_refused_stream_is_a_fault(bot: Bot, host: Host) -> None:
    """Tokens are not to be guessed."""
    bot.refused(1, "wrong token")
    bot.refused(2, "wrong token")
    assert host.ends == []
    bot.refused(3, "wrong token")
    detail = "opened 3 streams that were refused, the last because wrong token"
    assert host.ends == [(Forfeit.PROTOCOL, detail)]


async def test_a_bot_that_was_started_by_hand_has_time_to_hear_goodbye(host: Host) -> None:
    """Were its socket closed at once it would say that the arena cannot be reached; we see of it but its stream."""
    bot = Bot(("digest", 0), Entrant("label", "digest", ()), Path("/nowhere"), host)
    join(bot)
    leaving = asyncio.create_task(bot.leave())
    await asyncio.sleep(0)
    assert not leaving.done()
    bot.stream_gone()
    await leaving
