"""A bot process from its start to its end, against a real stream."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from random import Random

import pytest

from arena import games
from arena.v1.referee_pb2 import PlayResponse, Rejected
from arena_bot import Bot, Turn
from tests.sdk.referee import TOKEN, alone, decision, refereed, start

README = Path(__file__).parents[2] / "bots/python/README.md"

LUCKY = """
from arena_bot import Bot, run

class Lucky(Bot):
    def choose(self, turn):
        return self.random.choice(turn.legal)

run(Lucky)
"""
CLUMSY = LUCKY.replace("self.random.choice(turn.legal)", "1 // 0")


async def test_a_bot_introduces_itself() -> None:
    """The referee learns how much it may send before it sends anything."""
    async with refereed("-c", LUCKY) as referee:
        hello = await referee.hello()
    assert (hello.protocol, hello.token, hello.matches, hello.updates) == (1, TOKEN, 768, False)
    assert "arena_bot" in hello.sdk


async def test_the_same_seed_makes_the_same_choices_whatever_the_interleaving() -> None:
    """Matches share a process but not their luck; and the stream of luck is the promised one."""
    seeds = {7: bytes(range(32)), 3: bytes(32)}
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(match, seed) for match, seed in seeds.items()]))
        mixed = await referee.ask(*(decision(match, number) for number in range(5) for match in (7, 3)))
        more = await referee.ask(decision(3, 5)) + await referee.ask(decision(7, 5))
    luck = {match: Random(int.from_bytes(seed)) for match, seed in seeds.items()}
    expected = {match: [luck[match].choice(range(1000)) for _ in range(6)] for match in seeds}
    assert {7: [*mixed[0::2], more[1]], 3: [*mixed[1::2], more[0]]} == expected


async def test_goodbye_ends_the_process() -> None:
    """A dismissed bot is no failure and has nothing to say."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        assert await referee.goodbye() == (0, "")


async def test_the_end_of_the_stream_is_a_goodbye() -> None:
    """An arena in a hurry says nothing more."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        referee.leave()
        assert await referee.ended() == (0, "")


async def test_a_stream_that_breaks_is_one_line() -> None:
    """With the arena's own words, where it had time for any."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        referee.leave(why="the third rejected choice")
        code, errors = await referee.ended()
    assert code == 1
    assert re.fullmatch(r"the arena at unix:\S+ broke the stream off: the third rejected choice\n", errors)


async def test_an_exception_of_the_bot_shows_its_traceback_and_ends_the_process() -> None:
    """The author must see it: a bot that went on would lose for reasons nobody knows."""
    async with refereed("-c", CLUMSY) as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(1)], decisions=[decision(1, 0)]))
        code, errors = await referee.ended()
    assert code == 1
    assert errors.startswith("Traceback")
    assert errors.endswith("ZeroDivisionError: integer division or modulo by zero\n")
    assert "asyncio" not in errors, "frames of ours would push out what the bot printed"
    assert "arena_bot" not in errors


async def test_arguments_that_do_not_fit_are_shown_with_the_call() -> None:
    """And with nothing else of ours: the author wrote a method without self or turn."""
    async with refereed("-c", LUCKY.replace("(self, turn)", "(turn)")) as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(1)], decisions=[decision(1, 0)]))
        code, errors = await referee.ended()
    assert code == 1
    assert errors.endswith("TypeError: Lucky.choose() takes 1 positional argument but 2 were given\n")
    assert "bot.choose(Turn(bot, decision))" in errors
    assert "asyncio" not in errors


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (LUCKY.replace("run(Lucky)", "run(Lucky())"), "run(Lucky()) has to be run(Lucky): the arena makes an instance"),
        (LUCKY.replace("(Bot):", ":"), "run(Lucky): Lucky is no class derived from Bot; a bot begins with class"),
        (LUCKY.replace("run(Lucky)", "run(7)"), "run(7): 7 is no class derived from Bot"),
        (LUCKY.replace("choose(", "chose("), "Lucky has no method choose(self, turn): is chose meant to be it?"),
        (LUCKY.replace("choose(", "act("), "Lucky has no method choose(self, turn)\n"),
    ],
)
async def test_what_is_no_bot_is_one_line_before_anything_is_played(wrong: str, said: str) -> None:
    """A traceback of the SDK would say nothing about the author's own line."""
    async with refereed("-c", wrong) as referee:
        code, errors = await referee.ended()
    assert (code, errors.count("\n")) == (1, 1)
    assert errors.startswith(said)


