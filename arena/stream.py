"""One bot process's stream: frames of decisions out, frames of choices in, and the clock between them.

What gathers for a bot is sent when it has answered the frame before. So frames fill by themselves while many
matches are in play, and a lone match never waits. Nothing here is a coroutine: a frame that comes in is worked off to
the end, and whatever it caused is written at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from google.protobuf.message import DecodeError, Message

from arena.clock import Bank, Limits
from arena.match import Asked, Forfeit, Outcome
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from arena.table import Table

REJECTIONS = 3
"""The third rejected choice on one stream is PROTOCOL."""
NOISE = 64
"""Messages that answer nothing, over and above those that do, before it is FLOOD."""
FRAME_BYTES = 64 * 1024
"""The longest frame a bot may send."""


class SeatAt:
    """One seat of one match, held by a bot's stream."""

    __slots__ = ("answers", "asked", "bank", "closed", "number", "seat", "stream", "table", "times")

    def __init__(self, stream: BotStream, number: int, table: Table, seat: int, bank: Bank) -> None:
        self.stream = stream
        self.number = number
        self.table = table
        self.seat = seat
        self.bank = bank
        self.asked: Asked | None = None
        self.answers: dict[int, int] = {}
        """What was chosen, by decision number."""
        self.times: list[float] = []
        """Seconds of each decision, in the order they were asked."""
        self.closed = False
        """Whether what still comes for this seat is to be dropped: it forfeited or the match is over."""


class Host(Protocol):
    """Who owns the stream and hears what happens on it."""

    def fault(self, reason: Forfeit, detail: str) -> None:
        """The process misbehaved; it concerns every match it holds."""

    def over_limit(self) -> None:
        """A decision took longer than its limit while several matches were waiting."""

    def settle(self) -> None:
        """The work at hand is done: what has gathered for any bot is to be sent."""


