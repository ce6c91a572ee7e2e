"""Random matches in Python and in the core, step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from google.protobuf.message import Message

from arena import games
from arena.core.compilation import core
from arena.core.core_games import encoded_options
from arena.games.dice import Dice, FastDice, KeyedDice
from arena.games.rules import Game, Options, Seat
from arena.v1.birth_pb2 import BirthView
from arena.v1.burning_desire_pb2 import BurningDesireView
from arena.v1.buttons_pb2 import ButtonsView

if TYPE_CHECKING:
    from arena.core import _core

VIEWS: Mapping[str, type[Message]] = {
    "birth": BirthView,
    "burning-desire": BurningDesireView,
    "buttons": ButtonsView,
}
"""The message that a view is, by game."""


class Table(NamedTuple):
    """A random match that both can play."""

    name: str
    seats: int
    options: Options
    seed: bytes

    @property
    def game(self) -> Game[Any]:
        """The rules in Python."""
        return games.game(self.name)

    @property
    def compiled(self) -> _core.Game:
        """The rules in the core."""
        module = core()
        assert module is not None, "the core was not compiled"
        rules: _core.Game = module.Game(self.name, encoded_options(self.name, self.options))
        return rules

    @property
    def dice(self) -> _core.Dice:
        """The dice of the core."""
        module = core()
        assert module is not None, "the core was not compiled"
        dice: _core.Dice = module.Dice(self.seed)
        return dice


def table(name: str, number: int) -> Table:
    """Return a random table of a game, the same for the same number."""
    luck = random.Random(f"{name}/{number}")
    game = games.game(name)
    changed = {"birth": _of_birth, "burning-desire": _of_burning_desire, "buttons": _of_buttons}[name](luck)
    return Table(name, luck.choice(game.seats), game.options(changed), luck.randbytes(32))


def _of_birth(luck: random.Random) -> dict[str, Any]:
    areas = [luck.choice((1, 2, 3, 5, 8)) for _ in range(15)]
    return {"start": luck.randrange(15)} | ({"areas": areas} if luck.random() < 0.7 else {})


def _of_burning_desire(luck: random.Random) -> dict[str, Any]:
    return {"goal": luck.choice((1, 50, 300, 1000)), "max_turns": luck.choice((1, 3, 200))}


def _of_buttons(luck: random.Random) -> dict[str, Any]:
    boards = [["".join(luck.choices("RBYG", k=36)) for _ in range(2)] for _ in range(4)]
    return {"max_rounds": luck.choice((1, 2, 5, 60))} | ({"boards": boards} if luck.random() < 0.5 else {})


def brief(name: str, number: int) -> Table:
    """Return a random table whose match is short, of as many decisions as one of BIRTH or a few more."""
    match = table(name, number)
    limits = {"birth": {}, "burning-desire": {"max_turns": 1 + number % 3}, "buttons": {"max_rounds": 1 + number % 2}}
    return match._replace(options=match.game.options({**match.options, **limits[name]}))


def play_all(name: str, numbers: Sequence[int], make: Callable[[str, int], Table] = table) -> int:
    """Play the random matches with these numbers, and return the number of their decisions."""
    return sum(play(make(name, number), number) for number in numbers)


def play(match: Table, number: int) -> int:
    """Play a match in both, compare everything at every step, and return the number of decisions."""
    luck = random.Random(f"choices/{number}")
    game, compiled = match.game, match.compiled
    slow_dice: Dice = KeyedDice(match.seed)
    fast_dice = match.dice
    if number % 4 == 3:
        module = core()
        assert module is not None
        slow_dice, fast_dice = FastDice(number), module.Dice(number)
    slow = game.start(match.seats, slow_dice, match.options)
    fast = compiled.start(match.seats, fast_dice)
    decided = 0
    while pending := compared(match, slow, fast):
        decisions = chosen(game, slow, pending, luck)
        decided += len(decisions)
        slow, fast = game.apply(slow, decisions, slow_dice), compiled.apply(fast, decisions, fast_dice)
        if luck.random() < 0.1:  # each goes on from where the other is
            view = VIEWS[match.name].FromString(compiled.wire_view(fast))
            slow, fast = game.from_view(view, match.options), compiled.read(game.wire_view(slow, None))
    return decided


def compared(match: Table, slow: Any, fast: _core.State) -> Mapping[Seat, Sequence[int]]:
    """Compare all that the rules say of a state, and return who must decide."""
    game, compiled = match.game, match.compiled
    view, pending = game.wire_view(slow, None), game.pending(slow)
    assert compiled.wire_view(fast) == view, match
    asked = compiled.pending(fast)
    assert asked == dict(pending), match
    assert list(map(type, asked.values())) == list(map(type, pending.values())), match
    assert compiled.ranks(fast) == tuple(game.ranks(slow)), match
    assert compiled.scores(fast) == tuple(game.scores(slow)), match
    for seat in pending:
        assert compiled.default_action(fast, seat) == game.default_action(slow, seat), match
    return pending


def chosen(game: Game[Any], state: Any, pending: Mapping[Seat, Sequence[int]], luck: random.Random) -> dict[Seat, int]:
    """Choose for every seat: mostly any legal action, now and then the default one, so that matches differ."""
    careful = luck.random() < 0.3
    return {
        seat: game.default_action(state, seat) if careful else luck.choice(legal) for seat, legal in pending.items()
    }
