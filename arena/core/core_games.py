"""Which games the core plays, and their options as the bytes that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import games
from arena.core.compilation import core
from arena.games.rules import Game, Options

if TYPE_CHECKING:
    from arena.core import _core


class _Compiled(NamedTuple):
    """A game that is compiled: the version of its rules, and how its options are encoded."""

    rules_version: int
    encoded: Callable[[Options], bytes]


def _of_birth(options: Options) -> bytes:
    return bytes([*options["areas"], options["start"]])


def _of_burning_desire(options: Options) -> bytes:
    goal, max_turns = options["goal"], options["max_turns"]
    return bytes(goal.to_bytes(4, "little") + max_turns.to_bytes(4, "little"))


def _of_buttons(options: Options) -> bytes:
    sides = "".join(side.replace(" ", "") for board in options["boards"] for side in board)
    return sides.encode("ascii") + bytes(options["max_rounds"].to_bytes(2, "little"))


_COMPILED: Mapping[str, _Compiled] = {
    "birth": _Compiled(1, _of_birth),
    "burning-desire": _Compiled(1, _of_burning_desire),
    "buttons": _Compiled(1, _of_buttons),
}
"""The games that are compiled, by name. One whose rules have another version is played in Python."""


def encoded_options(name: str, options: Options) -> bytes:
    """Encode the options of a compiled game, every option with its value, as the file of that game reads them."""
    return _COMPILED[name].encoded(options)


def compiled(game: Game[Any], options: Options) -> _core.Game | None:
    """Return the compiled rules of a game with these options; None if there is no core, or not this game in it.

    What others derived from one of our games has rules of its own, even under its name.
    """
    module, rules_of_game = core(), _COMPILED.get(game.name)
    if module is None or rules_of_game is None or game.rules_version != rules_of_game.rules_version:
        return None
    if type(game) is not type(games.game(game.name)):
        return None
    rules: _core.Game = module.Game(game.name, rules_of_game.encoded(options))
    return rules
