"""One seat of one match as the bot that holds it is asked, answers and is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arena.games.rules import Seat
from arena.referee import frames
from arena.referee.limits import Bank
from arena.referee.match import Asked


class BotSeat:
    """A seat of a match that a bot holds; made by the bot's stream, which numbers its matches.

    While its match is lent, the seat has none of what changes as it is asked and heard: who reads `answers` or `times`
    without taking the match back gets an AttributeError, not what they were before.
    """

    __slots__ = (
        *("answers", "bank", "charged", "closed", "decision", "evidence", "number", "of", "opening"),
        *("question", "repeats", "seat", "seats", "times", "updates", "_last_asked"),
    )

    def __init__(
        self,
        number: int,
        seat: Seat,
        seats: int,
        bank: Bank,
        *,
        updates: bool,
        evidence: Callable[[], dict[str, Any]],
    ) -> None:
        self.number = number
        """The match's number on the bot's stream."""
        self.of = frames.match_frame(number)
        """That number as a field of messages, encoded."""
        self.seat = seat
        self.seats = seats
        """How many seats the match has."""
        self.bank = bank
        self.updates = updates
        """Whether the bot asked to be told of every step."""
        self.evidence = evidence
        """Describes the bot's process, for a fault card: see `Bot.evidence`."""
        self.decision: Asked | None = None
        """The last decision that was put to it, answered or not."""
        self.question = b""
        """That decision, encoded as a part of a frame."""
        self.opening = b""
        """The start of the match, encoded, as long as the bot has not been sent it."""
        self.answers: dict[int, int] = {}
        """The action chosen for each decision, by the decision's number."""
        self.repeats = 0
        """How many answers were sent again."""
        self.times: list[float] = []
        """Wall-clock seconds of each decision, in the order asked."""
        self.charged: dict[int, float] = {}
        """Seconds charged for a decision, by its index in `times`; only where they differ from the wall clock's."""
        self.closed = False
        """Whether messages for this seat are ignored: it forfeited or the match is over."""
        self._last_asked: Callable[[Seat], int] | None = None
        """While the match is lent, tells the number of a seat's last decision."""

    def put(self, decision: Asked, view: bytes) -> None:
        """Put a decision to the seat; `view` is encoded by `frames.view`."""
        self.decision = decision
        self.question = frames.decision(self.of, decision.number, decision.legal, self.bank.left, view)

    def take_opening(self) -> bytes:
        """Return the start of the match, which is sent now."""
        opening, self.opening = self.opening, b""
        return opening

    def lend(self, last_asked: Callable[[Seat], int]) -> None:
        """Leave it to somebody else to ask and to hear the seat; `last_asked` tells a decision's number, 0 if none."""
        del self.decision, self.question, self.opening, self.answers, self.repeats, self.times, self.charged
        self._last_asked = last_asked

    def take_back(self, times: list[float], opening: bytes) -> None:
        """Go on after a loan with the seconds of the decisions, and with the start of the match if it was not sent."""
        number, self._last_asked = self.last_asked, None
        self.decision = (
            None if number is None else Asked(self.seat, number, ())
        )  # legal is known if a table puts it again
        self.question, self.opening = b"", opening
        self.answers, self.repeats = {}, 0
        self.times, self.charged = times, {}
        self.bank.first = not times

    @property
    def last_asked(self) -> int | None:
        """The number of the last decision that was put to it."""
        if self._last_asked is not None:
            return self._last_asked(self.seat) or None
        return None if self.decision is None else self.decision.number

    @property
    def charge(self) -> float:
        """Seconds charged for the last decision."""
        return self.charged.get(len(self.times) - 1, self.times[-1])
