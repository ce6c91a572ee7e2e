"""The questions of a match: of a recorded one, from its seed and choices, or of a new one, played by the rules.

They serve to examine a bot; the referee does not use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from arena import games
from arena.games.dice import KeyedDice
from arena.games.rules import Game, Options, Seat
from arena.referee import frames
from arena.referee.limits import Limits
from arena.referee.match import Asked, Match
from arena.replay.record import Replay, questions


class Setup(NamedTuple):
    """What a match is played with, apart from its bots and limits."""

    game: str
    players: int
    options: Options
    seed: bytes

    def start(self, number: int, seat: Seat, limits: Limits) -> bytes:
        """Return the start of the match for a seat, as a part of a frame; `number` is the match's on its stream."""
        start = frames.match_start(self.game, self.players, self.options, self.seed, seat, limits)
        return frames.start(frames.match_frame(number), start)

    def question(self, number: int, decision: Asked, state: Any, bank: float) -> bytes:
        """Return a decision as a part of a frame; `number` is the match's, `bank` the seconds left of its bank."""
        return frames.decision(
            frames.match_frame(number), decision.number, decision.legal, bank, self.view(decision.seat, state)
        )

    def view(self, seat: Seat, state: Any) -> bytes:
        """Return what a seat sees of a state, as a part of a decision or an update."""
        game = games.game(self.game)
        return frames.view(game.view_field, game.view(state, seat).SerializeToString())

    def match(self) -> Match:
        """Return the match before its first step."""
        return Match(games.game(self.game), self.players, self.options, KeyedDice(self.seed))

    def replayed(self, replay: Replay) -> Iterator[tuple[Match, Asked, int | None]]:
        """Yield the match as it was at each recorded decision, the decision and its action; see `record.questions`."""
        match = self.match()
        for decision, action in questions(match, replay):
            yield match, decision, action


class QuestionSitting:
    """A match in which one seat is examined, and the others choose at random."""

    def __init__(self, setup: Setup, number: int, seat: Seat, limits: Limits) -> None:
        self.number = number
        self.start = setup.start(number, seat, limits)
        self._setup = setup
        self._seat = seat
        self._bank = limits.bank
        self._luck = Random(setup.seed)
        self._match = setup.match()
        self._match.begin()
        self._answer_for_others()

    @property
    def game(self) -> Game[Any]:
        """Game by whose rules the match is played."""
        return self._match.game

    @property
    def decision(self) -> Asked | None:
        """The decision that the seat owes; None when the match is over."""
        return self._match.pending.get(self._seat)

    @property
    def question(self) -> bytes:
        """The decision that the seat owes, as a part of a frame."""
        assert self.decision is not None
        return self._setup.question(self.number, self.decision, self._match.state, self._bank)

    def answer(self, action: int) -> None:
        """Apply the choice of the seat, which must be legal, and let the others choose."""
        self._match.answer(self._seat, action)
        self._answer_for_others()

    def end(self) -> bytes:
        """Return the end of the match as a part of a frame; it is void if the match was not played to its end."""
        return frames.end(frames.match_frame(self.number), self._match.outcome)

    def _answer_for_others(self) -> None:
        while decisions := [decision for seat, decision in self._match.pending.items() if seat != self._seat]:
            for decision in decisions:
                self._match.answer(decision.seat, self._luck.choice(decision.legal))
