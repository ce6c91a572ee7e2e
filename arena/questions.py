"""The questions of a match: of one that was played, from its seed and choices, or of one that is played by the rules.

Both are for people who look at a bot, not for the referee.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from arena import games, wire
from arena.clock import Limits
from arena.games.dice import KeyedDice
from arena.games.rules import Options, Seat
from arena.match import Asked, Match
from arena.seated import Entrant
from arena.worker import Task, match_start


class Setup(NamedTuple):
    """What a match is played with."""

    game: str
    players: int
    options: Options
    seed: bytes

    def start(self, number: int, seat: Seat, limits: Limits) -> bytes:
        """What a seat is told at the beginning, as a part of a frame; the match has this number on its stream."""
        nobody = (Entrant("", "", ()),) * self.players
        task = Task("", self.game, self.options, self.seed, nobody, (0,) * self.players, limits)
        return wire.start(number, match_start(task, seat, limits))

    def question(self, number: int, asked: Asked, state: Any, left: float) -> bytes:
        """A decision as a part of a frame."""
        game = games.game(self.game)
        view = wire.view(game.view_field, game.view(state, asked.seat).SerializeToString())
        return wire.decision(number, asked.number, asked.legal, left, view)


class Step(NamedTuple):
    """A step of a match that was played: who was asked, and what all did; None where forfeits ended the match."""

    state: Any
    asked: tuple[Asked, ...]
    decisions: Mapping[Seat, int] | None


def played(setup: Setup, choices: Sequence[tuple[Seat, int]], gone: Mapping[Seat, int]) -> Iterator[Step]:
    """The steps of a match again.

    `gone` has, of every seat that forfeited, the number of the decision it forfeited with, 0 for one that never joined:
    a seat is asked nothing after it.
    """
    game, dice, number = games.game(setup.game), KeyedDice(setup.seed), 0
    state, left = game.start(setup.players, dice, setup.options), iter(choices)
    while pending := game.pending(state):
        asked = []
        for seat, legal in pending.items():
            if number < gone.get(seat, math.inf):
                number += 1
                asked.append(Asked(seat, number, legal))
        decisions = dict(chosen for _, chosen in zip(pending, left, strict=False))
        if len(decisions) < len(pending):
            yield Step(state, tuple(asked), None)
            return
        yield Step(state, tuple(asked), decisions)
        state = game.apply(state, decisions, dice)


class Sitting:
    """A match in which one seat is examined, and the others choose by luck."""

    def __init__(self, setup: Setup, number: int, seat: Seat, limits: Limits) -> None:
        self.number = number
        self.start = setup.start(number, seat, limits)
        self._setup = setup
        self._seat = seat
        self._bank = limits.bank
        self._luck = Random(setup.seed)
        game = games.game(setup.game)
        self._match = Match(game, setup.players, setup.options, KeyedDice(setup.seed))
        self._match.begin()
        self._others()

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
        return wire.end(self.number, self._match.outcome)

    def _others(self) -> None:
        while others := [asked for seat, asked in self._match.open.items() if seat != self._seat]:
            for asked in others:
                self._match.answer(asked.seat, self._luck.choice(asked.legal))
