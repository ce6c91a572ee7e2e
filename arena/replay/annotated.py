"""The choices of a match with what is known of each: its name, its time, and what the bot printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena import games
from arena.referee.limits import Bank, Limits
from arena.replay.document import Document, Step
from arena.replay.record import in_milliseconds, milliseconds
from arena.worker.bot_output import by_decision

if TYPE_CHECKING:
    from arena.worker.matches_in_play import MatchInPlay

ANNOTATED_LINES = 20
"""Lines shown of what a bot printed at one decision; the document has all."""


class Annotated(NamedTuple):
    """A choice, and what is known of it."""

    seat: int
    action: int
    decision: int
    """The number of the decision; of a seat that had forfeited, that of the last one before."""
    name: str
    ms: float | None
    """Milliseconds that it took; None if it was played for a seat that had forfeited."""
    printed: Sequence[str]
    """What the bot printed at this decision, as `Annotator.printed` returns it."""
    bank: float | None
    """Seconds that the seat had left after it beyond its limits; None if it had no limits, or they are not known."""


class Banks:
    """What is left of the bank of each seat, computed from what its decisions were charged.

    A time over the limit that was not charged because other matches waited in the same frame is charged here: a record
    does not tell. Such a share can only be that long beside first decisions, which have ten times the limit.
    """

    def __init__(self, record: Document) -> None:
        limits = record.limits or [None] * len(record.bots)
        self._banks = [None if limit is None else Bank.full(Limits(limit.decision, limit.bank)) for limit in limits]
        self._charged: Sequence[Mapping[int, float]] = record.charged_ms or [{}] * len(record.bots)
        self._decisions = [0] * len(record.bots)

    def follow(self, charged: Sequence[Mapping[int, float]]) -> None:
        """Take what was charged, in milliseconds by seat and decision, from a match in play."""
        self._charged = charged

    def charge(self, seat: int, ms: float) -> None:
        """Charge the next decision of a seat, which took so many milliseconds."""
        if bank := self._banks[seat]:
            bank.charge(self._charged[seat].get(self._decisions[seat], ms) / 1000)
        self._decisions[seat] += 1

    def seconds_left(self, seat: int) -> float | None:
        """Return what a seat has left, in seconds; None if no limits of it are known."""
        bank = self._banks[seat]
        return None if bank is None else max(bank.left, 0.0)


class Annotator:
    """Annotates the choices of a match; expects its steps in order, each once."""

    def __init__(self, record: Document) -> None:
        self._game = games.game(record.game)
        self.times: Sequence[Iterator[float]] = [iter(times) for times in record.times_ms]
        """By seat: the milliseconds of each decision that is still to come."""
        self.forfeited = {forfeit.seat: forfeit.step for forfeit in record.forfeits}
        """The step in which each seat forfeited."""
        self.steps = 0
        """Number of steps annotated."""
        self._decision = 0
        """Number of the last decision."""
        self._banks = Banks(record)
        self._logs = [by_decision(lines) for lines in record.logs or [()] * len(record.bots)]

    def follow(self, playing: MatchInPlay) -> None:
        """Take times, charges and forfeits from a match in play, of which the document does not know yet."""
        seats = range(playing.table.match.seats)
        if not self.times:
            self.times = [map(milliseconds, playing.times(seat)) for seat in seats]
        self._banks.follow([in_milliseconds(playing.charged(seat)) for seat in seats])
        self.forfeited = {seat: forfeit.step for seat, forfeit in playing.table.match.forfeits.items()}

    def annotate(self, step: Step) -> list[Annotated]:
        """Return the choices of the next step with what is known of them."""
        choices = [self._annotated(seat, action) for seat, action in step.choices]
        self.steps += bool(choices)
        return choices

    def _annotated(self, seat: int, action: int) -> Annotated:
        end = self.forfeited.get(seat, math.inf)
        self._decision += self.steps <= end  # also in the step in which it forfeited, but not after that
        ms = next(self.times[seat], 0.0) if self.steps < end else None
        printed = self.printed(seat, self._decision) if self.steps <= end else ()
        if ms is not None:
            self._banks.charge(seat, ms)
        name = self._game.action_name(action)
        return Annotated(seat, action, self._decision, name, ms, printed, self._banks.seconds_left(seat))

    def printed(self, seat: int, decision: int) -> Sequence[str]:
        """Return what a bot printed at a decision, each line once; 0 is the time before the first decision.

        Of many lines the first `LINES` are returned, and one that counts the others.
        """
        lines = self._logs[seat].pop(decision, [])
        more = [f"… {len(lines) - ANNOTATED_LINES:,} more lines"] if len(lines) > ANNOTATED_LINES else []
        return [*lines[:ANNOTATED_LINES], *more]

    @property
    def banks(self) -> Sequence[float | None]:
        """By seat, the seconds that it has left beyond its limits; None where there are no limits, or none known."""
        return [self._banks.seconds_left(seat) for seat in range(len(self._logs))]

    def remaining_lines(self) -> Iterator[tuple[int, int, Sequence[str]]]:
        """Yield seat, decision and lines of what is not told yet: after the last step, what decided the match."""
        for seat, log in enumerate(self._logs):
            for decision in sorted(log):
                yield seat, decision, self.printed(seat, decision)
