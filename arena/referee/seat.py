"""One seat of one match as the bot that holds it is asked, answers and is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arena.games.rules import Seat
from arena.referee import frames
from arena.referee.limits import Bank
from arena.referee.match import Asked

if TYPE_CHECKING:
    from arena.core import _core


class BotSeat:
    """A seat of a match that a bot holds; made by the bot's stream, which numbers its matches."""

    __slots__ = (
        *("answers", "asked", "bank", "charged", "closed", "evidence", "lent", "number", "of"),
        *("opening", "question", "repeats", "seat", "seats", "times", "updates"),
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
        self.asked: Asked | None = None
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
        self.lent: _core.Match | None = None
        """The match as the core plays it, while it does: then what is above from `asked` on stays as it was."""

    def put(self, asked: Asked, view: bytes) -> None:
        """Put a decision to the seat; `view` is encoded by `frames.view`."""
        self.asked = asked
        self.question = frames.decision(self.of, asked.number, asked.legal, self.bank.left, view)

    @property
    def last_asked(self) -> int | None:
        """The number of the last decision that was put to it."""
        if self.lent is not None:
            return self.lent.asked(self.seat) or None
        return None if self.asked is None else self.asked.number

    @property
    def charge(self) -> float:
        """Seconds charged for the last decision."""
        return self.charged.get(len(self.times) - 1, self.times[-1])
