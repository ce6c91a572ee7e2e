"""One bot process's stream: frames of decisions out, frames of choices in, and the clock between them.

What gathers for a bot is sent when it has answered the frame before. So frames fill by themselves while many
matches are in play, and a lone match never waits. Nothing here is a coroutine: a frame that comes in is worked off to
the end, and whatever it caused is written at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from google.protobuf.message import DecodeError, Message

from arena.clock import Bank, Limits
from arena.match import Asked, Forfeit, Outcome
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from arena.table import Table

REJECTIONS = 3
"""The third rejected choice is PROTOCOL."""
NOISE = 64
"""Messages that answer nothing, repeated answers not counted, before it is FLOOD; also how many more answers may be
repeated in a match than were given."""
FRAME_BYTES = 64 * 1024
"""The longest frame a bot may send."""
UNLIMITED_MS = 2**32 - 1
"""On the wire, for no limit at all."""
PATIENCE = 0.05
"""Seconds between an overdue answer and the verdict: what has arrived in time may lie unread while we are busy, or were
asleep. An answer that comes in them is late all the same, by what it is charged."""


class SeatAt:
    """One seat of one match, held by a bot's stream."""

    __slots__ = ("answers", "asked", "bank", "closed", "left", "number", "repeats", "seat", "stream", "table", "times")

    def __init__(self, stream: BotStream, number: int, table: Table, seat: int, bank: Bank) -> None:
        self.stream = stream
        self.number = number
        self.table = table
        self.seat = seat
        self.bank = bank
        self.asked: Asked | None = None
        """The decision that was sent and is not answered."""
        self.left = bank.left
        """What the bot was told of its bank with the last decision."""
        self.answers: dict[int, int] = {}
        """What was chosen, by decision number."""
        self.repeats = 0
        self.times: list[float] = []
        """Seconds of each decision, in the order they were asked."""
        self.closed = False
        """Whether what still comes for this seat is to be dropped: it forfeited or the match is over."""


class Timer(Protocol):
    """As of an event loop."""

    def when(self) -> float:
        """The time it goes off, by its clock."""

    def cancel(self) -> None:
        """It does not go off any more."""


class Clock(Protocol):
    """As much of an event loop as is needed here."""

    def time(self) -> float:
        """Seconds, monotonic."""

    def call_at(self, when: float, callback: Callable[[float], object], argument: float, /) -> Timer:
        """Call back at a time."""


class Host(Protocol):
    """Who owns the stream and hears what happens on it."""

    def fault(self, reason: Forfeit, detail: str) -> None:
        """The process misbehaved; it concerns every match it holds."""

    def over_limit(self) -> None:
        """A decision took longer than its limit while several matches were waiting."""

    def settle(self) -> None:
        """The work at hand is done: what has gathered for any bot is to be sent."""

    def evidence(self) -> dict[str, Any]:
        """What the author will want to see: how the process is or ended and what it printed last."""


