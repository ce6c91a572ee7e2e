"""One bot process's stream: frames of decisions out, frames of choices in, and the clock between them.

What gathers for a bot is sent when it has answered the frame before. So frames fill by themselves while many
matches are in play, and a lone match never waits. Nothing here is a coroutine: a frame that comes in is worked off to
the end, and whatever it caused is written at once.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from google.protobuf.message import DecodeError

from arena.referee import frames
from arena.referee.clock import OVERLOAD, Bank, Limits, Usage, charged
from arena.referee.match import Asked, Forfeit, Outcome
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from arena.referee.table import Table

REJECTIONS = 3
"""The third rejected choice is PROTOCOL."""
NOISE = 64
"""Messages that answer nothing, repeated answers not counted, before it is FLOOD; also how many more answers may be
repeated in a match than were given."""
FRAME_BYTES = 64 * 1024
"""The longest frame a bot may send."""
GLANCES = 12
"""How often in a limit somebody looks whether a bot thinks. What it does before it is first seen thinking, about a
tenth of its limit, is charged by the clock on the wall; so whoever answers at once costs no look at its processes."""
CORES = os.cpu_count() or 1
"""So many times the time by the wall a bot can be charged at most."""
PATIENCE = 0.05
"""Seconds between an overdue answer and the verdict: what has arrived in time may lie unread while we are busy, or were
asleep. An answer that comes in them is late all the same, by what it is charged."""
PIECES = 4
"""So many times in a limit a bot with several matches is to say what it has decided so far: the SDKs do. The last
decision of a piece may begin when the piece is due, so silence may last for one piece and one decision."""


class SeatAt:
    """One seat of one match, held by a bot's stream."""

    __slots__ = (
        "charged",
        *("answers", "asked", "bank", "closed", "number", "of", "opening", "question"),
        *("repeats", "seat", "stream", "table", "times"),
    )

    def __init__(self, stream: BotStream, number: int, table: Table, seat: int, bank: Bank) -> None:
        self.stream = stream
        self.number = number
        self.of = frames.match(number)
        """The number as a field of messages."""
        self.table = table
        self.seat = seat
        self.bank = bank
        self.asked: Asked | None = None
        """The last decision that was put to it, answered or not."""
        self.question = b""
        """That decision as a part of a frame."""
        self.opening = b""
        """What its bot is to read before its first question: it has not heard of the match yet."""
        self.answers: dict[int, int] = {}
        """What was chosen, by decision number."""
        self.repeats = 0
        self.charged: dict[int, float] = {}
        """What was charged for a decision, by its place in `times`, where the machine was too busy to charge it all."""
        self.times: list[float] = []
        """Seconds of each decision, in the order they were asked."""
        self.closed = False
        """Whether what still comes for this seat is to be dropped: it forfeited or the match is over."""

    def put(self, asked: Asked, view: bytes) -> None:
        """Put a decision to it; `view` as `frames.view` makes it."""
        self.asked = asked
        self.question = frames.decision(self.of, asked.number, asked.legal, self.bank.left, view)

    @property
    def charge(self) -> float:
        """Seconds that the last decision was charged."""
        return self.charged.get(len(self.times) - 1, self.times[-1])


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

    def usage(self) -> Usage | None:
        """What the bot's processes had of the machine by now; None if that cannot be seen."""

    def stood_still(self, since: float) -> bool:
        """Whether the referee itself did not run for a while since a time."""

    def overload(self, detail: str) -> None:
        """A decision cannot be judged, by the machine's doing; it concerns every match the bot holds."""

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
        """How many matches it is given at once, and how many decisions in a frame; grows while frames are answered far
        inside the limit."""
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
        # What the next frame will have; by the match's number, since a match asks a seat one thing at a time.
        self._news = [frames.welcome()]
        self._queue: dict[int, SeatAt] = {}
        self._ends: list[bytes] = []
        self._owed: dict[int, SeatAt] = {}
        """The decisions of the last frame that are not answered."""
        self._openings = 1
        """How many first decisions a frame may have: a bot may build tables at each, for ten limits."""
        self._sent = 0.0
        """When the last frame of decisions went out."""
        self._asked = 0
        """How many decisions it had, ..."""
        self._firsts = 0
        """... and how many of them were first ones."""
        self._mark = 0.0
        """When it went out, or when the last answer to it came."""
        self._seen: tuple[float, Usage] | None = None
        """When, since the mark, its processes were looked at, and what was seen."""
        self._slow = False
        """Whether the frame before took so long that they were."""
        self._shortest = math.inf
        """The shortest limit of any match it was given: the timer looks at least so often."""
        self._timer: Timer | None = None
        self._rejections = 0
        self._noise = 0
        self._offence: tuple[Forfeit, str] | None = None
        self._closed = False

    # Out

    def seat(self, table: Table, seat: int, limits: Limits, start: bytes) -> SeatAt:
        """Give the bot a seat in a match; `start` is its MatchStart, which lacks only the match's number."""
        self.crowded = bool(self.held)
        if not self.crowded:
            self._rejections = self._noise = 0  # so that what they cost does not depend on the matches before
        if limits.decision < self._shortest:
            self._shortest = limits.decision
            self._watch_anew()
        self._number += 1
        at = self.held[self._number] = SeatAt(self, self._number, table, seat, Bank.full(limits))
        at.opening = frames.start(at.of, start)
        if not self.crowded:
            self._tell(at)
        self._gathered.add(self)
        return at

    def ask(self, at: SeatAt, asked: Asked, view: bytes) -> None:
        """Queue a decision; `view` as `frames.view` makes it."""
        at.put(asked, view)
        self._queue[at.number] = at
        self._gathered.add(self)

    def update(self, at: SeatAt, actions: Sequence[tuple[int, int]], view: bytes) -> None:
        """Queue what happened in a step, for bots that want to know."""
        if at.opening:
            at.opening += frames.update(at.of, actions, view)
            return
        self._news.append(frames.update(at.of, actions, view))
        self._gathered.add(self)

    def _tell(self, at: SeatAt) -> None:
        """Put the start of a match into the next frame.

        One among several comes with its first question: else all that many matches have a bot prepare might have to be
        done before one answer.
        """
        self._news.append(at.opening)
        at.opening = b""

    def end(self, at: SeatAt, outcome: Outcome | None) -> None:
        """Queue the end of a match (None: it is void) and let the seat go; what it still owes is owed no more."""
        at.closed = True
        del self.held[at.number]
        self._queue.pop(at.number, None)
        if self._owed.pop(at.number, None) is not None:
            self._noise -= 1  # its answer may be on its way
        if at.opening:
            self._tell(at)
        self._ends.append(frames.end(at.of, outcome))
        self._gathered.add(self)

    @property
    def owes(self) -> bool:
        """Whether answers are awaited."""
        return bool(self._owed)

    @property
    def full(self) -> bool:
        """Whether to wait would not make the next frame much fuller: of its matches this bot's share is in it already.

        True also while answers are owed: what gathers then is sent after them.
        """
        if self._owed or not self.held or len(self._queue) >= self.capacity:
            return True
        seats = next(iter(self.held.values())).table.match.seats
        return seats * len(self._queue) >= len(self.held)

    def flush(self) -> None:
        """Send what has gathered, unless the bot still owes answers."""
        if self._owed or self._closed or not (self._queue or self._news or self._ends):
            return
        if self._queue:
            self._owed = self._next()
            self.frames += 1
            self.decisions += len(self._owed)
            self._sent = self._mark = self._clock.time()
            if self._slow:
                self._glance(self._mark)
            self._watch()
        self._write(self._frame(self._owed))

    def _next(self) -> dict[int, SeatAt]:
        """What the next frame asks, taken out of the queue: no more than the bot has shown that it answers in time.

        A bot may answer a frame only when it is through with it, and then nothing else tells that it has not stopped.
        """
        asked, self._queue = self._queue, {}
        firsts = sum([at.bank.first for at in asked.values()])
        if len(asked) > self.capacity or firsts > self._openings:
            asked, self._queue, firsts = self._cut(asked)
        self._asked, self._firsts = len(asked), firsts
        return asked

    def _cut(self, queue: dict[int, SeatAt]) -> tuple[dict[int, SeatAt], dict[int, SeatAt], int]:
        """What of a queue fits into a frame, the rest, and how many first decisions are in the frame."""
        asked, rest, firsts = dict[int, SeatAt](), dict[int, SeatAt](), 0
        for number, at in queue.items():
            if len(asked) == self.capacity or (at.bank.first and firsts == self._openings):
                rest[number] = at
            else:
                asked[number] = at
                firsts += at.bank.first
        return asked, rest, firsts

    def _frame(self, asked: Mapping[int, SeatAt]) -> bytes:
        for at in asked.values() if self._firsts else ():
            if at.opening:
                self._tell(at)
        frame = b"".join([*self._news, *[at.question for at in asked.values()], *self._ends])
        self._news, self._ends = [], []
        return frame

    def goodbye(self, reason: str) -> None:
        """Tell the bot to leave; nothing is expected of it any more."""
        if not self._closed:
            self._write(self._frame({}) + frames.part("goodbye", pb.Goodbye(reason=reason).SerializeToString()))
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
        if answers := self._answers(raw):
            for at, action in answers if self._book(now, answers) else ():
                at.table.answered(at, action)
        if self._offence is not None:
            self.host.fault(*self._offence)
        self.host.settle()

    def _answers(self, raw: bytes) -> list[tuple[SeatAt, int]]:
        """What a frame answers. What else is in it is counted; nothing after an offence is looked at."""
        answers = []
        owed = self._owed
        for choice in self._choices(raw):
            number, decision, action = choice.match, choice.decision, choice.action
            if (at := owed.get(number)) is not None and at.asked.number == decision:  # type: ignore[union-attr]
                del owed[number]
                at.answers[decision] = action
                answers.append((at, action))
                continue
            self._not_owed(choice)
            if self._offence is not None:
                break
        return answers

    def _choices(self, raw: bytes) -> Sequence[pb.Choice]:
        try:
            if len(raw) > FRAME_BYTES:
                raise DecodeError(f"it has {len(raw)} bytes, {FRAME_BYTES} are allowed")
            choices = pb.PlayRequest.FromString(raw).choices
        except DecodeError as error:
            self._offence = Forfeit.PROTOCOL, f"sent a frame that is no PlayRequest: {error}"
            return ()
        if not choices:
            self._answers_nothing()
        return choices

    def _not_owed(self, choice: pb.Choice) -> None:
        """A choice that answers none of the decisions in the last frame."""
        at = self.held.get(choice.match)
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
        self._write(frames.part("rejections", rejected.SerializeToString()))
        if not left:
            self._offence = Forfeit.PROTOCOL, f"made {REJECTIONS} choices that were not asked for; the last: {problem}"

    # Time

    def _book(self, now: float, answers: Sequence[tuple[SeatAt, int]]) -> bool:
        """Share the time since the frame, or the answers before, equally over what was answered together.

        Whether it was too much is asked of all together: first decisions may take longer than others.
        False if there is no telling how long it was: then no match of this bot's goes on.
        """
        share = charge = (now - self._mark) / len(answers)
        if over := share * CORES > self._shortest and share * CORES > _mean_limit(answers):
            charge = self._charged(now) / len(answers)
            over = charge > _mean_limit(answers)
        if over and self.host.stood_still(self._mark):
            charge, over = 0.0, False
            if not self.crowded:
                self.host.overload("the arena itself stood still for a while")
                return False
        for at, _ in answers:
            if charge != share:
                at.charged[len(at.times)] = charge
            at.times.append(share)
            if self.crowded:
                at.bank.answered()
            else:
                at.bank.charge(charge)
        self._mark = now
        self._slow, self._seen = self._seen is not None, None
        if over and self.crowded:
            self.host.over_limit()
        if not self._owed:
            self._adapt(now - self._sent, answers[0][0].bank.limits)
        self._gathered.add(self)
        return True

    def _glance(self, now: float) -> None:
        """Look at the bot's processes, to know later what they did from now on, and whether others came meanwhile."""
        if (usage := self.host.usage()) is None:
            return
        if self._seen is None:
            self._seen = now, usage
        elif usage.uncounted != self._seen[1].uncounted:
            self._seen = self._seen[0], self._seen[1].stirred()

    def _charged(self, now: float) -> float:
        """Of the time since the mark, what is the bot's own doing. What was before the glance is, all of it."""
        if self._seen is None or (after := self.host.usage()) is None:
            return now - self._mark
        seen, before = self._seen
        return seen - self._mark + charged(now - seen, before, after)

    def _adapt(self, took: float, limits: Limits) -> None:
        """Ask more or less at a time, after a frame has been answered to its end, in one piece or in many."""
        full_frame = took / self._asked * self.capacity
        self.capacity = at_once(self.capacity, self.matches, full_frame, limits.decision)
        if self._firsts:
            full_frame = took / self._firsts * self._openings
            self._openings = at_once(self._openings, self.matches, full_frame, limits.first)

    def _due(self) -> float:
        """When what is owed is overdue."""
        return self._mark + sum(self._allowance())

    def _allowance(self) -> tuple[float, float, float]:
        """Seconds for which nothing may be answered: a limit, what a bank has left, and what it may keep back.

        A bot works off a frame in an order of its own, so it may be at any decision it owes: the one that may take
        longest counts. Alone it could spend its bank on that one, so it may here, though here nobody is charged. And
        if it says what it has decided in pieces, the last decision of a piece is begun before the piece is due. A bot
        that answers a frame only at its end gets frames that it is through with long before.
        """
        limit, bank = max([(at.bank.limit, at.bank.left) for at in self._owed.values()], key=sum)
        if not self.crowded:
            return limit, bank, 0.0
        return limit, bank, max([at.bank.limits.decision for at in self._owed.values()]) / PIECES

    def _watch(self) -> None:
        """Have somebody look before anything that is or will be owed is overdue.

        A timer for every frame would cost more than one that goes off now and then for nothing.
        """
        if self._timer is None:
            now = self._clock.time()
            wait = 1 / GLANCES if self._seen is None else random.uniform(0.1, 0.4)  # or a bot could hide from a look
            when = min(self._due(), now + self._shortest * wait, now + 3600)
            self._timer = self._clock.call_at(when, self._look, when)

    def _watch_anew(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._owed:
                self._watch()

    def _look(self, when: float) -> None:
        self._timer = None
        if not self._owed or self._closed:
            return
        now = self._clock.time()
        if self._due() > when:
            first = self._seen is None and now - self._mark > self._shortest / GLANCES / 2
            if first or (self._seen is not None and self._seen[1].uncounted):
                self._glance(now)
            self._watch()
        else:
            self._timer = self._clock.call_at(now + PATIENCE, self._judge, self._mark)

    def _judge(self, mark: float) -> None:
        self._timer = None
        if not self._owed or self._closed:
            return
        if self._mark != mark:
            self._watch()
            return
        now = self._clock.time()
        allowed, asleep = sum(self._allowance()), self.host.stood_still(mark)
        left = allowed - self._charged(now)
        if left < 0 and not asleep:
            self._overdue()
        elif asleep or now - mark > OVERLOAD * allowed:
            self.host.overload(f"no answer in {now - mark:.2f} s, in most of which the machine was busy elsewhere")
        else:
            when = min(now + left, mark + OVERLOAD * allowed) + PATIENCE
            self._timer = self._clock.call_at(when, self._judge, mark)
        self.host.settle()

    def _overdue(self) -> None:
        rejected = f"; choices that were not asked for: {self._rejections}" if self._rejections else ""
        limit, bank, piece = self._allowance()
        allowed = f"a limit of {limit:.2f} s and {bank:.2f} s left of the bank"
        more = f", and {piece:.2f} s more while there are several matches" if piece else ""
        self.host.fault(Forfeit.TIMEOUT, f"no answer in {limit + bank + piece:.2f} s: {allowed}{more}{rejected}")


def at_once(now: int, most: int, full_frame: float, limit: float) -> int:
    """How much to ask in one frame from now on, `most` at most: doubled while a full frame is far inside the limit."""
    if full_frame < limit / 8:
        return min(2 * now, most)
    return max(1, now // 2) if full_frame > limit / 2 else now


def _mean_limit(answers: Sequence[tuple[SeatAt, int]]) -> float:
    return sum([at.bank.limit for at, _ in answers]) / len(answers)
