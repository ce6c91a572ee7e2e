"""One match by the rules: who is asked, what was chosen, who forfeited, how it ended.

No clock, socket or process here: whoever runs the match brings answers and forfeits, in any order, and asks what is
open. A step is complete when every seat that owed a decision has answered or forfeited; only then is it applied, so
neither the order of arrival nor a fast answer tells anybody anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from google.protobuf.message import Message

from arena.games.dice import Dice
from arena.games.rules import Game, Options, Seat, places


class Forfeit(StrEnum):
    """Why a seat lost by misbehaviour; the names are those of the protocol."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    CRASH = "crash"
    OOM = "oom"
    PROTOCOL = "protocol"
    FLOOD = "flood"
    OUTPUT = "output"
    START = "start"


class Fault(NamedTuple):
    """What a bot's process did wrong, and the reason of the forfeits that follow from it."""

    reason: Forfeit
    detail: str


class VoidReason(StrEnum):
    """Why a match does not count: never a bot's doing."""

    INTERNAL = "internal"
    OVERLOAD = "overload"
    SANDBOX = "sandbox"
    NO_STARTS = "this machine cannot start bots now"
    LACK = "a bot that started before did not for want of something of the machine's, as it says"
    DISK = "disk"
    INTERRUPTED = "interrupted"
    NOBODY = "nobody joined"


class Void(NamedTuple):
    """That a match does not count, and why; as text it is what the store keeps."""

    reason: VoidReason
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else str(self.reason)


Verdict: TypeAlias = Fault | Void
"""Why a bot can play no more: by its own doing, or by nobody's."""


class SeatForfeit(NamedTuple):
    """A seat that lost by misbehaviour, and in which step (−1: before the first)."""

    seat: Seat
    reason: Forfeit
    detail: str
    step: int


class MatchOutcome(NamedTuple):
    """How a match ended, by seat; rank 0 is best and equal ranks tie."""

    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    forfeits: tuple[SeatForfeit, ...] = ()


class Asked(NamedTuple):
    """A decision that a seat owes; `number` is unique in the match and counts from 1."""

    seat: Seat
    number: int
    legal: Sequence[int]


class Match:
    """A match in play. `pending` holds who still owes a decision in this step, by seat."""

    state: Any
    """The game's; there from `begin` on."""

    def __init__(self, game: Game[Any], seats: int, options: Options, dice: Dice) -> None:
        self.game = game
        self.seats = seats
        self.pending: dict[Seat, Asked] = {}
        self.choices: list[tuple[Seat, int]] = []
        """Every action in the order applied, defaults played for forfeited seats included."""
        self.steps = 0
        self.forfeits: dict[Seat, SeatForfeit] = {}
        self.outcome: MatchOutcome | None = None
        self.is_decided = False
        """Whether all seats but one have forfeited."""
        self._options = options
        self._dice = dice
        self._decisions = 0
        self._chosen: dict[Seat, int] = {}

    def begin(self, absent: Iterable[tuple[Seat, str]] = ()) -> Sequence[Asked]:
        """Open the first step. `absent` has the seats that never joined, with the reason; they forfeit before it."""
        self.state = self.game.start(self.seats, self._dice, self._options)
        for seat, why in absent:
            self._put_out(SeatForfeit(seat, Forfeit.START, why, -1))
        return self._next()

    def resume(self, view: Message, steps: int, choices: Sequence[tuple[Seat, int]]) -> None:
        """Open the step after so many, in which these choices were made and nobody forfeited; `view` shows the state.

        The dice do not know which keys were used before.
        """
        self.state = self.game.from_view(view, self._options)
        self.choices, self.steps, self._decisions = list(choices), steps, len(choices)
        self._next()

    def answer(self, seat: Seat, action: int) -> Sequence[Asked]:
        """Take the legal choice of a pending seat; return the decisions of the next step if this one is complete."""
        del self.pending[seat]
        self._chosen[seat] = action
        return () if self.pending else self._complete()

    def forfeit(self, seat: Seat, reason: Forfeit, detail: str) -> Sequence[Asked]:
        """Forfeit a pending seat; return the decisions of the next step if this one is complete."""
        del self.pending[seat]
        self._put_out(SeatForfeit(seat, reason, detail, self.steps))
        return () if self.pending else self._complete()

    def _put_out(self, forfeit: SeatForfeit) -> None:
        self.forfeits[forfeit.seat] = forfeit
        self.is_decided = len(self.forfeits) >= self.seats - 1

    def _complete(self) -> Sequence[Asked]:
        if self.is_decided:
            return self._end()
        self._apply()
        return self._next()

    def _next(self) -> Sequence[Asked]:
        """Play for forfeited seats until somebody is to be asked or the match is over."""
        while not self.is_decided and (pending := self.game.pending(self.state)):
            if self.forfeits:
                pending = {seat: legal for seat, legal in pending.items() if seat not in self.forfeits}
            if pending:
                return self._ask(pending)
            self._apply()
        return self._end()

    def _ask(self, pending: Mapping[Seat, Sequence[int]]) -> Sequence[Asked]:
        decisions = []
        for seat, legal in pending.items():
            self._decisions += 1
            decisions.append(Asked(seat, self._decisions, legal))
            self.pending[seat] = decisions[-1]
        return decisions

    def _apply(self) -> None:
        chosen, self._chosen = self._chosen, {}
        if self.forfeits:
            for seat in self.game.pending(self.state).keys() & self.forfeits.keys():
                chosen[seat] = self.game.default_action(self.state, seat)
        self.choices.extend(chosen.items() if len(chosen) == 1 else sorted(chosen.items()))
        self.state = self.game.apply(self.state, chosen, self._dice)
        self.steps += 1

    def _end(self) -> Sequence[Asked]:
        self.outcome = MatchOutcome(
            final_ranks(self.game.ranks(self.state), self.forfeits),
            tuple(self.game.scores(self.state)),
            tuple(sorted(self.forfeits.values(), key=lambda forfeit: (forfeit.step, forfeit.seat))),
        )
        return ()


def final_ranks(ranks: Sequence[int], forfeits: Mapping[Seat, SeatForfeit]) -> tuple[int, ...]:
    """Rank forfeited seats below all others, a later forfeit above an earlier one; the others keep the game's order."""
    if not forfeits:
        return tuple(ranks)
    return places([(0, forfeits[seat].step) if seat in forfeits else (1, -rank) for seat, rank in enumerate(ranks)])