class BotStream:
    """A joined bot. `held` are the seats it plays, by the match's number on this stream.

    Whenever it has something to send it puts itself among `gathered`.
    """

    def __init__(
        self,
        hello: pb.Hello,
        write: Callable[[bytes], None],
        host: Host,
        gathered: set[BotStream],
        clock: Clock,
    ) -> None:
        self.updates = hello.updates
        self.matches = max(1, hello.matches)
        self.capacity = 1
        """How many matches it is given at once; grows while its answers are far inside the limit."""
        self.held: dict[int, SeatAt] = {}
        self.crowded = False
        """Whether it has held several matches since it last held none: then no fault of the process, and no time, can
        be laid at the door of one of them."""
        self.frames = 0
        self.decisions = 0
        self.host = host
        self._write = write
        self._gathered = gathered
        self._clock = clock
        self._number = 0
        self._frame = pb.PlayResponse(welcome=pb.Welcome(protocol=1))
        self._filled = True
        self._queue: list[tuple[SeatAt, Asked]] = []  # one for each decision in the frame
        self._outstanding = 0
        self._mark = 0.0
        self._timer: Timer | None = None
        self._rejections = 0
        self._noise = 0
        self._offence: tuple[Forfeit, str] | None = None
        self._closed = False

    # Out

    def seat(self, table: Table, seat: int, limits: Limits, start: pb.MatchStart) -> SeatAt:
        """Give the bot a seat in a match; `start` lacks only the match's number."""
        self.crowded = bool(self.held)
        if not self.crowded:
            self._rejections = self._noise = 0  # so that what they cost does not depend on the matches before
        elif self._outstanding:
            self._set_timer()  # what was due when the bank could pay for it is due earlier now
        self._number += 1
        at = self.held[self._number] = SeatAt(self, self._number, table, seat, Bank.full(limits))
        start.match = self._number
        self._frame.starts.append(start)
        self._gather()
        return at

    def ask(self, at: SeatAt, asked: Asked, field: str, view: Message) -> None:
        """Queue a decision."""
        at.left = at.bank.left
        decision_message(self._frame.decisions.add(), at, asked, field, view)
        self._queue.append((at, asked))
        self._gather()

    def update(self, at: SeatAt, actions: Sequence[tuple[int, int]], field: str, view: Message) -> None:
        """Queue what happened in a step, for bots that want to know."""
        message = self._frame.updates.add(match=at.number)
        for seat, action in actions:
            message.actions.add(seat=seat, action=action)
        getattr(message, field).CopyFrom(view)
        self._gather()

    def end(self, at: SeatAt, outcome: Outcome | None) -> None:
        """Queue the end of a match (None: it is void) and let the seat go; what it still owes is owed no more."""
        end = self._frame.ends.add(match=at.number, void=outcome is None)
        if outcome is not None:
            end.ranks.extend(outcome.ranks)
            end.scores.extend(map(str, outcome.scores))
            for seat, reason, detail, _ in outcome.forfeits:
                end.forfeits.add(seat=seat, reason=pb.Forfeit.Value(f"FORFEIT_{reason.name}"), detail=detail)
        at.closed = True
        del self.held[at.number]
        self._forget(at)
        self._gather()

    def _forget(self, at: SeatAt) -> None:
        if at.asked is not None:
            at.asked = None
            self._outstanding -= 1
            self._noise -= 1  # its answer may be on its way
            return
        for index, (queued, _) in enumerate(self._queue):
            if queued is at:
                del self._queue[index], self._frame.decisions[index]
                return

    def flush(self) -> None:
        """Send what has gathered, unless the bot still owes answers."""
        if self._outstanding or self._closed or not self._filled:
            return
        self._filled = False
        frame, self._frame = self._frame, pb.PlayResponse()
        if self._queue:
            queue, self._queue = self._queue, []
            for at, asked in queue:
                at.asked = asked
            self._outstanding = len(queue)
            self.frames += 1
            self.decisions += self._outstanding
            self._mark = self._clock.time()
            self._set_timer()
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
        now = self._clock.time()
        if self._closed:
            return
        answers = self._answers(raw)
        if answers:
            self._book(now, answers)
            for at, asked, action in answers:
                at.table.answered(at, asked, action)
        if self._offence is not None:
            self.host.fault(*self._offence)
        self.host.settle()

    def _answers(self, raw: bytes) -> list[tuple[SeatAt, Asked, int]]:
        """What a frame answers. What else is in it is counted; nothing after an offence is looked at."""
        try:
            if len(raw) > FRAME_BYTES:
                raise DecodeError(f"it has {len(raw)} bytes, {FRAME_BYTES} are allowed")
            choices = pb.PlayRequest.FromString(raw).choices
        except DecodeError as error:
            self._offence = Forfeit.PROTOCOL, f"sent a frame that is no PlayRequest: {error}"
            return []
        if not choices:
            self._answers_nothing()
        answers = []
        for choice in choices:
            if (answer := self._answer(choice)) is not None:
                answers.append(answer)
            elif self._offence is not None:
                break
        return answers

    def _answer(self, choice: pb.Choice) -> tuple[SeatAt, Asked, int] | None:
        at = self.held.get(choice.match)
        if at is not None and (asked := at.asked) is not None and asked.number == choice.decision:
            at.asked = None
            at.answers[choice.decision] = choice.action
            return at, asked, choice.action
        if at is None and not 0 < choice.match <= self._number:
            self._reject(choice, f"match {choice.match} is none of yours")
        elif at is None or at.closed:
            self._answers_nothing()
        elif (first := at.answers.get(choice.decision)) is None:
            self._reject(choice, f"decision {choice.decision} was not asked")
        elif first != choice.action:
            self._reject(choice, f"decision {choice.decision} was answered with {first} before")
        else:
            self._repeats(at)
        return None

    def _answers_nothing(self) -> None:
        self._noise += 1
        if self._noise > NOISE:
            self._offence = Forfeit.FLOOD, f"sent more than {NOISE} messages that answer nothing"

    def _repeats(self, at: SeatAt) -> None:
        at.repeats += 1
        if at.repeats > NOISE + len(at.answers):
            self._offence = Forfeit.FLOOD, f"gave {len(at.answers)} answers in a match and repeated {at.repeats}"

    def _reject(self, choice: pb.Choice, problem: str) -> None:
        self._rejections += 1
        left = REJECTIONS - self._rejections
        cost = f"{left} more and the match is lost" if left else "the match is lost"
        rejected = pb.Rejected(match=choice.match, decision=choice.decision, reason=f"{problem}; {cost}")
        self._write(pb.PlayResponse(rejections=[rejected]).SerializeToString())
        if not left:
            self._offence = Forfeit.PROTOCOL, f"made {REJECTIONS} choices that were not asked for; the last: {problem}"

    # Time

    def _book(self, now: float, answers: Sequence[tuple[SeatAt, Asked, int]]) -> None:
        """Share the time since the frame, or the answers before, equally over what was answered together."""
        share = (now - self._mark) / len(answers)
        over = False
        for at, _, _ in answers:
            at.times.append(share)
            over = over or share > at.bank.limit
            if self.crowded:
                at.bank.answered()
            else:
                at.bank.charge(share)
        self._outstanding -= len(answers)
        self._mark = now
        if over and self.crowded:
            self.host.over_limit()
        self._adapt(share * self.capacity, answers[0][0].bank.limits.decision)
        if self._outstanding:
            self._set_timer()
        else:
            self._gathered.add(self)

    def _adapt(self, full_frame: float, limit: float) -> None:
        if full_frame < limit / 8:
            self.capacity = min(2 * self.capacity, self.matches)
        elif full_frame > limit / 2:
            self.capacity = max(1, self.capacity // 2)

    def _due(self) -> float:
        """When the outstanding answers are overdue. The bank is for a match that is alone."""
        due = self._mark + sum(at.bank.limit for at in self.held.values() if at.asked is not None)
        return due if self.crowded else due + sum(at.bank.left for at in self.held.values())

    def _set_timer(self) -> None:
        when = min(self._due(), self._clock.time() + 3600)
        if self._timer is not None:
            if self._timer.when() <= when:
                return  # it will look again when it fires
            self._timer.cancel()
        self._timer = self._clock.call_at(when, self._look, when)

    def _look(self, when: float) -> None:
        self._timer = None
        if not self._outstanding or self._closed:
            return
        if self._due() > when:
            self._set_timer()
        else:
            self._timer = self._clock.call_at(self._clock.time() + PATIENCE, self._judge, self._mark)

    def _judge(self, mark: float) -> None:
        self._timer = None
        if not self._outstanding or self._closed:
            return
        if self._mark != mark:
            self._set_timer()
            return
        rejected = f"; choices that were not asked for: {self._rejections}" if self._rejections else ""
        self.host.fault(Forfeit.TIMEOUT, f"no answer in {self._due() - mark:.2f} s{rejected}")
        self.host.settle()


def decision_message(message: pb.Decision, at: SeatAt, asked: Asked, field: str, view: Message) -> pb.Decision:
    """Fill in the question as the seat gets it."""
    message.match = at.number
    message.decision = asked.number
    legal = asked.legal
    if type(legal) is range:
        message.legal_first = legal.start
        message.legal_count = len(legal)
    else:
        message.legal.extend(legal)
    message.bank_ms = int(min(at.left * 1000, UNLIMITED_MS))
    getattr(message, field).CopyFrom(view)
    return message
