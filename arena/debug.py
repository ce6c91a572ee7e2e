"""Feed the recorded questions of one seat to a bot again, with no clock, and see where it would choose otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict

from arena import games, wire
from arena.check.examiner import Examined, Misbehaved, Waiting, examined
from arena.clock import NO_LIMITS
from arena.games.rules import Seat
from arena.match import Asked
from arena.questions import Setup, Step, played
from arena.seated import Entrant
from arena.v1 import referee_pb2 as pb

PATIENCE = 7 * 86400.0
"""Seconds: whoever debugs may go home meanwhile."""


class Record(NamedTuple):
    """What is known of a match that was played."""

    setup: Setup
    choices: Sequence[tuple[Seat, int]]
    gone: Mapping[Seat, int]
    """Of seats that forfeited, the number of the decision they forfeited with; 0 for those that never joined."""
    last: Mapping[Seat, int | None]
    """What they answered to it."""


class Compared(NamedTuple):
    """One decision: what was chosen in the match (None: no answer), and what this build chooses."""

    decision: int
    then: int | None
    now: int
    request: dict[str, Any]
    picture: str


Report = Callable[[int, int], None]


async def compare(
    record: Record,
    seat: Seat,
    entrant: Entrant,
    *,
    start_limit: float,
    at: int | None = None,
    waiting: Waiting | None = None,
    report: Report = lambda _done, _total: None,
) -> list[Compared]:
    """The seat's decisions, up to the number `at`, each put to a bot in the match as it was. Raises Misbehaved."""
    steps = list(played(record.setup, record.choices, record.gone))
    total = sum(asked.seat == seat for step in steps for asked in step.asked)
    compared: list[Compared] = []
    async with examined(entrant, start_limit, waiting) as bot:
        bot.say(record.setup.start(1, seat, NO_LIMITS))
        for step in steps:
            for asked in step.asked:
                if asked.seat == seat:
                    compared.append(await _ask(bot, record, step, asked))
                    report(len(compared), total)
                    if asked.number == at:
                        return compared
            if bot.hello.updates and step.decisions is not None:
                bot.say(_update(record.setup, step))
    return compared


async def _ask(bot: Examined, record: Record, step: Step, asked: Asked) -> Compared:
    question = record.setup.question(1, asked, step.state, NO_LIMITS.bank)
    bot.say(question)
    choices = (await bot.hear(PATIENCE)).choices
    if [(choice.match, choice.decision) for choice in choices] != [(1, asked.number)]:
        raise Misbehaved(f"was asked decision {asked.number}, answered {[choice.decision for choice in choices]}")
    then = record.last.get(asked.seat) if record.gone.get(asked.seat) == asked.number else _then(step, asked)
    (request,) = pb.PlayResponse.FromString(question).decisions
    picture = games.game(record.setup.game).picture(step.state)
    return Compared(asked.number, then, choices[0].action, MessageToDict(request), picture)


def _then(step: Step, asked: Asked) -> int | None:
    return None if step.decisions is None else step.decisions[asked.seat]


def _update(setup: Setup, step: Step) -> bytes:
    """What happened in a step; the view is that of the state after it."""
    raise NotImplementedError
