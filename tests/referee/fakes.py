"""A bot's stream without a bot: virtual time, and a process that only takes notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from arena.referee.limits import Limits
from arena.referee.match import Asked, Fault, Forfeit, Match, Outcome, Void
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
        self.timers.remove(self)

    def go_off(self) -> None:
        self.timers.remove(self)
        self.callback(self.argument)


class VirtualTime:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self.asleep = 0.0
        """When the referee last woke from a sleep of its own."""
        self._timers: list[FakeTimer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[float], object], argument: float, /) -> FakeTimer:
        self._timers.append(FakeTimer(when, callback, argument, self._timers))
        return self._timers[-1]

    def stood_still(self, since: float) -> bool:
        return self.asleep > since

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
    """One bot's stream and all that is around it. It is its own bot process.

    The bot has shown that it answers as much at a time as it holds, unless it is `new`.
    """

    def __init__(self, *, matches: int = 64, updates: bool = False, new: bool = False) -> None:
        self.time = VirtualTime()
        self.faults: list[Fault] = []
        self.slow = 0
        self.used: Usage | None = None
        """What the bot's processes had of the machine by now."""
        self.overloads: list[str] = []
        self.condition = "is still running"
        self.heard: list[tuple[int, int, int]] = []
        """What was answered: match, decision, action."""
        self._written: list[pb.PlayResponse] = []
        hello = pb.Hello(protocol=1, matches=matches, updates=updates)
        self.stream = BotStream(hello, self._write, self, self.time)
        if not new:
            window = self.stream.window
            window.size = window.first_size = window.most

    def _write(self, frame: bytes) -> None:
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
        """The frames written since the last look."""
        self.stream.flush()
        written, self._written = self._written, []
        return written

    def sit(self, limits: Limits = LIMITS) -> BotSeat:
        """The bot gets a seat in a new match."""
        return self.stream.seat(0, 2, limits, b"")

    def ask(self, at: BotSeat, number: int, legal: Sequence[int] = LEGAL) -> None:
        """A decision is put to the bot, to be sent when it is its turn."""
        at.put(Asked(0, number, legal), b"")
        self.stream.ask(at)

    def end(self, at: BotSeat) -> None:
        """The match is over."""
        self.stream.end(at, Outcome((0, 1), (2, 1)))

    def say(self, *choices: tuple[BotSeat | int, int, int]) -> None:
        """The bot sends a frame of choices: (match, decision, action)."""
        frame = pb.PlayRequest()
        for at, decision, action in choices:
            frame.choices.add(match=at if isinstance(at, int) else at.number, decision=decision, action=action)
        self.receive(frame.SerializeToString())

    def receive(self, raw: bytes) -> Heard:
        """The bot sends a frame of bytes; what gathered meanwhile is sent."""
        heard = self.stream.receive(raw)
        self.slow += heard.slow
        for at, action in heard.answers:
            assert at.asked is not None
            self.heard.append((at.number, at.asked.number, action))
        if heard.verdict is not None:
            self.overdue(heard.verdict)
        self.stream.flush()
        return heard

    def play(self, at: BotSeat, decisions: Sequence[int], seconds: float = 0.0) -> None:
        """So many decisions are asked and answered, each after some seconds."""
        for decision in decisions:
            self.ask(at, decision)
            self.stream.flush()
            self.time.pass_by(seconds)
            self.say((at, decision, 0))

    @property
    def reasons(self) -> list[Forfeit]:
        """The faults found."""
        return [reason for reason, _ in self.faults]


class Sitting:
    """A table with a wire to each seat: every answer is brought to it, and what follows to the wires."""

    def __init__(self, match: Match, *, updates: bool = False) -> None:
        self.table = Table(match)
        self.errors: list[Exception] = []
        """What the rules raised."""
        self.wires = [Wire(updates=updates) for _ in range(match.seats)]
        self.at: dict[int, BotSeat] = {}

    def begin(self, absent: Sequence[int] = (), limits: Limits = LIMITS) -> None:
        """Everybody sits down but `absent`."""
        joined = [seat for seat in range(len(self.wires)) if seat not in absent]
        self.at = {seat: self.wires[seat].stream.seat(seat, len(self.wires), limits, b"") for seat in joined}
        self._move(self.table.begin, self.at, dict.fromkeys(absent, "did not join"))

    def say(self, seat: int, raw: bytes) -> None:
        """A seat sends a frame."""
        heard = self.wires[seat].receive(raw)
        for at, action in heard.answers:
            self._move(self.table.answered, at, action)

    def choose(self, seat: int, action: int, seconds: float = 0.0, *, decision: int | None = None) -> None:
        """A seat answers what it was asked, or another decision."""
        wire = self.wires[seat]
        wire.stream.flush()
        at = self.at[seat]
        assert at.asked is not None
        if seconds:
            wire.time.pass_by(seconds)
        choice = pb.Choice(match=at.number, decision=decision or at.asked.number, action=action)
        self.say(seat, pb.PlayRequest(choices=[choice]).SerializeToString())

    def go(self, seat: int, fault: Fault) -> None:
        """A seat's process ends."""
        self._move(self.table.gone, self.at[seat], fault)

    def _move(self, move: Callable[..., Outgoing], *args: Any) -> None:
        try:
            asked, updates = move(*args)
        except Exception as error:
            self.errors.append(error)
            return
        for at, update in updates:
            self.wires[at.seat].stream.update(at, update)
        for at in asked:
            self.wires[at.seat].stream.ask(at)
