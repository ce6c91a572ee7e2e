"""The questions of a match: of one that was played, from its seed and choices, or of one that is played by the rules.

Both are for people who look at a bot, not for the referee.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from arena import games
from arena.games.dice import KeyedDice
from arena.games.rules import Game, Options, Seat
from arena.referee import frames
from arena.referee.clock import Limits
from arena.referee.match import Asked, Match
from arena.replay.record import Replay, questions


class Setup(NamedTuple):
    """What a match is played with."""

    game: str
    players: int
    options: Options
    seed: bytes

    def start(self, number: int, seat: Seat, limits: Limits) -> bytes:
        """What a seat is told at the beginning, as a part of a frame; the match has this number on its stream."""
        start = frames.match_start(self.game, self.players, self.options, self.seed, seat, limits)
        return frames.start(frames.match(number), start)

    def question(self, number: int, asked: Asked, state: Any, left: float) -> bytes:
        """A decision as a part of a frame."""
        return frames.decision(frames.match(number), asked.number, asked.legal, left, self.view(asked.seat, state))

    def view(self, seat: Seat, state: Any) -> bytes:
        """What a seat sees of a state, as a part of a decision or an update."""
        game = games.game(self.game)
        return frames.view(game.view_field, game.view(state, seat).SerializeToString())

    def match(self) -> Match:
        """The match, before its first step."""
        return Match(games.game(self.game), self.players, self.options, KeyedDice(self.seed))

    def replayed(self, replay: Replay) -> Iterator[tuple[Match, Asked, int | None]]:
        """Every decision of a match that was played, with the match as it was then, as `record.questions`."""
        match = self.match()
        for asked, action in questions(match, replay):
            yield match, asked, action


class Sitting:
    """A match in which one seat is examined, and the others choose by luck."""

    def __init__(self, setup: Setup, number: int, seat: Seat, limits: Limits) -> None:
        self.number = number
        self.start = setup.start(number, seat, limits)
        self._setup = setup
        self._seat = seat
        self._bank = limits.bank
        self._luck = Random(setup.seed)
        self._match = setup.match()
        self._match.begin()
        self._others()

    @property
    def game(self) -> Game[Any]:
        """Whose rules the match is played by."""
        return self._match.game

    @property
    def asked(self) -> Asked | None:
        """What the seat owes; None when the match is over."""
        return self._match.open.get(self._seat)

    @property
    def question(self) -> bytes:
        """What the seat owes, as a part of a frame."""
        assert self.asked is not None
        return self._setup.question(self.number, self.asked, self._match.state, self._bank)

    def answer(self, action: int) -> None:
        """The seat's legal choice."""
        self._match.answer(self._seat, action)
        self._others()

    def end(self) -> bytes:
        """The end of the match, void if it was not played to its end, as a part of a frame."""
        return frames.end(frames.match(self.number), self._match.outcome)

    def _others(self) -> None:
        while others := [asked for seat, asked in self._match.open.items() if seat != self._seat]:
            for asked in others:
                self._match.answer(asked.seat, self._luck.choice(asked.legal))
