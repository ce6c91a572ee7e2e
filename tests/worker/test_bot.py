"""The end of a bot: last answer, end of the stream and exit of the process are noticed in any order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from arena.referee.match import Asked, Fault, Forfeit, Void
from arena.referee.service import Receive
from arena.referee.stream import Heard
from arena.sandbox import UNCONFINED
from arena.v1 import referee_pb2 as pb
from arena.worker.bot_output import Sink
from arena.worker.bot_process import Bot
from arena.worker.jobs import Entrant
from tests.referee.fakes import LIMITS, VirtualTime


class Host:
    """A host that records what it is told about the bot."""

    sandbox = UNCONFINED
    copies = Path("/nowhere")

    def __init__(self) -> None:
        self.clock = VirtualTime()
        self.ends: list[Fault] = []
        self.answers: list[int] = []
        """Actions that the bot chose."""
        self.over = asyncio.Event()
        self.logs: Sink | None = []

    def joined(self, bot: Bot) -> None:
        assert bot.stream is not None

    def hear(self, bot: Bot, news: Heard) -> None:  # noqa: ARG002 - there is one bot
        self.answers += [action for _, action in news.answers]

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


@pytest.fixture
def host() -> Host:
    """The host that is told what becomes of the bot."""
    return Host()


EXITS_WHEN_TOLD = ("/bin/sh", "-c", "while [ ! -e told ]; do sleep 0.01; done; exit 3")


@pytest.fixture
async def bot(host: Host, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    """A bot whose process was started, and which has not joined yet."""
    monkeypatch.setattr("arena.worker.bot_process.GRACE", 60.0)
    made = Bot(("digest", 0), Entrant("label", "digest", EXITS_WHEN_TOLD, str(tmp_path)), scratch / "bot", host)
    await made.start(60)
    yield made
    await made.close()


async def exits(bot: Bot) -> None:
    """Let the process of the bot exit with code 3, and wait until that is noticed."""
    Path(bot.entrant.cwd, "told").touch()
    while bot.evidence()["exit"] != "exited with code 3":
        await asyncio.sleep(0.01)


def join(bot: Bot) -> Receive:
    """Let the bot join with a Hello; return the function that receives its frames."""
    return bot.joined(pb.Hello(protocol=1), lambda _frame: None)


async def test_an_answer_that_comes_after_the_exit_is_heard(bot: Bot, host: Host) -> None:
    """The answer was sent before the exit; the kernel only reported the exit first."""
    receive, stream = join(bot), bot.playing_stream()
    at = stream.seat(0, 2, LIMITS, b"")
    at.put(Asked(seat=0, number=1, legal=(5,)), b"")
    stream.questions.ask(at)
    stream.flush()
    await exits(bot)
    receive(pb.PlayRequest(choices=[pb.Choice(match=1, decision=1, action=5)]).SerializeToString())
    assert (host.answers, host.ends) == ([5], [])
    bot.stream_gone()
    assert host.ends == [(Forfeit.CRASH, "the process exited with code 3")]


async def test_an_exit_that_comes_after_the_end_of_the_stream_is_told(bot: Bot, host: Host) -> None:
    """The exit code says more about the reason than the end of the stream does."""
    join(bot)
    bot.stream_gone()
    assert host.ends == []
    await exits(bot)
    assert host.ends == [(Forfeit.CRASH, "the process exited with code 3")]


@pytest.mark.parametrize("part", ["process", "stream"])
async def test_the_other_part_is_not_waited_for_long(
    bot: Bot, host: Host, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may go on without its stream, and another process may hold the stream open after the exit."""
    monkeypatch.setattr("arena.worker.bot_process.GRACE", 0.01)
    join(bot)
    if part == "process":
        await exits(bot)
    else:
        bot.stream_gone()
    await asyncio.wait_for(host.over.wait(), 20)
    assert [reason for reason, _ in host.ends] == [Forfeit.CRASH]


async def test_an_exit_before_hello_is_a_failed_start(bot: Bot, host: Host) -> None:
    """A bot without a stream is judged as soon as its process exits."""
    await exits(bot)
    assert host.ends == [(Forfeit.START, "the process exited with code 3 before it joined")]


async def test_a_bot_ends_once(bot: Bot, host: Host) -> None:
    """Only the first fault counts, whatever happens afterwards."""
    join(bot)
    bot.fault(Forfeit.FLOOD, "first")
    bot.fault(Forfeit.PROTOCOL, "second")
    bot.stream_gone()
    await exits(bot)
    assert host.ends == [(Forfeit.FLOOD, "first")]


async def test_the_third_refused_stream_is_a_fault(bot: Bot, host: Host) -> None:
    """A program must not be able to guess the token of another bot by trying."""
    bot.refused(1, "wrong token")
    bot.refused(2, "wrong token")
    assert host.ends == []
    bot.refused(3, "wrong token")
    detail = "opened 3 streams that were refused, the last because wrong token"
    assert host.ends == [(Forfeit.PROTOCOL, detail)]


async def test_a_bot_that_was_started_by_hand_has_time_to_hear_goodbye(host: Host) -> None:
    """The arena waits until the bot ends its stream, the only part of it that the arena sees.

    If the arena closed its socket at once, the bot would report that the arena cannot be reached.
    """
    bot = Bot(("digest", 0), Entrant("label", "digest", ()), Path("/nowhere"), host)
    join(bot)
    leaving = asyncio.create_task(bot.leave())
    await asyncio.sleep(0)
    assert not leaving.done()
    bot.stream_gone()
    await leaving
