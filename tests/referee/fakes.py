"""Fakes for the tests of streams and matches: virtual time, and bots that say what a test tells them to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from arena.referee.limits import Limits
from arena.referee.match import Asked, Fault, Forfeit, Match, MatchOutcome, Void
from arena.referee.seat import BotSeat
from arena.referee.stream import BotStream, Heard
from arena.referee.table import Outgoing, Table
from arena.sandbox.cpu_usage import Usage
from arena.v1 import referee_pb2 as pb

LIMITS = Limits(decision=1.0, bank=3.0)
LEGAL = (0, 1, 2)


class FakeTimer(NamedTuple):
    """A timer of virtual time."""

    time: float
    callback: Callable[[float], object]
    argument: float
    timers: list[FakeTimer]

    def when(self) -> float:
        return self.time

    def cancel(self) -> None:
        if self in self.timers:  # a real one may be cancelled again, too
            self.timers.remove(self)

    def go_off(self) -> None:
        self.timers.remove(self)
        self.callback(self.argument)


class VirtualTime:
    """A clock that moves only when a test says so; it can also stand for an event loop."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asleep = 0.0
        """Time at which the referee's own process last went on after it was stopped."""
        self._timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[float], object], argument: float, /) -> FakeTimer:
        self._timers.append(FakeTimer(when, callback, argument, self._timers))
        return self._timers[-1]

    def stood_still(self, since: float) -> bool:
        return self.asleep > since

    def pass_by(self, seconds: float) -> None:
        """Let seconds pass; every timer goes off at its time."""
        until = self.now + seconds
        while due := [timer for timer in self._timers if timer.time <= until]:
            timer = min(due, key=FakeTimer.when)
            self.now = timer.time
            timer.go_off()
        self.now = until

    def sleep_through(self, seconds: float) -> None:
        """Let seconds pass at once, as on a suspended machine; all timers that were due go off late."""
        self.now += seconds
        for timer in [timer for timer in self._timers if timer.time <= self.now]:
            timer.go_off()


class Wire:
    """The stream of one bot, with fakes for everything around it; it also plays the part of the bot's process.

    Its frames may have the largest size from the start, as if the bot had shown that it is quick, unless it is `new`.
    """

    def __init__(self, *, matches: int = 64, updates: bool = False, new: bool = False) -> None:
        self.time = VirtualTime()
        self.faults: list[Fault] = []
        self.slow = 0
        self.reads_no_more = False
        """Whether from now on a frame that is written to the bot finds that it does not read, and ends it."""
        self.used: Usage | None = None
        """Usage that the next sample of the bot's processes returns."""
        self.overloads: list[str] = []
        self.condition = "is still running"
        self.heard: list[tuple[int, int, int]] = []
        """Answers to owed decisions, in time or not, as (match, decision, action)."""
        self._written: list[pb.PlayResponse] = []
        hello = pb.Hello(protocol=1, matches=matches, updates=updates)
        self.stream = BotStream(hello, self._write, self, self.time)
        if not new:
            window = self.stream.window
            window.size = window.first_size = window.most

    def _write(self, frame: bytes) -> None:
        if self.reads_no_more:
            self.stream.close()
        else:
            self._written.append(pb.PlayResponse.FromString(frame))

    # The process

    def usage(self) -> Usage | None:
        return self.used

    def evidence(self) -> dict[str, Any]:
        return {"exit": self.condition}

    def overdue(self, verdict: Fault | Void) -> None:
        if isinstance(verdict, Fault):
            self.faults.append(verdict)
        else:
            self.overloads.append(verdict.detail)
        self.stream.close()

    # What a test does

    def sent(self) -> list[pb.PlayResponse]:
        """Flush the stream; return the frames written since the last call."""
        self.stream.flush()
        written, self._written = self._written, []
        return written

    def sit(self, limits: Limits = LIMITS) -> BotSeat:
        """Give the bot a seat in a new match of two."""
        return self.stream.seat(0, 2, limits, b"")

    def ask(self, at: BotSeat, number: int, legal: Sequence[int] = LEGAL) -> None:
        """Queue a decision for the bot."""
        at.put(Asked(0, number, legal), b"")
        self.stream.questions.ask(at)

    def end(self, at: BotSeat) -> None:
        """End the match of a seat."""
        self.stream.end(at, MatchOutcome((0, 1), (2, 1)))

    def say(self, *choices: tuple[BotSeat | int, int, int]) -> None:
        """Let the bot send a frame of choices, each as (match, decision, action)."""
        frame = pb.PlayRequest()
        for at, decision, action in choices:
            frame.choices.add(match=at if isinstance(at, int) else at.number, decision=decision, action=action)
        self.receive(frame.SerializeToString())

    def receive(self, raw: bytes) -> Heard:
        """Let the bot send a frame of bytes; then send what is queued for it."""
        heard = self.stream.receive(raw)
        self.slow += heard.slow
        for at, action in heard.answers:
            assert at.decision is not None
            self.heard.append((at.number, at.decision.number, action))
        if heard.verdict is not None:
            self.overdue(heard.verdict)
        self.stream.flush()
        return heard

    def play(self, at: BotSeat, decisions: Sequence[int], seconds: float = 0.0) -> None:
        """Ask decisions with these numbers one after the other; the bot answers each after some seconds."""
        for decision in decisions:
            self.ask(at, decision)
            self.stream.flush()
            self.time.pass_by(seconds)
            self.say((at, decision, 0))

    def sit_thinking(self, limits: Limits = LIMITS) -> BotSeat:
        """Give the bot a seat in which it has made its first decision, and owes its second."""
        at = self.sit(limits)
        self.play(at, [1])
        self.ask(at, 2)
        self.stream.flush()
        return at

    @property
    def reasons(self) -> list[Forfeit]:
        """The reasons of the faults that were found."""
        return [reason for reason, _ in self.faults]


