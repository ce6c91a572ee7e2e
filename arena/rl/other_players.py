"""Players of the seats that nobody learns to play: built-in bots, functions and submitted bots."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import index
from random import Random
from types import ModuleType
from typing import Any, TypeAlias

from arena import games, submission
from arena.games.rules import Game, Seat
from arena.referee import frames
from arena.referee.limits import Limits
from arena.referee.match import Asked, MatchOutcome
from arena.referee.table import brief
from arena.replay.questions import Setup
from arena.submission.builtin import bots_folder
from arena.v1 import referee_pb2 as pb
from arena_bot import Bot, Turn
from arena_bot.bot import seated

Strategy: TypeAlias = Callable[[Any, Seat, Sequence[int], Random], int]
"""A built-in bot: from a state, its seat, the legal actions and a source of luck to one of the actions."""
PlayerFunction: TypeAlias = Callable[[Turn], int]
"""What chooses one of a turn's legal actions."""
PlayerChoices: TypeAlias = Sequence[tuple[Seat, int]]

LIMITS = Limits()
"""Time limits that bots are told, those of a ladder. Nothing is charged."""
_PACKAGE = "arena_built_in_bots"
"""Name under which the built-in bots are imported."""
MATCH = 1
"""Number of every match, of which each opponent plays one at a time."""


class BadOpponent(ValueError):
    """Error for a player that cannot be had, or that misbehaved; the message is one line that names it."""


class Opponent(ABC):
    """A player of one seat, one match after the other."""

    updates = False
    """Whether `update` is to be called."""

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def start(self, setup: Setup, seat: Seat) -> None:
        """Begin a match; all luck of the opponent follows from its seed."""

    @abstractmethod
    def choose(self, asked: Asked, state: Any) -> int:
        """Return one of the legal actions. Raises BadOpponent."""

    def update(self, choices: PlayerChoices, state: Any) -> None:  # noqa: B027 - few want to know
        """Take note of a step and of the state after it."""

    def end(self, outcome: MatchOutcome | None) -> None:  # noqa: B027 - few want to know
        """Take note of the end of the match; without an outcome it was broken off."""

    def rest(self) -> None:  # noqa: B027 - only a process could keep what it saw
        """Forget earlier matches, before others with the same dice; called before the first match, too."""

    def close(self) -> None:  # noqa: B027 - only a process has to be ended
        """Let go of whatever is held open."""

    def checked(self, asked: Asked, action: int, game: Game[Any]) -> int:
        """Return an action that was chosen. Raises BadOpponent if it is not legal."""
        if action not in asked.legal:
            raise BadOpponent(f"{self.name} chose {action}, legal: {brief(game, asked.legal)}")
        return action


class BuiltIn(Opponent):
    """A built-in bot. In its own process it would choose the same: it has the same luck."""

    def __init__(self, game: str, name: str, strategy: Strategy) -> None:
        super().__init__(name)
        self._of, self._strategy = game, strategy

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_strategy": None}  # pickle could not import its module

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._strategy = built_in(self._of, self.name) or uniform

    def start(self, setup: Setup, seat: Seat) -> None:
        self._game, self._options = games.game(setup.game), setup.options
        self._luck = Random(int.from_bytes(frames.bot_seed(setup.seed, seat)))

    def choose(self, asked: Asked, state: Any) -> int:
        if self._game.hides:
            state = self._game.from_view(self._game.view(state, asked.seat), self._options)
        return self._strategy(state, asked.seat, asked.legal, self._luck)


class Seated(Opponent):
    """A bot of the SDK in this process."""

    def __init__(self, name: str, make: Callable[[], Bot], *, updates: bool) -> None:
        super().__init__(name)
        self._make = make
        self.updates = updates

    def start(self, setup: Setup, seat: Seat) -> None:
        self._setup, self._game = setup, games.game(setup.game)
        (start,) = pb.PlayResponse.FromString(setup.start(MATCH, seat, LIMITS)).starts
        self._bot = seated(self._make, start)

    def choose(self, asked: Asked, state: Any) -> int:
        question = self._setup.question(MATCH, asked, state, LIMITS.bank)
        (decision,) = pb.PlayResponse.FromString(question).decisions
        choice = self._bot.choose(Turn(self._bot, decision))
        try:
            return self.checked(asked, index(choice), self._game)  # takes the integers of numpy too
        except TypeError:
            raise BadOpponent(f"{self.name} returned {choice!r}: return one of turn.legal") from None

    def update(self, choices: PlayerChoices, state: Any) -> None:
        view = self._setup.view(self._bot.seat, state)
        (update,) = pb.PlayResponse.FromString(frames.update(frames.match_frame(MATCH), choices, view)).updates
        self._bot.update(update)

    def end(self, outcome: MatchOutcome | None) -> None:
        (end,) = pb.PlayResponse.FromString(frames.end(frames.match_frame(MATCH), outcome)).ends
        self._bot.end(end)


class Chooser(Bot):
    """A bot whose choices a function makes."""

    def __init__(self, function: PlayerFunction) -> None:
        self._function = function

    def choose(self, turn: Turn) -> int:
        return self._function(turn)


def uniform(_state: Any, _seat: Seat, legal: Sequence[int], luck: Random) -> int:
    """Choose any legal action, all equally likely."""
    return luck.choice(legal)


@cache
def built_in(game: str, name: str) -> Strategy | None:
    """Return the built-in bot of a name as a function; None if no built-in bot of that name plays the game."""
    program = submission.built_ins().get(name)
    if program is None or game not in program.games:
        return None
    return uniform if name == "random" else _strategies(game.replace("-", "_"))[name]


@cache
def _strategies(module: str) -> Mapping[str, Strategy]:
    """Import a game's strategies: an installed arena has the bots as files, not as a package that can be imported."""
    if _PACKAGE not in sys.modules:
        package = sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
        package.__path__ = [str(bots_folder() / "python" / "builtin")]
    strategies: Mapping[str, Strategy] = import_module(f"{_PACKAGE}.{module}").STRATEGIES
    return strategies
