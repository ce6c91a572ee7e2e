"""Submitted bots, and programs at a path, as opponents: each in its sandbox, as in a match."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import Any, NoReturn

from arena.base.suggest import printable
from arena.games.rules import Game, Seat
from arena.referee import frames
from arena.referee.match import Asked, MatchOutcome
from arena.replay.questions import Setup
from arena.rl.other_players import LIMITS, MATCH, BadOpponent, Opponent, PlayerChoices
from arena.roster.single_bot import BotOrder, Joined, dismiss, hire

ANSWER_LIMIT = LIMITS.first + LIMITS.bank
"""Seconds after which a bot that does not answer is taken to hang. It is the most that a decision may last in a
ladder."""
_FORKED = "it plays for the process that this one was forked from: make an environment here"
"""What is told in a fork: two processes on one link would get each other's answers."""


class ProgramPlayer(Opponent):
    """A bot in its own process, which ends when the opponent is closed or forgotten, and at exit."""

    def __init__(self, game: Game[Any], name: str) -> None:
        super().__init__(name)
        self._game = game
        self._hire()

    def __getstate__(self) -> NoReturn:
        raise TypeError(
            f"{self.name} plays in a process of its own, which can be neither copied nor pickled: make a new one"
        )

    def _hire(self) -> None:
        process, self._link = hire(self.name, self._game.name, LIMITS)
        self._owner = os.getpid()
        self._dismiss = weakref.finalize(self, dismiss, process, self._link, self._owner)
        joined = self._answer()
        assert isinstance(joined, Joined)
        self.updates = joined.updates
        self._has_played = False

    def start(self, setup: Setup, seat: Seat) -> None:
        self._setup, self._seat, self._has_played = setup, seat, True
        self._order(BotOrder(setup.start(MATCH, seat, LIMITS)))

    def choose(self, asked: Asked, state: Any) -> int:
        question = self._setup.question(MATCH, asked, state, LIMITS.bank)
        action = self._answer(BotOrder(question, asked.number, ANSWER_LIMIT))
        assert isinstance(action, int)
        return self.checked(asked, action, self._game)

    def update(self, choices: PlayerChoices, state: Any) -> None:
        self._order(BotOrder(frames.update(frames.match_frame(MATCH), choices, self._setup.view(self._seat, state))))

    def end(self, outcome: MatchOutcome | None) -> None:
        self._order(BotOrder(frames.end(frames.match_frame(MATCH), outcome)))

    def rest(self) -> None:
        if self._has_played:
            self._dismiss()
            self._hire()

    def close(self) -> None:
        self._dismiss()

    def _order(self, order: BotOrder) -> None:
        """Send an order; that the process has ended, or is another's, is noticed when an answer is awaited."""
        if os.getpid() == self._owner:
            with suppress(OSError):
                self._link.send(order)

    def _answer(self, order: BotOrder | None = None) -> object:
        """Return what the process tells, to an order if there is one. Raises BadOpponent if that is a text."""
        try:
            if order is not None:
                self._order(order)
            answer = self._link.recv() if os.getpid() == self._owner else _FORKED
        except (EOFError, OSError):
            answer = "its process has ended"
        except BaseException:  # as by Ctrl-C: an answer that nobody waited for would be taken for the next one
            self.close()
            raise
        if isinstance(answer, str):
            self.close()
            raise BadOpponent(f"{self.name}: {printable(answer)}")
        return answer
