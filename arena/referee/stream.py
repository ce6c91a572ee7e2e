"""One bot process's stream: frames of decisions out, frames of choices in.

What gathers for a bot is sent when it has answered the frame before. So frames fill by themselves while many
matches are in play, and a lone match never waits. Nothing here is a coroutine: `receive` returns what a frame answers,
and `flush` writes what has gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from arena.games.rules import Seat
from arena.referee import frames
from arena.referee.choices import Choices
from arena.referee.limits import Bank, Limits
from arena.referee.match import Outcome, Verdict
from arena.referee.seat import BotSeat
from arena.referee.timekeeper import Clock, Timekeeper
from arena.referee.window import Window
from arena.sandbox.cpu_usage import Usage
from arena.v1 import referee_pb2 as pb


class Process(Protocol):
    """The process at the other end of a stream."""

    def usage(self) -> Usage | None:
        """Sample what the process has used of the machine until now; None if that cannot be seen."""

    def evidence(self) -> dict[str, Any]:
        """Describe its state and its last output, for the author of the bot."""

    def overdue(self, verdict: Verdict) -> None:
        """Handle an answer that did not come in time: a fault, or a Void if nobody can tell whose doing it is."""


class Heard(NamedTuple):
    """What one frame of a bot's came to."""

    answers: Sequence[tuple[BotSeat, int]] = ()
    """The seat and the action of each decision that it answered, legal or not, in time or not; none if the verdict is
    a Void, which says that nobody can tell what they took, or if the stream is closed."""
    slow: bool = False
    """Whether a decision took longer than its limit while several matches were waiting."""
    verdict: Verdict | None = None
    """Why the bot can play no more, after these answers."""


_NOTHING = Heard()


class BotStream:
    """The stream of a bot that has joined: collects what it is to be sent, and reads what it sends."""

    def __init__(self, hello: pb.Hello, write: Callable[[bytes], None], process: Process, clock: Clock) -> None:
        self.window = Window(max(1, hello.matches))
        self.frames = 0
        """Frames of decisions sent so far."""
        self.decisions = 0
        """Decisions sent so far."""
        self._updates = hello.updates
        self._write = write
        self._evidence = process.evidence
        self._clock = clock
        self._choices = Choices()
        self._timekeeper = Timekeeper(self._choices, clock, process.usage, process.overdue)
        # The parts of the next frame; questions by the match's number, since a match asks a seat one thing at a time.
        self._news = [frames.welcome()]
        self._queue: dict[int, BotSeat] = {}
        self._ends: list[bytes] = []
        self._closed = False

    @property
    def held(self) -> Mapping[int, BotSeat]:
        """The seats it plays, by the match's number on this stream."""
        return self._choices.held

    @property
    def crowded(self) -> bool:
        """Whether a fault of the process cannot be attributed to one match: see `Choices.crowded`."""
        return self._choices.crowded

    @property
    def owes(self) -> bool:
        """Whether answers are awaited."""
        return bool(self._choices.owed)

    # Out

    def seat(self, seat: Seat, seats: int, limits: Limits, start: bytes) -> BotSeat:
        """Give the bot a seat in a match of `seats`; `start` is its MatchStart, which lacks only the match's number."""
        at = BotSeat(
            self._choices.next_number, seat, seats, Bank.full(limits), updates=self._updates, evidence=self._evidence
        )
        at.opening = frames.start(at.of, start)
        self._choices.hold(at)
        if not self._choices.crowded:
            self._tell(at)
        self._timekeeper.given(limits)
        return at

    def ask(self, at: BotSeat) -> None:
        """Queue the decision that was put to a seat."""
        self._queue[at.number] = at

    def update(self, at: BotSeat, update: bytes) -> None:
        """Queue what happened in a step, encoded by `frames.update`."""
        if at.opening:
            at.opening += update
        else:
            self._news.append(update)

    def end(self, at: BotSeat, outcome: Outcome | None) -> None:
        """Queue the end of a match (None: it is void) and let go of the seat."""
        self._choices.release(at)
        self._queue.pop(at.number, None)
        if at.opening:
            self._tell(at)
        self._ends.append(frames.end(at.of, outcome))

    def _tell(self, at: BotSeat) -> None:
        """Put the start of a match into the next frame.

        The start of one match among several is sent with its first question: else the bot would have to prepare for
        many matches before one answer.
        """
        self._news.append(at.opening)
        at.opening = b""

    @property
    def full(self) -> bool:
        """Whether to wait would not make the next frame much fuller: of its matches this bot's share is in it already.

        True also while answers are owed: what gathers then is sent after them.
        """
        held, queue = self._choices.held, self._queue
        if self._choices.owed or not held or len(queue) >= self.window.size:
            return True
        return next(iter(held.values())).seats * len(queue) >= len(held)

    def flush(self) -> None:
        """Send what has gathered, unless the bot still owes answers."""
        if self._choices.owed or self._closed or not (self._queue or self._news or self._ends):
            return
        asked: dict[int, BotSeat] = {}
        if self._queue:
            now = self._clock.time()
            asked, self._queue = self.window.cut(self._queue, now)
            self._choices.owe(asked)
            self.frames += 1
            self.decisions += len(asked)
            self._timekeeper.sent(now)
        self._write(self._frame(asked))

    def _frame(self, asked: Mapping[int, BotSeat]) -> bytes:
        for at in asked.values() if self.window.firsts else ():
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
        self._timekeeper.stop()

    # In

    def receive(self, raw: bytes) -> Heard:
        """Read one frame of the bot's and charge it for its answers."""
        if self._closed:
            return _NOTHING
        now = self._clock.time()
        answers, rejections, fault = self._choices.read(raw)
        for rejection in rejections:
            self._write(rejection)
        if self._closed:  # a bot that does not read what is written is at its end
            return _NOTHING
        if not answers:
            return Heard(verdict=fault)
        slow, void = self._timekeeper.book(now, answers)
        if void is not None:
            return Heard(verdict=void)
        if not self._choices.owed:
            self.window.answered(now, answers[0][0].bank.limits)
        return Heard(answers, slow, fault)
