"""One bot process's stream: frames of decisions out, frames of choices in.

What gathers for a bot is sent when it has answered the frame before. So frames fill by themselves while many
matches are in play, and a lone match never waits. Nothing here is a coroutine: `receive` returns what a frame answers,
and `flush` writes what has gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from arena.games.rules import Seat
from arena.referee import frames, loans
from arena.referee.bot_questions import PlayedFrame
from arena.referee.choices import FRAME_BYTES, Choices
from arena.referee.limits import Bank, Limits
from arena.referee.match import MatchOutcome, Verdict
from arena.referee.seat import BotSeat
from arena.referee.timekeeper import Clock, Timekeeper
from arena.referee.window import Window
from arena.sandbox.cpu_usage import Usage
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    ended: Sequence[Any] = ()
    """The lenders of the matches that were played to their end with this frame: see `loans.Lender`."""
    touched: Sequence[BotStream] = ()
    """The streams that may be sent something now: this one, since it has answered, and those where questions wait."""


_NOTHING = Heard()
"""What a frame comes to that answers nothing and is no fault."""


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
        self.questions = loans.questions_of(self)
        self._choices = Choices(self.questions)
        self._timekeeper = Timekeeper(self.questions, self._choices, clock, process.usage, process.overdue)
        # What the next frame has before its questions and after them.
        self._news = [frames.welcome()]
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
        return self.questions.owes

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
        self._timekeeper.watch_match(limits)
        return at

    def update(self, at: BotSeat, update: bytes) -> None:
        """Queue what happened in a step, encoded by `frames.update`."""
        if at.opening:
            at.opening += update
        else:
            self._news.append(update)

    def end(self, at: BotSeat, outcome: MatchOutcome | None) -> None:
        """Queue the end of a match (None: it is void) and let go of the seat."""
        self._choices.release(at)
        if at.opening:
            self._tell(at)
        self._ends.append(frames.end(at.of, outcome))

    def _tell(self, at: BotSeat) -> None:
        """Put the start of a match into the next frame.

        The start of one match among several is sent with its first question: else the bot would have to prepare for
        many matches before one answer.
        """
        self._news.append(at.take_opening())

    @property
    def full(self) -> bool:
        """Whether to wait would not make the next frame much fuller: of its matches this bot's share is in it already.

        True also while answers are owed: what gathers then is sent after them.
        """
        held, queued = self._choices.held, self.questions.queued
        if self.questions.owes or not held or queued >= self.window.size:
            return True
        return next(iter(held.values())).seats * queued >= len(held)

    def flush(self) -> None:
        """Send what has gathered, unless the bot still owes answers."""
        queued = self.questions.queued
        if self.questions.owes or self._closed or not (queued or self._news or self._ends):
            return
        parts: Sequence[bytes] = ()
        if queued:
            now = self._clock.time()
            asked, firsts, parts = self.questions.cut(self.window.size, self.window.first_size)
            self.window.sent(asked, firsts, now)
            self.frames += 1
            self.decisions += asked
            self._timekeeper.start_clock(now)
        self._write(self._frame(parts))

    def _frame(self, questions: Sequence[bytes]) -> bytes:
        frame = b"".join([*self._news, *questions, *self._ends])
        self._news, self._ends = [], []
        return frame

    def goodbye(self, reason: str) -> None:
        """Tell the bot to leave; nothing is expected of it any more."""
        if not self._closed:
            self._write(self._frame(()) + frames.part("goodbye", pb.Goodbye(reason=reason).SerializeToString()))
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
        if len(raw) <= FRAME_BYTES:
            played = self.questions.play(raw, now, self._timekeeper.usual_share)
            if played is not None:
                return self._played(played, now)
        choices = self._choices.decode(raw)
        self.questions.take_back(choices)
        answers, rejections, fault = self._choices.read(choices)
        for rejection in rejections:
            self._write(rejection)
        if self._closed:  # a bot that does not read what is written is at its end
            return _NOTHING
        if not answers:
            return Heard(verdict=fault)
        slow, void = self._timekeeper.book(now, answers)
        if void is not None:
            return Heard(verdict=void)
        if not self.questions.owes:
            self.window.answered(now, answers[0][0].bank.limits)
        return Heard(answers, slow, fault)

    def _played(self, played: PlayedFrame, now: float) -> Heard:
        ended, touched = played
        self._timekeeper.booked(now)
        if not self.questions.owes:
            self.window.answered(now, next(iter(self._choices.held.values())).bank.limits)
        return Heard(ended=ended, touched=[self, *touched])
