"""A match at which bots sit: brings their answers to the rules and the next questions to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVarTuple

from google.protobuf.json_format import MessageToDict

from arena.games.rules import Game, Seat, named
from arena.referee import frames
from arena.referee.match import Asked, Forfeit, Match
from arena.referee.stream import SeatAt
from arena.v1 import referee_pb2 as pb

Args = TypeVarTuple("Args")
NAMED = 12
"""Legal actions that are named where one that is not was chosen."""


def _guarded(move: Callable[[Table, *Args], None]) -> Callable[[Table, *Args], None]:
    """A game that raises voids its own match and no other's."""

    @wraps(move)
    def guarded(self: Table, /, *args: *Args) -> None:
        try:
            move(self, *args)
        except Exception as error:
            self.broken(self, error)

    return guarded


class Table:
    """One match in play. Calls `finished` once there is an outcome, or `broken` if the rules raised."""

    def __init__(
        self,
        match: Match,
        finished: Callable[[Table], None],
        broken: Callable[[Table, Exception], None],
    ) -> None:
        self.match = match
        self.broken = broken
        self.at: dict[Seat, SeatAt] = {}
        """The seats that are played by a bot; seats that never joined are missing."""
        self.evidence: dict[Seat, dict[str, Any]] = {}
        self._finished = finished
        self._updated: list[SeatAt] = []
        """Those whose bots asked for updates."""
        self._doomed: dict[Seat, tuple[Forfeit, str, dict[str, Any]]] = {}
        self._shown = 0

    @_guarded
    def begin(self, seats: Mapping[Seat, SeatAt], absent: Mapping[Seat, str]) -> None:
        """Put the first questions. `absent` seats forfeit before the first step, and why."""
        self.at = dict(seats)
        self._updated = [at for at in self.at.values() if at.stream.updates]
        self._go_on(self.match.begin(absent.items()))

    @_guarded
    def answered(self, at: SeatAt, action: int) -> None:
        """A bot chose, in time or not, something legal or not."""
        asked = self.match.open[at.seat]
        if at.bank.left < 0:
            spent = f"took {at.charge:.2f} s, {-at.bank.left:.2f} s more than its limit and bank"
            self._go_on(self._forfeit(asked, Forfeit.TIMEOUT, spent, at.stream.host.evidence(), action))
        elif action not in asked.legal:
            chose = f"chose {named(self.match.game, action)}, legal: {brief(self.match.game, asked.legal)}"
            self._go_on(self._forfeit(asked, Forfeit.ILLEGAL, chose, at.stream.host.evidence(), action))
        else:
            self._go_on(self.match.answer(at.seat, action))

    @_guarded
    def gone(self, at: SeatAt, reason: Forfeit, detail: str) -> None:
        """The bot of a seat can play no more: the seat forfeits now if it owes a decision, else when it does.

        A bot that vanishes after its last decision has done nothing wrong.
        """
        at.closed = True
        self._doomed[at.seat] = (reason, detail, at.stream.host.evidence())
        if (asked := self.match.open.get(at.seat)) is not None:
            self._go_on([asked])

    def clear(self) -> None:
        """Everybody has left. Seats and table refer to each other: so they go now, not when garbage is looked for."""
        self.at, self._updated = {}, []

    def _forfeit(
        self, asked: Asked, reason: Forfeit, detail: str, evidence: Mapping[str, Any], answer: int | None = None
    ) -> Sequence[Asked]:
        at = self.at[asked.seat]
        at.closed = True
        if at.asked is not asked:  # its bot had gone before it could be asked
            at.put(asked, self._view(asked.seat))
        (request,) = pb.PlayResponse.FromString(at.question).decisions
        self.evidence[at.seat] = {
            "request": MessageToDict(request, preserving_proto_field_name=True),
            "answer": answer,
            "seconds": None if answer is None else at.times[-1],
            "charged": None if answer is None else at.charge,
            **evidence,
        }
        return self.match.forfeit(at.seat, reason, detail)

    def _go_on(self, asks: Sequence[Asked]) -> None:
        if self._doomed:
            asks = self._without_doomed(asks)
        if self._updated:
            self._show_updates()
        if self.match.outcome is not None:
            return self._finished(self)
        view = None
        for asked in asks:
            if view is None or self.match.game.hides:
                view = self._view(asked.seat)
            at = self.at[asked.seat]
            at.stream.ask(at, asked, view)
        return None

    def _view(self, seat: Seat) -> bytes:
        game = self.match.game
        return frames.view(game.view_field, game.wire_view(self.match.state, seat))

    def _without_doomed(self, asks: Sequence[Asked]) -> Sequence[Asked]:
        """Have the seats forfeit that are asked though their bots are gone; what then is asked of others is added."""
        while doomed := [asked for asked in asks if asked.seat in self._doomed]:
            asks = [asked for asked in asks if asked.seat not in self._doomed]
            for asked in doomed:
                asks = [*asks, *self._forfeit(asked, *self._doomed.pop(asked.seat))]
        return asks

    def _show_updates(self) -> None:
        actions = self.match.choices[self._shown :]
        if not actions:
            return
        self._shown = len(self.match.choices)
        for at in self._updated:
            if not at.closed:
                at.stream.update(at, actions, self._view(at.seat))


def brief(game: Game[Any], legal: Sequence[int]) -> str:
    """The legal actions in a line: "39 (front), 40 (back)" or "0 (keep 1) … 127 (quit)"."""
    if isinstance(legal, range) and len(legal) > 2:
        return f"{named(game, legal[0])} … {named(game, legal[-1])}"
    more = f", … ({len(legal)} in all)" if len(legal) > NAMED else ""
    return ", ".join(named(game, action) for action in legal[:NAMED]) + more
