"""Tests that every bot goes through besides playing: corners of the protocol that matches seldom reach."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence, Set
from typing import NamedTuple

from arena import games
from arena.check.examined import Examined, Misbehaved
from arena.games.encoding import varint
from arena.games.rules import named
from arena.referee import frames
from arena.referee.limits import Limits
from arena.referee.loans import IN_FLIGHT
from arena.referee.match import Forfeit
from arena.referee.timekeeper import PIECES
from arena.referee.window import at_once
from arena.replay.questions import QuestionSitting, Setup
from arena.v1 import referee_pb2 as pb

PAUSE = 4.0
"""Seconds to wait before a late question. A longer pause would find more, and who checks a bot would wait for it."""
_MORE = 0.5
"""Seconds granted for messages to travel, since here nothing measures how busy the machine is."""
_FAREWELL = 5.0
"""Seconds that a bot has to end after Goodbye; in a ladder the arena waits one second, then ends it."""
ROUNDS = 3
"""Decisions of each match that the bot plays at the same time as others."""
_TEXT = b"from a later version"
"""Text in a field that no message has."""
_UNKNOWN = varint(1000 << 3) + varint(1) + varint(1001 << 3 | 2) + varint(len(_TEXT)) + _TEXT
"""Encoded number and text, in fields that no message has."""


class Probe(NamedTuple):
    """One test of a bot that has joined. `run` raises Misbehaved if the bot fails it."""

    name: str
    run: Callable[[Examiner], Awaitable[None]]
    advice: str


class Examiner:
    """Puts questions to one bot, in matches of one game, so few at a time that their questions fit into one frame."""

    def __init__(self, bot: Examined, game: str, limits: Limits) -> None:
        self.bot = bot
        self.limits = limits
        self._game = games.game(game)
        self._begun: set[int] = set()
        """Numbers of the matches in which the bot has made a decision."""

    @property
    def claimed(self) -> int:
        """How many matches at once the bot claims to hold."""
        return max(1, min(self.bot.hello.matches, IN_FLIGHT))

    def sit(self) -> QuestionSitting:
        """Return a new match with the fewest players; the bot has not been told of it yet."""
        self.bot.matches += 1
        number = self.bot.matches
        players = self._game.seats[0]
        setup = Setup(self._game.name, players, self._game.options({}), number.to_bytes(32))
        return QuestionSitting(setup, number, number % players, self.limits)

    async def answered(self, *owed: QuestionSitting) -> None:
        """Receive one choice for each of these matches, and apply it. Raises Misbehaved for anything else."""
        waiting = {sitting.number: sitting for sitting in owed}
        while waiting:
            for choice in (await self.bot.hear(self._patience(waiting.keys()))).choices:
                sitting = waiting.pop(choice.match, None)
                if sitting is None:
                    raise Misbehaved(f"answered match {choice.match}, which asks nothing", Forfeit.PROTOCOL)
                self._make(sitting, choice)

    async def in_frames(self, owed: Sequence[QuestionSitting]) -> None:
        """Ask one question in each of these matches, in frames no larger than the bot has shown to answer in time."""
        size, quickest = 1, float("inf")
        limit = self.limits.decision if owed[0].number in self._begun else self.limits.first
        while owed:
            frame, owed = owed[:size], owed[size:]
            starts = [sitting.start for sitting in frame if sitting.number not in self._begun]
            begun = time.monotonic()
            self.bot.say(*starts, *[sitting.question for sitting in frame])
            await self.answered(*frame)
            seconds_each = (time.monotonic() - begun) / len(frame)
            quickest = min(quickest, seconds_each)
            size = at_once(size, IN_FLIGHT, seconds_each, quickest, limit)

    def _patience(self, owed: Set[int]) -> float:
        """Return how many seconds the bot may leave all these matches unanswered: as in a ladder, and a little more."""
        limit = self.limits.decision if owed <= self._begun else self.limits.first
        return limit + self.limits.bank + self.limits.decision / PIECES + _MORE

    def _make(self, sitting: QuestionSitting, choice: pb.Choice) -> None:
        check_probe(sitting, choice)
        self._begun.add(sitting.number)
        sitting.answer(choice.action)


def check_probe(sitting: QuestionSitting, choice: pb.Choice) -> None:
    """Raise Misbehaved if a choice is not a legal answer to the decision that its match asks for."""
    decision = sitting.decision
    assert decision is not None
    if choice.decision != decision.number:
        raise Misbehaved(f"was asked decision {decision.number}, answered {choice.decision}", Forfeit.PROTOCOL)
    if choice.action not in decision.legal:
        chose = f"chose {named(sitting.game, choice.action)} at decision {decision.number}"
        raise Misbehaved(f"{chose}, which is not legal", Forfeit.ILLEGAL)


async def _holds(examiner: Examiner) -> None:
    """Play as many matches at once as the bot claims to hold, a few decisions of each."""
    sittings = [examiner.sit() for _ in range(examiner.claimed)]
    for _ in range(ROUNDS):
        await examiner.in_frames([sitting for sitting in sittings if sitting.decision is not None])
    examiner.bot.say(*[sitting.end() for sitting in sittings])


async def _late(examiner: Examiner) -> None:
    """Ask a question long after the start of its match, as happens while others think."""
    sitting = examiner.sit()
    examiner.bot.say(sitting.start)
    await asyncio.sleep(PAUSE)
    examiner.bot.say(sitting.question)
    await examiner.answered(sitting)
    examiner.bot.say(sitting.end())


async def _doubled(examiner: Examiner) -> None:
    """Ask a question twice: the bot may answer it once or twice, and must answer the next one."""
    sitting = examiner.sit()
    examiner.bot.say(sitting.start, question := sitting.question)
    before = sitting.decision
    assert before is not None
    await examiner.answered(sitting)
    examiner.bot.say(question)
    examiner.bot.say(sitting.question)
    while True:
        for choice in (await examiner.bot.hear(examiner.limits.first + examiner.limits.bank)).choices:
            if (choice.match, choice.decision) != (sitting.number, before.number):
                check_probe(sitting, choice)
                return examiner.bot.say(sitting.end())
            if choice.action not in before.legal:
                raise Misbehaved(f"chose {named(sitting.game, choice.action)} when it was asked again", Forfeit.ILLEGAL)


async def _unknown_fields(examiner: Examiner) -> None:
    """Add fields that a later version of the protocol may have to every message."""
    sitting = examiner.sit()
    frame = pb.PlayResponse.FromString(sitting.start + sitting.question)
    for message in (frame, *frame.starts, *frame.decisions):
        message.MergeFromString(_UNKNOWN)
    examiner.bot.say(frame.SerializeToString())
    await examiner.answered(sitting)
    examiner.bot.say(sitting.end())


async def _ends_at_once(examiner: Examiner) -> None:
    """End one match before its first question and one before its first answer; then play an ordinary one."""
    never, unanswered, ordinary = examiner.sit(), examiner.sit(), examiner.sit()
    examiner.bot.say(never.start, never.end())
    examiner.bot.say(unanswered.start, unanswered.question, unanswered.end())
    examiner.bot.say(ordinary.start, ordinary.question)
    while True:
        choices = (await examiner.bot.hear(examiner.limits.first + examiner.limits.bank)).choices
        if [choice for choice in choices if choice.match == ordinary.number]:
            return examiner.bot.say(ordinary.end())


async def _ends_when_told(examiner: Examiner) -> None:
    examiner.bot.say(frames.part("goodbye", pb.Goodbye(reason="the check is over").SerializeToString()))
    if not await examiner.bot.ended(_FAREWELL):
        raise Misbehaved(f"was still running {_FAREWELL:g} s after Goodbye")


LATE = "late question"
"""Name of the probe that waits before it asks; it takes seconds."""
PROBES_AT_ONCE = "matches at once"
"""Name of the probe that has the bot play several matches at the same time."""
PROBES = (
    Probe(
        PROBES_AT_ONCE,
        _holds,
        "hold fewer (`matches = 1` in the class, or in Hello), and keep nothing of a match outside of it",
    ),
    Probe(LATE, _late, "wait for questions without a time-out: others may think long"),
    Probe("doubled question", _doubled, "answer every question with its own match and decision number, also again"),
    Probe("unknown fields", _unknown_fields, "ignore fields you do not know: later protocols have more"),
    Probe("match that ends at once", _ends_at_once, "forget a match at its MatchEnd, asked or not"),
    Probe("end when told", _ends_when_told, "at Goodbye close the channel and let the program end"),
)
"""All probes, in the order in which one process goes through them; the last one ends the process."""
