"""What holds for the bot of every language, from the moment its folder has a bot.toml.

That it builds in the sandbox, starts, joins, plays every game and number of players it claims, holds as many matches
as it says and ends when it is told to, `arena submit` has checked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from google.protobuf.struct_pb2 import Struct

from arena.check.examined import Examined, examined
from arena.games import game
from arena.referee import frames
from arena.referee.limits import Limits
from arena.replay.questions import QuestionSitting, Setup
from arena.sandbox import Grade, probe
from arena.submission.templates import templates
from arena.v1 import referee_pb2 as pb
from tests.bots.conftest import Homes
from tests.bots.entered import PATIENT, Home, claimed
from tests.sdk.referee import Referee, alone, decision, refereed, start

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
every_language = pytest.mark.parametrize(
    "language",
    [pytest.param(each, marks=pytest.mark.needs("tools of languages", each)) for each in sorted(templates())],
)
LIMITS = Limits(decision=60.0)
"""So long that nobody has to show before the end of a frame that it has not stopped."""
PATIENCE = 60.0
LIMIT = 0.2
"""Seconds for a decision, of which there are so many in a frame that it takes several times as long."""
NOTHING = Struct()
"""What is seen of a game that shows nothing."""
MATCHES = 12
"""Of every game and number of players."""
QUICK = ("awk", "c", "python", "typescript")
"""Languages whose bots are built in seconds; each of the others takes a minute or two, and is built once."""


def sittings(games: Sequence[str]) -> list[QuestionSitting]:
    """Matches of all these games and numbers of players, in every seat, numbered from 1."""
    setups = [
        Setup(name, players, game(name).options({}), bytes([place] * 32))
        for name in games
        for players in game(name).seats
        for place in range(MATCHES)
    ]
    return [QuestionSitting(setup, number, number % setup.players, LIMITS) for number, setup in enumerate(setups, 1)]


async def answers(home: Home, language: str, games: Sequence[str]) -> list[list[tuple[int, int, int]]]:
    """What a bot says in these matches, all at once: match, decision and action of each choice, frame by frame."""
    async with examined(home.entrant(language), PATIENCE, probe()) as bot:
        open_ = sittings(games)
        bot.say(*[sitting.start for sitting in open_])
        said = []
        while open_ := [sitting for sitting in open_ if sitting.decision is not None]:
            bot.say(*[sitting.question for sitting in open_])
            choices = (await bot.hear(PATIENCE)).choices
            said.append([(choice.match, choice.decision, choice.action) for choice in choices])
            assert [choice.match for choice in choices] == [sitting.number for sitting in open_]
            for sitting, choice in zip(open_, choices, strict=True):
                sitting.answer(choice.action)
        return said


@every_language
async def test_all_answer_alike(home: Home, language: str) -> None:
    """One rule written once in each language, question by question; a whole frame is answered by one frame."""
    games = claimed(language)
    assert await answers(home, language, games) == await answers(home, "python", games)


class Told(NamedTuple):
    """How a frame was answered."""

    asked: float
    choices: list[tuple[float, int]]
    """Of each answer when it came, and how many choices it had."""

    @property
    def took(self) -> float:
        """Seconds from the question to the last answer."""
        return self.choices[-1][0] - self.asked

    @property
    def spread(self) -> float:
        """Seconds from the first answer to the last."""
        return self.choices[-1][0] - self.choices[0][0]


async def told(referee: Referee, question: bytes, count: int) -> Told:
    """Put the same question so many times in one frame, and hear all answers."""
    begun, choices = time.monotonic(), list[tuple[float, int]]()
    await referee.say(pb.PlayResponse(), count * question)
    while (left := count - sum(number for _, number in choices)) > 0:
        heard = (await referee.hear()).choices
        assert 0 < len(heard) <= left
        choices.append((time.monotonic(), len(heard)))
    return Told(begun, choices)


@every_language
async def test_it_says_what_it_has_decided_while_it_thinks(home: Home, language: str) -> None:
    """At least every quarter of a limit, or it would be taken for stopped; here once a limit will do, as others work.

    The quickest bots get the most questions. A choice among many takes longer, but plain programs read them all.
    """
    bot = home.entrant(language)
    legal = range(100) if "arena_bot.plain" in bot.command else range(20_000)
    question = frames.part("decisions", decision(1, 1, legal, other=NOTHING).SerializeToString())
    async with refereed(*bot.command[1:], by=bot.command[0], cwd=bot.cwd) as referee:
        await referee.hello()
        limits = pb.Limits(decision_ms=int(1000 * LIMIT))
        await referee.say(pb.PlayResponse(starts=[start(1, bytes(32), game="nobody's", limits=limits)]))
        count = 100
        while (heard := await told(referee, question, count)).took < 6 * LIMIT:
            count = int(count * min(10, 2 + 6 * LIMIT / heard.took))
    assert heard.spread > heard.took / 3
    assert heard.spread / LIMIT <= len(heard.choices) < count / 10


def own_words(lines: Sequence[str]) -> list[str]:
    """What a bot said: Java tells of the hints to its runtime besides, and cannot be made to hold its peace."""
    return [line for line in lines if not line.startswith("Picked up JAVA_TOOL_OPTIONS")]


async def lucky(bot: Examined, seeds: dict[int, bytes]) -> list[int]:
    """What a bot chooses of a hundred actions in a game that it cannot know, ten times in each of some matches."""
    starts = [pb.MatchStart(match=match, game="nobody's", seats=2, bot_seed=seed) for match, seed in seeds.items()]
    bot.say(pb.PlayResponse(starts=starts).SerializeToString())
    said = []
    for number in range(10):
        asked = [
            pb.Decision(match=match, decision=number, legal_count=100, legal_first=7, bank_ms=1000, other=NOTHING)
            for match in seeds
        ]
        bot.say(pb.PlayResponse(decisions=asked).SerializeToString())
        said += [choice.action for choice in (await bot.hear(PATIENCE)).choices]
    bot.say(*[frames.end(frames.match_frame(match), None) for match in seeds])
    return said


@every_language
async def test_luck_comes_from_the_seed_alone(home: Home, language: str) -> None:
    """Else no match could be repeated; a game that nobody told it of is played by luck."""
    async with examined(home.entrant(language), PATIENCE, probe()) as bot:
        first = await lucky(bot, {1: bytes(32), 2: bytes(range(32))})
        again = await lucky(bot, {3: bytes(range(32)), 4: bytes(32)})
    assert set(first) <= set(range(7, 107))
    assert first[::2] == again[1::2]
    assert first[1::2] == again[::2]
    assert first[::2] != first[1::2]


@every_language
async def test_it_goes_in_peace(home: Home, language: str) -> None:
    """After Goodbye it ends with exit code 0 and not a word."""
    async with examined(home.entrant(language), PATIENCE, probe()) as bot:
        bot.say(frames.part("goodbye", pb.Goodbye(reason="the test is over").SerializeToString()))
        assert await bot.ended(PATIENCE)
        evidence = bot.evidence()
    assert (evidence["exit"], own_words(evidence["output"])) == ("exited with code 0", [])


@every_language
async def test_what_goes_wrong_is_one_line(home: Home, language: str) -> None:
    """Without an arena, with one that breaks off, and when it is told to end, it ends soon and says little."""
    bot = home.entrant(language)
    words = {"by": bot.command[0], "cwd": bot.cwd}
    code, out, errors = await alone(*bot.command[1:], **words)
    assert (code != 0, out, len(own_words(errors.splitlines()))) == (True, "", 1), errors
    async with refereed(*bot.command[1:], **words) as referee:
        await referee.hello()
        referee.leave("the referee is tired")
        code, errors = await referee.ended()
    assert (code != 0, len(own_words(errors.splitlines()))) == (True, 1), errors
    assert "the referee is tired" in errors
    async with refereed(*bot.command[1:], **words) as referee:
        await referee.hello()
        referee.process.terminate()
        code, errors = await referee.ended()
    assert len(own_words(errors.splitlines())) <= 1, errors


@every_language
def test_it_is_built_and_plays_in_a_sandbox(home: Home, language: str) -> None:
    """To be entered it has to play every game there."""
    home.enter(language)


@pytest.mark.parametrize(
    "language", [pytest.param(each, marks=pytest.mark.needs("tools of languages", each)) for each in QUICK]
)
@pytest.mark.needs("grade C")
def test_it_is_built_and_plays_without_bubblewrap(homes: Homes, language: str) -> None:
    """Builds have other places there, for their caches and for what is temporary."""
    homes.of(Grade.C).enter(language)


@pytest.mark.needs("tools of languages", "python")
@pytest.mark.needs("grade B")
@pytest.mark.usefixtures("busy_machine")
def test_a_bot_is_entered_on_a_busy_machine(homes: Homes) -> None:
    """Where it is the last to be let in, and everything takes its time."""
    homes.of(Grade.B).enter("python")


@every_language
def test_what_it_logs_is_kept_at_its_decision(home: Home, language: str) -> None:
    """Each line of its own, and of several matches in one process none is mistaken for another's."""
    name = home.enter(language)
    played = home.arena("match", name, "random", "--game", "birth", "-n", "3", *PATIENT, "--json")
    assert played.code == 0, played.err
    replay = json.loads(played.out)["replay"]
    decisions = range(1, len(replay["choices"]) + 1, 2)  # two seats decide by turns, and it begins
    said, other = replay["logs"]
    said = [line for line in said if not line[1].startswith("Picked up JAVA_TOOL_OPTIONS")]  # Java says it by itself
    assert (said, other) == ([[number, text] for number in decisions for text in ("one", "two")], [])


@pytest.mark.needs("tools of languages", *sorted(templates()))
def test_one_ladder_of_all_languages(home: Home) -> None:
    """They meet at one table, and nobody forfeits."""
    bots = [home.enter(language) for language in sorted(templates())]
    players = str(min(4, len(bots)))
    words = ("ladder", "--game", "buttons", "--players", players, "--rounds", "1", "--bots", ",".join(bots))
    played = home.arena(*words, *PATIENT, "--json")
    assert played.code == 0, played.err
    rows = json.loads(played.out)["bots"]
    assert {row["bot"]: row["forfeits"] for row in rows} == {f"{bot}@1": 0 for bot in bots}
