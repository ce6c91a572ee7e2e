"""Matches that are lent to the compiled core, which plays them as long as nothing unusual happens.

Whether there is a core is decided here, for the referee and its workers. A match that is lent is away from its table:
the core has its state, its choices and the next questions, `BotSeat` has nothing of what changes, and `Loan.end` brings
it back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple, Protocol

from arena.core.compilation import core
from arena.core.core_games import compiled
from arena.games.rules import Options, Seat
from arena.referee import frames
from arena.referee.bot_questions import Cut, PlayedFrame, Questions, UsualShare
from arena.referee.match import Match, MatchOutcome
from arena.referee.seat import BotSeat
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from arena.core import _core

IN_FLIGHT = 768
"""Matches a process holds at most, whatever it offers: full frames cost less, until the processor's caches are full.

Only speed depends on it, and what authors of bots are told.
"""
_IN_PYTHON = 256
"""How many it usually holds without the core: in Python matches are more objects, and fill the caches earlier."""


def in_flight() -> int:
    """Return how many matches a process holds at most if nobody says how many."""
    return _IN_PYTHON if core() is None else IN_FLIGHT


def questions_of(stream: object) -> Questions:
    """Return the questions of a new stream, which a `PlayedFrame` names when some wait there."""
    module = core()
    return Questions() if module is None else CoreQuestions(module.Stream(stream))


class Lender(Protocol):
    """Whoever lent a match."""

    def take_back(self) -> None:
        """End the loan and have Python go on with the match."""


class CoreQuestions(Questions):
    """Also those of lent matches, which share no frame with others: the core writes its questions itself."""

    def __init__(self, lent: _core.Stream) -> None:
        super().__init__()
        self.lent = lent
        """The part of the stream that the core plays."""
        self._asked_core_last = False

    @property
    def queued(self) -> int:
        """How many questions wait."""
        return len(self._queue) + self.lent.queued

    @property
    def owes(self) -> bool:
        """Whether answers are awaited."""
        return bool(self.owed) or self.lent.owed > 0

    def owing(self, held: Mapping[int, BotSeat]) -> Sequence[BotSeat]:
        """Return those of the bot's seats whose answers are awaited, with `first` in their banks as it is now."""
        seats = [*self.owed.values()]
        for number, is_first in self.lent.owing():
            seats.append(held[number])
            seats[-1].bank.first = is_first
        return seats

    def cut(self, size: int, first_size: int) -> Cut:
        """Take the next frame's questions, those of the core and of tables in turn if there are both."""
        self._asked_core_last = self.lent.queued > 0 and not (self._queue and self._asked_core_last)
        if not self._asked_core_last:
            return super().cut(size, first_size)
        count, firsts, starts, questions = self.lent.cut(size, first_size)
        return count, firsts, (starts, questions)

    def play(self, raw: bytes, now: float, share: UsualShare) -> PlayedFrame | None:
        """Have the core play a frame, if it can play each of its choices and none took long."""
        lent = self.lent
        if not lent.owed or not (count := lent.look(raw)) or (seconds := share(now, count)) is None:
            return None
        return lent.commit(seconds)

    def take_back(self, choices: Sequence[pb.Choice]) -> None:
        """Have the matches that these choices name go on at their tables."""
        if not self.lent.held:
            return
        lender: Lender
        for lender in self.lent.lent([choice.match for choice in choices]):
            lender.take_back()


class Returned(NamedTuple):
    """What the core had of a match."""

    choices: tuple[tuple[Seat, int], ...]
    """Those of complete steps."""
    chosen: Mapping[Seat, int]
    """Those of the step that waits for others."""
    owing: Set[Seat]
    """Who owes an answer."""


class Loan:
    """A match that the core plays, from its first question until `end`."""

    __slots__ = ("_match", "_seats")

    def __init__(self, match: _core.Match, seats: Sequence[tuple[CoreQuestions, BotSeat]]) -> None:
        self._match = match
        self._seats = seats
        for _, at in seats:
            at.lend(match.asked)

    @property
    def outcome(self) -> MatchOutcome:
        """The outcome of a match that the core has played to its end."""
        return MatchOutcome(self._match.ranks, self._match.scores)

    @property
    def steps(self) -> int:
        """How many steps were played; also known after the loan."""
        return self._match.steps

    @property
    def view(self) -> bytes:
        """The view of the state, encoded; also known after the loan."""
        return self._match.view

    def end(self) -> Returned:
        """Take what the core has of the match; its seats are as if Python had asked and heard them."""
        choices, seats = self._match.take_back()
        chosen, owing = dict[Seat, int](), set[Seat]()
        for (questions, at), (times, owes, opening, choice) in zip(self._seats, seats, strict=True):
            at.take_back(times, opening)
            if choice is not None:
                chosen[at.seat] = choice
            if owes:  # the core has sent its last question
                questions.owed[at.number] = at
                owing.add(at.seat)
        return Returned(choices, chosen, owing)


def lend(
    lender: Lender, match: Match, options: Options, seed: bytes, seats: Sequence[tuple[Questions, BotSeat]]
) -> Loan | None:
    """Have the core play a match that has not begun, if it knows the game and can tell every seat all it wants.

    `seats` has those that bots play, in order. The first questions wait on the streams then. None: it stays at its
    table.
    """
    module, rules = core(), compiled(match.game, options)
    if module is None or rules is None or len(seats) < match.seats:
        return None
    lent, told = [], []
    for questions, at in seats:
        if at.updates or not isinstance(questions, CoreQuestions):
            return None
        lent.append((questions, at))
        told.append((questions.lent, at.number, frames.bank(at.bank.left), at.opening))
    return Loan(module.Match(lender, rules, seed, frames.view_number(match.game.view_field), tuple(told)), lent)
