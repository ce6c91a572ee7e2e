"""Which decisions a bot owes, and what of the choices it sends answers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from google.protobuf.message import DecodeError

from arena.referee import frames
from arena.referee.bot_questions import Questions
from arena.referee.match import Fault, Forfeit
from arena.referee.seat import BotSeat
from arena.v1 import referee_pb2 as pb

_REJECTIONS = 3
"""The third rejected choice is PROTOCOL."""
NOISE = 64
"""Messages that answer nothing, repeated answers not counted, before it is FLOOD. It is also how many more answers may
be repeated in a match than were given."""
FRAME_BYTES = 64 * 1024
"""Largest frame in bytes that a bot may send. Of one larger than `service.GRPC_FRAME_BYTES` only the end of the stream
is seen."""


class Received(NamedTuple):
    """What one frame of a bot's says."""

    answers: Sequence[tuple[BotSeat, int]]
    """Choices that answer a decision the bot owed, legal or not: the seat and the action."""
    rejections: Sequence[bytes] = ()
    """Messages to send back about choices that nobody asked for, each encoded as a frame of its own."""
    fault: Fault | None = None
    """What the bot did wrong, in this frame or one before; nothing in the frame after it is read."""


class Choices:
    """What one bot holds. Reads its frames; knows neither rules nor time."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self.held: dict[int, BotSeat] = {}
        """The seats it plays, by the match's number on its stream."""
        self.crowded = False
        """Whether it has held several matches since it last held none: then no fault of the process, and no time, can
        be attributed to one of them."""
        self.rejected = 0
        """How many choices were rejected since it last held no match."""
        self._noise = 0
        self._last = 0
        """The number of the last match that was begun on the stream; the first has 1."""
        self._rejections: list[bytes] = []
        self._fault: Fault | None = None

    @property
    def next_number(self) -> int:
        """The number on this stream of the match that begins next."""
        return self._last + 1

    def hold(self, at: BotSeat) -> None:
        """Begin to hold a seat; if it is the only one, count rejections and noise from zero."""
        self.crowded = bool(self.held)
        if not self.crowded:
            self.rejected = self._noise = 0  # so that what they cost does not depend on the matches before
        self._last = at.number
        self.held[at.number] = at

    def release(self, at: BotSeat) -> None:
        """Let go of a seat whose match is over; what it still owes is owed no more."""
        at.closed = True
        del self.held[at.number]
        if self._questions.drop(at):
            self._noise -= 1  # its answer may be on its way

    def decode(self, raw: bytes) -> Sequence[pb.Choice]:
        """Return the choices of a frame, for `read`; of a frame that is none it has no choices, and a fault."""
        try:
            if len(raw) > FRAME_BYTES:
                raise DecodeError(f"it has {len(raw)} bytes, {FRAME_BYTES} are allowed")
            choices = pb.PlayRequest.FromString(raw).choices
        except DecodeError as error:
            self._fault = Fault(Forfeit.PROTOCOL, f"sent a frame that is no PlayRequest: {error}")
            return ()
        if not choices:
            self._count_noise()
        return choices

    def read(self, choices: Sequence[pb.Choice]) -> Received:
        """Read a frame's choices: take answers off what is owed, count what else there is, and stop at a fault."""
        answers = []
        owed = self._questions.owed
        for choice in choices:
            number, decision, action = choice.match, choice.decision, choice.action
            if (at := owed.get(number)) is not None and at.decision.number == decision:  # type: ignore[union-attr]
                del owed[number]
                at.answers[decision] = action
                answers.append((at, action))
                continue
            self._not_owed(choice)
            if self._fault is not None:
                break
        rejections, self._rejections = self._rejections, []
        return Received(answers, rejections, self._fault)

    def _not_owed(self, choice: pb.Choice) -> None:
        """Ignore, count or reject a choice that answers no decision of the last frame."""
        at = self.held.get(choice.match)
        if at is None and not 0 < choice.match <= self._last:
            self._reject(choice, f"match {choice.match} is none of yours")
        elif at is None or at.closed:
            self._count_noise()
        elif (first := at.answers.get(choice.decision)) is None:
            self._reject(choice, f"decision {choice.decision} was not asked")
        elif first != choice.action:
            self._reject(choice, f"decision {choice.decision} was answered with {first} before")
        else:
            self._count_repeat(at)

    def _count_noise(self) -> None:
        self._noise += 1
        if self._noise > NOISE:
            self._fault = Fault(Forfeit.FLOOD, f"sent more than {NOISE} messages that answer nothing")

    def _count_repeat(self, at: BotSeat) -> None:
        at.repeats += 1
        if at.repeats > NOISE + len(at.answers):
            what = f"gave {len(at.answers)} answers in a match and repeated {at.repeats}"
            self._fault = Fault(Forfeit.FLOOD, what)

    def _reject(self, choice: pb.Choice, problem: str) -> None:
        self.rejected += 1
        remaining = _REJECTIONS - self.rejected
        cost = f"{remaining} more and the match is lost" if remaining else "the match is lost"
        rejected = pb.Rejected(match=choice.match, decision=choice.decision, reason=f"{problem}; {cost}")
        self._rejections.append(frames.part("rejections", rejected.SerializeToString()))
        if not remaining:
            what = f"made {_REJECTIONS} choices that were not asked for; the last: {problem}"
            self._fault = Fault(Forfeit.PROTOCOL, what)
