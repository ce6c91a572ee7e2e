"""Ten thousand random frames in matches of every game: bots may forfeit by them, but the referee never fails."""

from __future__ import annotations

import random

import pytest

from arena import games
from arena.games import RandomDice
from arena.referee.limits import Limits
from arena.referee.match import Forfeit, Match
from arena.referee.seat import BotSeat
from arena.v1 import referee_pb2 as pb
from tests.referee.fakes import Sitting

ANSWERS = 10_000
ODD = [0, 1, 2, 127, 128, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1]


class Fuzzed(Sitting):
    """A match whose seats answer with random frames, most of them legal choices."""

    def __init__(self, name: str, luck: random.Random) -> None:
        game = games.game(name)
        super().__init__(Match(game, luck.choice(game.seats), game.options({}), RandomDice(luck)))
        self.luck = luck
        self.begin(limits=Limits())

    def answer(self) -> None:
        """Let one of the seats that owe a decision send a frame."""
        seat = self.luck.choice(list(self.table.match.pending))
        wire, at = self.wires[seat], self.at[seat]
        wire.stream.flush()
        self.say(seat, self._frame(at))
        if wire.faults:
            self.go(seat, wire.faults[0])

    def _frame(self, at: BotSeat) -> bytes:
        assert at.decision is not None
        honest = pb.Choice(match=at.number, decision=at.decision.number, action=self.luck.choice(at.decision.legal))
        match self.luck.randrange(12):
            case 0:
                setattr(honest, self.luck.choice(["match", "decision", "action"]), self.luck.choice(ODD))
            case 1:
                return self._spoilt(pb.PlayRequest(choices=[honest]).SerializeToString())
            case 2:
                return self.luck.randbytes(self.luck.randrange(40))
            case 3:
                return pb.PlayRequest(choices=[honest] * self.luck.randrange(70)).SerializeToString()
            case 4:
                return pb.PlayRequest(hello=pb.Hello(token="\x1b[31m"), choices=[honest]).SerializeToString()
        return pb.PlayRequest(choices=[honest]).SerializeToString()

    def _spoilt(self, frame: bytes) -> bytes:
        spoilt = bytearray(frame)
        spoilt[self.luck.randrange(len(spoilt))] = self.luck.randrange(256)
        return bytes(spoilt[: self.luck.randrange(1, len(spoilt) + 1)])


@pytest.mark.parametrize("name", games.names())
def test_no_answer_upsets_the_referee(name: str) -> None:
    """Every match ends, by the rules or by forfeits with a printable detail, and nothing raises an exception."""
    luck, answers = random.Random(name), 0
    reasons = set[Forfeit]()
    while answers < ANSWERS:
        fuzzed = Fuzzed(name, luck)
        while fuzzed.table.match.outcome is None:
            fuzzed.answer()
            answers += 1
            assert fuzzed.errors == []
        for forfeit in fuzzed.table.match.outcome.forfeits:
            reasons.add(forfeit.reason)
            assert forfeit.detail.isprintable()
    assert {Forfeit.ILLEGAL, Forfeit.PROTOCOL} <= reasons <= {Forfeit.ILLEGAL, Forfeit.PROTOCOL, Forfeit.FLOOD}