async def test_what_a_newer_arena_adds_to_a_frame_is_ignored() -> None:
    """Bots are older than the arena they play in."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(1)], decisions=[decision(1, 0)]), more=b"\xa2\x06\x01x")
        assert len((await referee.hear()).choices) == 1


async def test_a_rejected_choice_is_told_to_the_author() -> None:
    """It is stored with the bot's stderr, where its author looks first."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        await referee.say(PlayResponse(rejections=[Rejected(match=2, decision=9, reason="nobody asked")]))
        code, errors = await referee.goodbye()
    assert code == 0
    assert errors == "the referee rejected a choice (match 2, decision 9): nobody asked\n"


async def test_ctrl_c_ends_a_bot_without_a_traceback() -> None:
    """A terminal sends it to every process in it; their tracebacks would bury what the arena has to say."""
    async with refereed("-c", LUCKY) as referee:
        await referee.hello()
        referee.process.send_signal(signal.SIGINT)
        assert await referee.ended() == (130, "")


async def test_a_refused_token_is_one_line() -> None:
    """Usually an old process that dials a new arena; a traceback would say less."""
    async with refereed("-c", LUCKY, token="wrong") as referee:
        code, errors = await referee.ended()
    assert code == 1
    assert re.fullmatch(r"the arena at unix:\S+ does not admit this bot: the token is wrong\n", errors)


async def test_an_arena_that_is_not_there_is_one_line() -> None:
    """Nobody waits for an arena: it starts the bots, not they it."""
    code, _, errors = await alone("-c", LUCKY, ARENA_ADDR="unix:/nowhere/s")
    assert code == 1
    assert re.fullmatch(r"the arena at unix:/nowhere/s cannot be reached: .+\n", errors)


async def test_a_bot_started_by_hand_says_how_to_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first thing that newcomers try is to run their file."""
    monkeypatch.delenv("ARENA_ADDR", raising=False)
    code, _, errors = await alone("-c", LUCKY)
    assert code == 2
    assert errors == "the arena starts this bot: try `arena match -c random --game buttons`\n"


async def test_importing_the_sdk_is_quick() -> None:
    """Hundreds of processes are started in a ladder; what only some need is imported when they do."""
    heavy = "{'grpc', 'asyncio', 'google.protobuf', 'arena', 'importlib.metadata'}"
    _, out, _ = await alone("-c", f"import arena_bot, sys; print({heavy} & set(sys.modules))")
    assert out == "set()\n"


@pytest.mark.parametrize(
    ("number", "plays"), [(0, games.names()), (1, ("birth", "burning-desire"))], ids=["Mine", "Ahead"]
)
async def test_the_bots_of_the_readme_play(number: int, plays: tuple[str, ...], tmp_path: Path) -> None:
    """What newcomers copy first must work."""
    program = tmp_path / "mine.py"
    program.write_text(re.findall(r"```python\n(.+?)```", README.read_text(), re.DOTALL)[number])
    async with refereed(str(program)) as referee:
        await referee.hello()
        for game in plays:
            await referee.play_match(game)
        assert await referee.goodbye() == (0, "")


def test_the_readme_names_what_there_is() -> None:
    """And a renamed attribute is renamed there too."""
    text = README.read_text()
    turn, own = (set(re.findall(rf"`{word}\.(\w+)", text)) for word in ("turn", "self"))
    assert turn == {name for name in vars(Turn) if not name.startswith("_")}
    assert own <= {*vars(Bot), *Bot.__annotations__}