class Sitting:
    """A match with a wire for each seat: answers go to the table, and its questions and updates to the wires."""

    def __init__(self, match: Match, *, updates: bool = False) -> None:
        self.table = Table(match)
        self.errors: list[Exception] = []
        """Errors that the rules raised."""
        self.wires = [Wire(updates=updates) for _ in range(match.seats)]
        self.at: dict[int, BotSeat] = {}

    def begin(self, absent: Sequence[int] = (), limits: Limits = LIMITS) -> None:
        """Begin the match; the `absent` seats have not joined."""
        joined = [seat for seat in range(len(self.wires)) if seat not in absent]
        self.at = {seat: self.wires[seat].stream.seat(seat, len(self.wires), limits, b"") for seat in joined}
        self.table.sit(self.at)
        self._move(self.table.begin, dict.fromkeys(absent, "did not join"))

    def say(self, seat: int, raw: bytes) -> None:
        """Let a seat send a frame."""
        heard = self.wires[seat].receive(raw)
        for at, action in heard.answers:
            self._move(self.table.answered, at, action)

    def choose(self, seat: int, action: int, seconds: float = 0.0, *, decision: int | None = None) -> None:
        """Let a seat answer the decision that it was asked, or, with `decision`, another one."""
        wire = self.wires[seat]
        wire.stream.flush()
        at = self.at[seat]
        assert at.decision is not None
        if seconds:
            wire.time.pass_by(seconds)
        choice = pb.Choice(match=at.number, decision=decision or at.decision.number, action=action)
        self.say(seat, pb.PlayRequest(choices=[choice]).SerializeToString())

    def go(self, seat: int, fault: Fault) -> None:
        """Tell the table that the process of a seat has ended."""
        self._move(self.table.lose_bot, self.at[seat], fault)

    def _move(self, move: Callable[..., Outgoing], *args: Any) -> None:
        try:
            asked, updates = move(*args)
        except Exception as error:
            self.errors.append(error)
            return
        for at, update in updates:
            self.wires[at.seat].stream.update(at, update)
        for at in asked:
            self.wires[at.seat].stream.questions.ask(at)