class BotStream:
    """A joined bot. `held` are the seats it plays, by the match's number on this stream."""

    def __init__(self, hello: pb.Hello, write: Callable[[bytes], None], host: Host, gathered: set[BotStream]) -> None:
        self.updates = hello.updates
        self.matches = max(1, hello.matches)
        self.capacity = 1
        """How many matches it is given at once; grows while its answers are far inside the limit."""
        self.held: dict[int, SeatAt] = {}
        self.frames = 0
        self.decisions = 0
        self._write = write
        self._host = host
        self._gathered = gathered
        self._loop = asyncio.get_running_loop()
        self._number = 0
        self._frame = pb.PlayResponse(welcome=pb.Welcome(protocol=1))
        self._filled = True
        self._queued = 0
        self._queued_limits = 0.0
        self._outstanding = 0
        self._limits = 0.0
        self._mark = 0.0
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._rejections = 0
        self._noise = NOISE
        self._closed = False

    # Out

    def seat(self, table: Table, seat: int, limits: Limits, start: pb.MatchStart) -> SeatAt:
        """Give the bot a seat in a match; `start` lacks only the match's number."""
        if not self.held:
            self._rejections = 0  # so that what it costs does not depend on which matches went before
        self._number += 1
        at = self.held[self._number] = SeatAt(self, self._number, table, seat, Bank.full(limits))
        start.match = self._number
        self._frame.starts.append(start)
        self._gather()
        return at

    def ask(self, at: SeatAt, asked: Asked, field: str, view: Message) -> None:
        """Queue a decision."""
        at.asked = asked
        decision_message(self._frame.decisions.add(), at, field, view)
        self._queued += 1
        self._queued_limits += at.bank.limit
        self._gather()

    def update(self, at: SeatAt, actions: Sequence[tuple[int, int]], field: str, view: Message) -> None:
        """Queue what happened in a step, for bots that want to know."""
        message = self._frame.updates.add(match=at.number)
        for seat, action in actions:
            message.actions.add(seat=seat, action=action)
        getattr(message, field).CopyFrom(view)
        self._gather()

    def end(self, at: SeatAt, outcome: Outcome | None) -> None:
        """Queue the end of a match (None: it is void) and let the seat go."""
        end = self._frame.ends.add(match=at.number, void=outcome is None)
        if outcome is not None:
            end.ranks.extend(outcome.ranks)
            end.scores.extend(map(str, outcome.scores))
            for seat, reason, detail, _ in outcome.forfeits:
                end.forfeits.add(seat=seat, reason=pb.Forfeit.Value(f"FORFEIT_{reason.name}"), detail=detail)
        self.release(at)
        self._gather()

    def release(self, at: SeatAt) -> None:
        """Take a seat from the bot; a decision it still owes is owed no more."""
        at.closed = True
        del self.held[at.number]
        if at.asked is not None:
            self._forget(at)

    def flush(self) -> None:
        """Send what has gathered, unless the bot still owes answers."""
        if self._outstanding or self._closed or not self._filled:
            return
        self._filled = False
        frame, self._frame = self._frame, pb.PlayResponse()
        if self._queued:
            self._outstanding, self._queued = self._queued, 0
            self._limits, self._queued_limits = self._queued_limits, 0.0
            self._mark = self._loop.time()
            self._set_due()
            self.frames += 1
            self.decisions += self._outstanding
        self._write(frame.SerializeToString())

    def _gather(self) -> None:
        self._filled = True
        self._gathered.add(self)

    def goodbye(self, reason: str) -> None:
        """Tell the bot to leave; nothing is expected of it any more."""
        if not self._closed:
            self._frame.goodbye.reason = reason
            self._write(self._frame.SerializeToString())
            self.close()

    def close(self) -> None:
        """Stop listening and timing."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    # In

    def receive(self, raw: bytes) -> None:
        """Work off one frame of the bot's."""
        now = self._loop.time()
        if self._closed:
            return None
        try:
            if len(raw) > FRAME_BYTES:
                raise DecodeError(f"{len(raw)} bytes")
            choices = pb.PlayRequest.FromString(raw).choices
        except DecodeError as error:
            self._host.fault(Forfeit.PROTOCOL, f"sent a frame that is no PlayRequest: {error}"[:300])
            return self._host.settle()
        answers = [answer for choice in choices if (answer := self._match(choice)) is not None]
        if answers:
            self._book(now, answers)
            for at, asked, action in answers:
                at.table.answered(at, asked, action)
        elif not choices:
            self._noise -= 1
        if self._noise < 0:
            self._host.fault(Forfeit.FLOOD, "sent more messages that answer nothing than it may")
        self._host.settle()
        return None

    def _match(self, choice: pb.Choice) -> tuple[SeatAt, Asked, int] | None:
        at = self.held.get(choice.match)
        if at is not None and (asked := at.asked) is not None and asked.number == choice.decision:
            at.asked = None
            at.answers[choice.decision] = choice.action
            self._noise += 1
            return at, asked, choice.action
        self._noise -= 1
        problem = self._what_is_wrong(choice, at)
        if problem is not None:
            self._reject(choice, problem)
        return None

    def _what_is_wrong(self, choice: pb.Choice, at: SeatAt | None) -> str | None:
        """None for what is dropped in silence: a repetition, and what comes for a seat that is closed."""
        if at is None:
            ended = 0 < choice.match <= self._number
            return None if ended else f"match {choice.match} is none of yours"
        if at.closed:
            return None
        if choice.decision not in at.answers:
            return f"decision {choice.decision} was not asked"
        first = at.answers[choice.decision]
        return None if first == choice.action else f"decision {choice.decision} was answered with {first} before"

    def _reject(self, choice: pb.Choice, problem: str) -> None:
        self._rejections += 1
        left = REJECTIONS - self._rejections
        cost = f"{left} more and the match is lost" if left > 0 else "the match is lost"
        rejected = pb.Rejected(match=choice.match, decision=choice.decision, reason=f"{problem}; {cost}")
        self._write(pb.PlayResponse(rejections=[rejected]).SerializeToString())
        if left == 0:
            self._host.fault(Forfeit.PROTOCOL, f"the third choice that was not asked for: {problem}")

    # Time

    def _book(self, now: float, answers: Sequence[tuple[SeatAt, Asked, int]]) -> None:
        """Share the time since the frame, or the answers before, equally over what was answered together."""
        share = (now - self._mark) / len(answers)
        alone = len(self.held) == 1
        over = False
        for at, _, _ in answers:
            at.times.append(share)
            self._limits -= at.bank.limit
            over = over or share > at.bank.limit
            if alone:
                at.bank.charge(share)
            else:
                at.bank.answered()
        self._outstanding -= len(answers)
        self._mark = now
        if over and not alone:
            self._host.over_limit()
        self._adapt(share * self.capacity, answers[0][0].bank.limits.decision)
        if self._outstanding:
            self._set_due()
        else:
            self._gathered.add(self)

    def _adapt(self, full_frame: float, limit: float) -> None:
        if full_frame < limit / 8:
            self.capacity = min(2 * self.capacity, self.matches)
        elif full_frame > limit / 2:
            self.capacity = max(1, self.capacity // 2)

    def _forget(self, at: SeatAt) -> None:
        """A decision needs no answer any more; it may be on its way or still queued here."""
        for index, decision in enumerate(self._frame.decisions):
            if decision.match == at.number:
                del self._frame.decisions[index]
                self._queued -= 1
                self._queued_limits -= at.bank.limit
                return
        self._outstanding -= 1
        self._limits -= at.bank.limit
        at.asked = None
        self._gathered.add(self)

    def _set_due(self) -> None:
        if len(self.held) == 1:
            (at,) = self.held.values()
            self._due = self._mark + at.bank.allowance
        else:
            self._due = self._mark + self._limits
        if self._timer is not None and self._timer.when() <= self._due:
            return  # it will look again when it fires
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(min(self._due, self._mark + 3600), self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._outstanding or self._closed:
            return
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(min(self._due, self._loop.time() + 3600), self._look)
            return
        waited = self._loop.time() - self._mark
        self._host.fault(Forfeit.TIMEOUT, f"no answer in {waited:.2f} s")
        self._host.settle()


def decision_message(message: pb.Decision, at: SeatAt, field: str, view: Message) -> pb.Decision:
    """Fill in the question that a seat was asked last."""
    asked = at.asked
    assert asked is not None
    message.match = at.number
    message.decision = asked.number
    legal = asked.legal
    if type(legal) is range:
        message.legal_first = legal.start
        message.legal_count = len(legal)
    else:
        message.legal.extend(legal)
    left: Any = at.bank.left
    if left < 4_000_000:
        message.bank_ms = max(0, int(left * 1000))
    getattr(message, field).CopyFrom(view)
    return message
