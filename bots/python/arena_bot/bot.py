"""What the author of a bot works with: the class `Bot` to derive from, and `Turn`, the question that it is asked.

Nothing heavy is imported here: importing gRPC, the messages and the rules takes longer than Python's own start.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from google.protobuf.struct_pb2 import Struct, Value

    from arena.games import Game
    from arena.v1.birth_pb2 import BirthView
    from arena.v1.burning_desire_pb2 import BurningDesireView
    from arena.v1.buttons_pb2 import ButtonsView
    from arena.v1.referee_pb2 import Decision, Limits, MatchEnd, MatchStart, Update


class Bot(ABC):
    """One seat of one match: every match gets an instance of its own, so matches never mix.

    The attributes are not set yet when `__init__` runs: prepare a match in `start`, where they are.
    """

    matches: ClassVar[int] = 768
    """How many matches one process of this bot may hold at once; 1 for a bot that needs the whole machine."""
    updates: ClassVar[bool] = False
    """Whether `update` is to be called after every step of the match."""

    game: str
    """The game's name: "birth", "burning-desire", "buttons" or one made outside the project."""
    seat: int
    """The bot's own seat, from 0."""
    seats: int
    """The number of seats in the match."""
    limits: Limits
    """How long the bot may think, in milliseconds: `decision_ms`, `first_decision_ms`, `bank_ms`."""
    rules_version: int
    """The version of the game's rules; in another version the rules may differ."""
    random: Random
    """Random numbers, seeded by the arena: a bot that uses no others plays a repeated match the same way again."""
    _options: Struct
    _arena_match: int
    """Number of the match on the stream."""
    _arena_asked: Decision | None = None
    """The decision that the bot was asked last."""

    @cached_property
    def options(self) -> dict[str, Any]:
        """The game's options in this match, every one with its value."""
        return {name: plain(value) for name, value in self._options.fields.items()}

    @cached_property
    def rules(self) -> Game[Any]:
        """The referee's own rules of this game, to search with."""
        from arena.games import game

        return game(self.game)

    def start(self) -> None:  # noqa: B027 - a bot without preparations has none
        """Prepare for the match, which begins now; the attributes are set."""

    @abstractmethod
    def choose(self, turn: Turn) -> int:
        """Return one of `turn.legal`. An action that is not legal forfeits the match; an exception ends the process."""

    def update(self, update: Update) -> None:  # noqa: B027 - only bots that ask for updates need it
        """Take note of a step of the match; called only if `updates` is set.

        `update.actions` has the actions of all seats, `update.buttons` (or `.birth` …) the view after the step.
        """

    def log(self, *values: object) -> None:
        """Print values for yourself, as `print` does: the arena keeps them with the match, at the decision being made.

        The arena can tell which match a line belongs to because of the tag that this puts before it.
        """
        asked = f":{self._arena_asked.decision}" if self._arena_asked is not None else ""
        tag = f"\x1e{self._arena_match}{asked} "
        lines = " ".join(map(str, values)).removesuffix("\n").split("\n")
        sys.stderr.write("".join(f"{tag}{line}\n" for line in lines))
        sys.stderr.flush()

    def end(self, end: MatchEnd) -> None:  # noqa: B027 - few bots look back
        """Take note of the end of the match: `end.ranks` (0 best), `end.scores`, `end.forfeits`."""


class Turn:
    """A decision to make: the legal actions, and the whole match as this seat sees it."""

    __slots__ = ("_bot", "_decision", "_state", "legal")

    legal: Sequence[int]
    """The actions to choose from, in ascending order: a range or a tuple."""

    def __init__(self, bot: Bot, decision: Decision) -> None:
        if count := decision.legal_count:
            self.legal = range(decision.legal_first, decision.legal_first + count)
        else:
            self.legal = tuple(decision.legal[:])  # a slice is several times as fast as protobuf's iterator
        self._bot = bot
        self._decision = bot._arena_asked = decision
        self._state: Any = None

    def __repr__(self) -> str:
        return f"<Turn {self.number} of {self._bot.game}, legal {self.legal!r}>"

    @property
    def bot(self) -> Bot:
        """The bot that is asked, with its `seat`, `random`, `rules` and all else that a match has set."""
        return self._bot

    @property
    def number(self) -> int:
        """The number of the decision, unique in its match."""
        return self._decision.decision

    @property
    def bank(self) -> float:
        """Seconds left in the bank, which pays for all time that decisions of the match take beyond their limits."""
        return self._decision.bank_ms / 1000

    @property
    def state(self) -> Any:
        """State of the game, as in `arena.games`, made from the view; immutable, so `bot.rules` can search from it."""
        if self._state is None:
            self._state = self._bot.rules.from_view(self.view, self._bot.options)
        return self._state

    @property
    def view(self) -> Message:
        """The view as a message of the game, whichever it is; a Struct for games made outside the project."""
        view: Message = getattr(self._decision, self._decision.WhichOneof("view") or "other")
        return view

    @property
    def birth(self) -> BirthView:
        """The view in a match of BIRTH. Raises AttributeError in any other."""
        return self._only("birth").birth

    @property
    def burning_desire(self) -> BurningDesireView:
        """The view in a match of Burning Desire. Raises AttributeError in any other."""
        return self._only("burning_desire").burning_desire

    @property
    def buttons(self) -> ButtonsView:
        """The view in a match of Buttons. Raises AttributeError in any other."""
        return self._only("buttons").buttons

    def _only(self, game: Literal["birth", "burning_desire", "buttons"]) -> Decision:
        if not self._decision.HasField(game):
            raise AttributeError(f"turn.{game} is not there: the match is one of {self._bot.game}")
        return self._decision

    def name(self, action: int) -> str:
        """Return an action in words, such as "place 5,6"."""
        return self._bot.rules.action_name(action)

    def action(self, name: str) -> int:
        """Return the action with this name. Raises ValueError for a text that names none."""
        return self._bot.rules.action(name)


def seated(bot_class: Callable[[], Bot], start: MatchStart) -> Bot:
    """Return a new bot with its attributes set for a match, after its `start` was called."""
    bot = bot_class()
    bot.game, bot.seat, bot.seats = start.game, start.seat, start.seats
    bot.limits, bot.rules_version = start.limits, start.rules_version
    bot.random = Random(int.from_bytes(start.bot_seed))
    bot._options, bot._arena_match = start.options, start.match
    bot.start()
    return bot


def plain(value: Value) -> Any:
    """Return the JSON data in a protobuf Value; its numbers are all floats, and whole ones become int again."""
    match value.WhichOneof("kind"):
        case "struct_value":
            return {name: plain(item) for name, item in value.struct_value.fields.items()}
        case "list_value":
            return [plain(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
    return None
