"""A match and its seats: passes answers of bots to the rules, and encodes what is to be sent next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from google.protobuf.json_format import MessageToDict

from arena.games.rules import Game, Seat, named
from arena.referee import frames
from arena.referee.match import Asked, Fault, Forfeit, Match
from arena.referee.seat import BotSeat
from arena.v1 import referee_pb2 as pb

_NAMED = 12
"""How many legal actions are named in the detail of a forfeit for an illegal choice."""


Outgoing: TypeAlias = tuple[Sequence[BotSeat], Sequence[tuple[BotSeat, bytes]]]
"""What is to be sent after a move: the seats to which a new decision was put; and for seats whose bots asked for
updates, what happened in the step before, encoded."""
_NOTHING: Outgoing = (), ()
"""Nobody is sent anything."""


class Table:
    """One match in play with its seats. Methods return what is to be sent, and let exceptions of the rules pass."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.at: dict[Seat, BotSeat] = {}
        """The seats that are played by a bot; seats that never joined are missing."""
        self.evidence: dict[Seat, dict[str, Any]] = {}
        """By the seats that forfeited: what is kept for the author of the bot."""
        self._updated: list[BotSeat] = []
        """Those whose bots asked for updates."""
        self._doomed: dict[Seat, tuple[Fault, Mapping[str, Any]]] = {}
        """The fault, and its evidence, of bots that are gone and whose seats have not forfeited yet."""
        self._choices_shown = 0

    def sit(self, seats: Mapping[Seat, BotSeat]) -> None:
        """Seat the bots."""
        self.at = dict(seats)
        self._updated = [at for at in self.at.values() if at.updates]

    def begin(self, absent: Mapping[Seat, str]) -> Outgoing:
        """Start the match. `absent` has the seats that forfeit before the first step, with the reason."""
        return self._go_on(self.match.begin(absent.items()))

    def resume(self, steps: int, view: bytes, choices: Sequence[tuple[Seat, int]], chosen: Mapping[Seat, int]) -> None:
        """Go on where a match is that was lent, and is not played again: that would take seconds of hundreds.

        `view` is the encoded view after so many complete steps, with these choices; `chosen` are the answers in the
        step that waits for others.
        """
        match = self.match
        position = pb.Decision.FromString(frames.view(match.game.view_field, view))
        match.resume(getattr(position, match.game.view_field), steps, choices)
        for number, (seat, action) in enumerate(choices, start=1):
            self.at[seat].answers[number] = action
        for seat, decision in match.pending.items():
            self.at[seat].put(decision, self._view(seat))
        for seat, action in chosen.items():
            self.at[seat].answers[match.pending[seat].number] = action
            match.answer(seat, action)

    def answered(self, at: BotSeat, action: int) -> Outgoing:
        """Take a bot's answer, in time or not, legal or not."""
        decision = self.match.pending[at.seat]
        if at.bank.left < 0:
            spent = f"took {at.charge:.2f} s, {-at.bank.left:.2f} s more than its limit and bank"
            return self._go_on(self._forfeit(decision, Fault(Forfeit.TIMEOUT, spent), at.evidence(), action))
        if action not in decision.legal:
            chose = f"chose {named(self.match.game, action)}, legal: {brief(self.match.game, decision.legal)}"
            return self._go_on(self._forfeit(decision, Fault(Forfeit.ILLEGAL, chose), at.evidence(), action))
        return self._go_on(self.match.answer(at.seat, action))

    def lose_bot(self, at: BotSeat, fault: Fault) -> Outgoing:
        """Note that the bot of a seat can play no more: the seat forfeits now if it owes a decision, else when it does.

        A bot that vanishes after its last decision has done nothing wrong.
        """
        at.closed = True
        self._doomed[at.seat] = fault, at.evidence()
        decision = self.match.pending.get(at.seat)
        return _NOTHING if decision is None else self._go_on([decision])

    def _forfeit(
        self, decision: Asked, fault: Fault, evidence: Mapping[str, Any], answer: int | None = None
    ) -> Sequence[Asked]:
        at = self.at[decision.seat]
        at.closed = True
        if at.decision is not decision:  # its bot had gone before it could be asked
            at.put(decision, self._view(decision.seat))
        (request,) = pb.PlayResponse.FromString(at.question).decisions
        self.evidence[at.seat] = {
            "request": MessageToDict(request, preserving_proto_field_name=True),
            "answer": answer,
            "seconds": None if answer is None else at.times[-1],
            "charged": None if answer is None else at.charge,
            **evidence,
        }
        return self.match.forfeit(at.seat, fault.reason, fault.detail)

    def _go_on(self, asks: Sequence[Asked]) -> Outgoing:
        if self._doomed:
            asks = self._without_doomed(asks)
        updates = self._updates() if self._updated else ()
        if not asks and not updates:
            return _NOTHING
        view, seats = None, []
        for ask in asks:
            if view is None or self.match.game.hides:
                view = self._view(ask.seat)
            at = self.at[ask.seat]
            at.put(ask, view)
            seats.append(at)
        return seats, updates

    def _view(self, seat: Seat) -> bytes:
        game = self.match.game
        return frames.view(game.view_field, game.wire_view(self.match.state, seat))

    def _without_doomed(self, asks: Sequence[Asked]) -> Sequence[Asked]:
        """Forfeit the seats that are asked though their bots are gone, and add what is asked of others thereupon."""
        while doomed := [decision for decision in asks if decision.seat in self._doomed]:
            asks = [decision for decision in asks if decision.seat not in self._doomed]
            for decision in doomed:
                asks = [*asks, *self._forfeit(decision, *self._doomed.pop(decision.seat))]
        return asks

    def _updates(self) -> Sequence[tuple[BotSeat, bytes]]:
        """Encode what happened since the last updates, for every seat that asked for them and has not forfeited."""
        actions = self.match.choices[self._choices_shown :]
        if not actions:
            return ()
        self._choices_shown = len(self.match.choices)
        seats = [at for at in self._updated if not at.closed]
        return [(at, frames.update(at.of, actions, self._view(at.seat))) for at in seats]


def brief(game: Game[Any], legal: Sequence[int]) -> str:
    """List legal actions in one line: "39 (front), 40 (back)" or "0 (keep 1) … 127 (quit)"."""
    if isinstance(legal, range) and len(legal) > 2:
        return f"{named(game, legal[0])} … {named(game, legal[-1])}"
    more = f", … ({len(legal)} in all)" if len(legal) > _NAMED else ""
    return ", ".join(named(game, action) for action in legal[:_NAMED]) + more
