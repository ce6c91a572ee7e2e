"""Bots without processes: frames of the core are answered at once, at random, with Python's match beside each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from arena.core.compilation import core
from arena.games.dice import KeyedDice
from arena.games.encoding import number
from arena.games.rules import Seat
from arena.referee import frames
from arena.referee.match import Match
from arena.v1.referee_pb2 import Choice, Decision, PlayRequest, PlayResponse
from tests.core.side_by_side import Table

if TYPE_CHECKING:
    from arena.core import _core

BANK = frames.bank(10.0)
SECONDS = 0.001


class Lent:
    """A match that the core plays, and the same match in Python; `numbers` are those on the streams, by seat."""

    def __init__(self, table: Table, streams: Sequence[_core.Stream], numbers: Sequence[int], opening: bytes) -> None:
        module: Any = core()
        self.table, self.numbers = table, numbers
        self.match = Match(table.game, table.seats, table.options, KeyedDice(table.seed))
        self.match.begin()
        self.asked = dict(self.match.pending)
        """The last decision of each seat."""
        self.answers: list[dict[int, int]] = [{} for _ in range(table.seats)]
        """The actions of each seat, by the number of the decision."""
        seats = tuple((streams[seat], numbers[seat], BANK, opening) for seat in range(table.seats))
        field = frames.view_number(table.game.view_field)
        self.lent: _core.Match = module.Match(self, table.compiled, table.seed, field, seats)

    def question(self, seat: Seat) -> bytes:
        """The question that Python puts to a seat."""
        game, asked = self.table.game, self.asked[seat]
        view = frames.view(game.view_field, game.wire_view(self.match.state, seat))
        return frames.decision(number(1, self.numbers[seat]), asked.number, asked.legal, 10.0, view)

    def answer(self, seat: Seat, action: int) -> None:
        """Take an answer in Python."""
        self.answers[seat][self.asked[seat].number] = action
        for asked in self.match.answer(seat, action):
            self.asked[asked.seat] = asked


class Loopback:
    """Streams with matches of the core; every answer is also given to Python."""

    def __init__(self, tables: Iterable[Table], luck: random.Random, opening: bytes = b"") -> None:
        module: Any = core()
        self.luck = luck
        self.streams: list[_core.Stream] = [module.Stream(seat) for seat in range(5)]
        self.matches = [
            Lent(table, self.streams, [at] * table.seats, opening) for at, table in enumerate(tables, start=1)
        ]
        self.ended: list[Lent] = []

    def at(self, number: int) -> Lent:
        """The match with this number."""
        return self.matches[number - 1]

    def ask(self, seat: Seat, size: int = 1000, first_size: int = 1000) -> Sequence[Decision]:
        """Take the questions of one frame, which must be those of Python."""
        count, firsts, _, questions = self.streams[seat].cut(size, first_size)
        decisions = PlayResponse.FromString(questions).decisions
        assert questions == b"".join(self.at(each.match).question(seat) for each in decisions)
        assert len(decisions) == count <= size
        assert sum(not self.at(each.match).match.steps for each in decisions) <= firsts <= first_size
        return decisions

    def chosen(self, decision: Decision) -> Choice:
        """A random legal choice."""
        first, count = decision.legal_first, decision.legal_count
        action = self.luck.choice(range(first, first + count) if count else decision.legal)
        return Choice(match=decision.match, decision=decision.decision, action=action)

    def say(self, seat: Seat, choices: Sequence[Choice]) -> None:
        """Send a frame that the core must play."""
        raw = PlayRequest(choices=choices).SerializeToString()
        assert self.streams[seat].look(raw) == len(choices)
        ended, touched = self.streams[seat].commit(SECONDS)
        assert set(touched) <= set(range(5))
        self.ended += ended
        for choice in choices:
            self.at(choice.match).answer(seat, choice.action)

    def go_on(self, frames: int | None = None) -> int:
        """Play so many frames, or to the end; return how many were played."""
        played = 0
        while played != frames and (waiting := [seat for seat in range(5) if self.streams[seat].queued]):
            seat = self.luck.choice(waiting)
            choices = [self.chosen(each) for each in self.ask(seat, self.luck.choice((1, 3, 1000)))]
            self.luck.shuffle(choices)
            while choices:
                piece = choices[: self.luck.randrange(1, len(choices) + 1)]
                self.say(seat, piece)
                del choices[: len(piece)]
            assert self.streams[seat].owed == 0
            played += 1
        return played
