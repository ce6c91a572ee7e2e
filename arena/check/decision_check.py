"""Put the recorded questions of one seat to a bot again, without a time limit, to see where it chooses differently."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, NamedTuple

from google.protobuf.json_format import MessageToDict

from arena import replay
from arena.check.examined import Examined, ExaminedQuestion, Misbehaved
from arena.games.rules import Seat
from arena.referee import frames
from arena.referee.limits import Bank, Limits
from arena.referee.match import Asked, Match
from arena.referee.seat import BotSeat
from arena.replay.questions import Setup
from arena.replay.record import Unreadable
from arena.v1 import referee_pb2 as pb
from arena.worker.bot_output import by_decision

if TYPE_CHECKING:
    from ladder import store

ANSWER_PATIENCE = 7 * 86400.0
"""Seconds to wait for an answer: whoever steps through a decision in a debugger may go home meanwhile."""


class Compared(NamedTuple):
    """One decision: `then` is the choice in the match (None: no answer), `now` the choice of this build."""

    question: ExaminedQuestion
    then: int | None
    now: int
    printed: tuple[str, ...] = ()
    """What this build printed at it."""


async def compare_decisions(
    match: store.Match,
    seat: Seat,
    examined: AbstractAsyncContextManager[Examined],
    report: Callable[[int, int], None],
    at: int | None = None,
) -> list[Compared]:
    """Put a seat's decisions, up to number `at`, to a bot under examination as they were asked.

    Raises Unreadable, and Misbehaved, with the question if it was asked one.
    """
    setup, record = _recorded(match)
    limits = Limits(**match.ladder.key.limits)
    numbers = [decision.number for _, decision, _ in setup.replayed(record) if decision.seat == seat]
    if at is not None and at not in numbers:
        raise Unreadable(f"seat {seat} was asked the decisions {', '.join(map(str, numbers)) or 'none'}, not {at}")
    compared: list[Compared] = []
    report(0, len(numbers))
    async with examined as bot:
        bot.say(setup.start(1, seat, limits))
        at_table = BotSeat(1, seat, setup.players, Bank.full(limits), updates=False, evidence=dict)
        bot.log.began(at_table, match.id)
        choices_shown = 0
        for now, decision, action in setup.replayed(record):
            if bot.hello.updates and now.choices[choices_shown:]:
                bot.say(frames.update(frames.match_frame(1), now.choices[choices_shown:], setup.view(seat, now.state)))
            choices_shown = len(now.choices)
            if decision.seat == seat:
                at_table.decision = decision
                then = _forfeited_with(match, seat) if action is None else action
                compared.append(
                    await _ask(bot, setup.question(1, decision, now.state, limits.bank), now, decision, then)
                )
                report(len(compared), len(numbers))
                if decision.number == at:
                    break
        bot.log.ended(at_table, has_result=True)
    said = by_decision(bot.printed())
    return [comparison._replace(printed=tuple(said.get(comparison.question.decision, ()))) for comparison in compared]


def _recorded(match: store.Match) -> tuple[Setup, replay.Replay]:
    """Return what a stored match was played with, and its record. Raises Unreadable."""
    if match.replay is None:
        raise Unreadable(f"match {match.id} is {match.status}: nothing was asked in it yet")
    if match.seed is None:
        raise Unreadable(f"the dice of match {match.id} are known when every match of its group is done")
    key = match.ladder.key
    return Setup(key.game, key.seats, key.options, match.seed), replay.unpack(match.replay)


def _forfeited_with(match: store.Match, seat: Seat) -> int | None:
    """Return the answer with which a seat forfeited; None if it gave none."""
    answer: int | None = (match.seats[seat].evidence or {}).get("answer")
    return answer


async def _ask(bot: Examined, question: bytes, match: Match, decision: Asked, then: int | None) -> Compared:
    (request,) = pb.PlayResponse.FromString(question).decisions
    plain = MessageToDict(request, preserving_proto_field_name=True)
    asked_as = ExaminedQuestion(decision.number, list(decision.legal), plain, match.game.picture(match.state))
    try:
        bot.say(question)
        choices = (await bot.hear(ANSWER_PATIENCE)).choices
        if [(choice.match, choice.decision) for choice in choices] != [(1, decision.number)]:
            answered = [choice.decision for choice in choices]
            raise Misbehaved(f"was asked decision {decision.number}, answered {answered}")
    except Misbehaved as fault:
        fault.question = asked_as
        raise
    return Compared(asked_as, then, choices[0].action)
