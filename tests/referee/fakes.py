"""A bot's stream without a bot: virtual time, and a writer, a host and tables that only take notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from arena.referee.clock import Limits, Usage
from arena.referee.match import Asked, Forfeit, Outcome
from arena.referee.stream import BotStream, SeatAt
from arena.referee.table import Table
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
        self.timers.remove(self)

    def go_off(self) -> None:
        self.timers.remove(self)
        self.callback(self.argument)


class VirtualTime:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self._timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[float], object], argument: float, /) -> FakeTimer:
        self._timers.append(FakeTimer(when, callback, argument, self._timers))
        return self._timers[-1]

    def pass_by(self, seconds: float) -> None:
        """Let time go by, timers on time."""
        until = self.now + seconds
        while due := [timer for timer in self._timers if timer.time <= until]:
            timer = min(due, key=FakeTimer.when)
            self.now = timer.time
            timer.go_off()
        self.now = until

    def sleep_through(self, seconds: float) -> None:
        """Let time go by of which nobody here notices anything: then timers are late."""
        self.now += seconds
        for timer in [timer for timer in self._timers if timer.time <= self.now]:
            timer.go_off()


class Wire:
    """One bot's stream and all that is around it. It is its own host and every match's table.

    The bot has shown that it answers as much at a time as it holds, unless it is `new`.
    """

    def __init__(self, *, matches: int = 64, updates: bool = False, new: bool = False) -> None:
        self.time = VirtualTime()
        self.faults: list[tuple[Forfeit, str]] = []
        self.slow = 0
        self.used: Usage | None = None
        """What the bot's processes had of the machine by now."""
        self.asleep = 0.0
        """When the referee last woke from a sleep of its own."""
        self.overloads: list[str] = []
        self.condition = "is still running"
        self.match = SimpleNamespace(seats=2)
        """What is known of the match at every table."""
        self.heard: list[tuple[int, int, int]] = []
        """What reached the tables: match, decision, action."""
        self._written: list[pb.PlayResponse] = []
        self._gathered: set[BotStream] = set()
        hello = pb.Hello(protocol=1, matches=matches, updates=updates)
        self.stream = BotStream(hello, self._write, self, self._gathered, self.time)
        self._gathered.add(self.stream)
        if not new:
            self.stream.capacity = self.stream._openings = self.stream.matches

    def _write(self, frame: bytes) -> None:
        self._written.append(pb.PlayResponse.FromString(frame))

    # The host

    def fault(self, reason: Forfeit, detail: str) -> None:
        self.faults.append((reason, detail))
        self.stream.close()

    def over_limit(self) -> None:
        self.slow += 1

    def usage(self) -> Usage | None:
        return self.used

    def stood_still(self, since: float) -> bool:
        return self.asleep > since

    def overload(self, detail: str) -> None:
        self.overloads.append(detail)
        self.stream.close()

    def settle(self) -> None:
        while self._gathered:
            self._gathered.pop().flush()

    def evidence(self) -> dict[str, Any]:
        return {"exit": self.condition}

    # The tables

    def answered(self, at: SeatAt, action: int) -> None:
        assert at.asked is not None
        self.heard.append((at.number, at.asked.number, action))

    # What a test does

    def sent(self) -> list[pb.PlayResponse]:
        """The frames written since the last look."""
        self.settle()
        written, self._written = self._written, []
        return written

    def sit(self, limits: Limits = LIMITS) -> SeatAt:
        """The bot gets a seat in a new match."""
        return self.stream.seat(cast(Table, self), 0, limits, b"")

    def ask(self, at: SeatAt, number: int, legal: Sequence[int] = LEGAL) -> None:
        """A decision is put to the bot, to be sent when it is its turn."""
        self.stream.ask(at, Asked(0, number, legal), b"")

    def end(self, at: SeatAt) -> None:
        """The match is over."""
        self.stream.end(at, Outcome((0, 1), (2, 1)))

    def say(self, *choices: tuple[SeatAt | int, int, int]) -> None:
        """The bot sends a frame of choices: (match, decision, action)."""
        frame = pb.PlayRequest()
        for at, decision, action in choices:
            frame.choices.add(match=at if isinstance(at, int) else at.number, decision=decision, action=action)
        self.stream.receive(frame.SerializeToString())

    def play(self, at: SeatAt, decisions: Sequence[int], seconds: float = 0.0) -> None:
        """So many decisions are asked and answered, each after some seconds."""
        for decision in decisions:
            self.ask(at, decision)
            self.settle()
            self.time.pass_by(seconds)
            self.say((at, decision, 0))

    @property
    def reasons(self) -> list[Forfeit]:
        """The faults found."""
        return [reason for reason, _ in self.faults]
