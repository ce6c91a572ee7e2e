"""What the author of a bot works with: the class to derive from and the question it is asked.

Nothing heavy is imported here: gRPC, the messages and the rules cost more time than Python's own start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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

    A class that defines `__init__` finds none of the attributes there yet: `start` is the place for them.
    """

    matches: ClassVar[int] = 256
    """How many matches one process of this bot may hold at once; 1 for a bot that needs the whole machine."""
    updates: ClassVar[bool] = False
    """Whether `update` is to be called after every step of the match."""

    game: str
    """The game's name: "birth", "burning-desire", "buttons" or one made outside the project."""
    seat: int
    """The bot's own place at the table, from 0."""
    seats: int
    """How many seats there are."""
    limits: Limits
    """How long the bot may think, in milliseconds: `decision_ms`, `first_decision_ms`, `bank_ms`."""
    rules_version: int
    """The version of the game's rules; another version may play differently."""
    random: Random
    """Seeded by the arena: a bot with no other source of luck plays a repeated match the same way again."""
    _options: Struct

    @cached_property
    def options(self) -> dict[str, Any]:
        """What is set for this match, every option with its value."""
        return {name: plain(value) for name, value in self._options.fields.items()}

    @cached_property
    def rules(self) -> Game[Any]:
        """The referee's own rules of this game, to search with."""
        from arena.games import game

        return game(self.game)

    def start(self) -> None:  # noqa: B027 - a bot without preparations has none
        """The match begins; the attributes are set."""

    @abstractmethod
    def choose(self, turn: Turn) -> int:
        """One of `turn.legal`. An action that is not legal forfeits, an exception ends the process."""

    def update(self, update: Update) -> None:  # noqa: B027 - only bots that ask for updates need it
        """A step was made: `update.actions`, everybody's, and `update.buttons` (or `.birth` …) after it."""

    def end(self, end: MatchEnd) -> None:  # noqa: B027 - few bots look back
        """The match is over: `end.ranks` (0 best), `end.scores`, `end.forfeits`."""


class Turn:
    """A decision to make: what is legal, and the match as this seat sees it, complete each time."""

    __slots__ = ("_bot", "_decision", "_state", "legal")

    legal: Sequence[int]
    """The actions to choose from, ascending: a range, or a tuple."""

    def __init__(self, bot: Bot, decision: Decision) -> None:
        if count := decision.legal_count:
            self.legal = range(decision.legal_first, decision.legal_first + count)
        else:
            self.legal = tuple(decision.legal[:])  # a slice is several times as fast as protobuf's iterator
        self._bot = bot
        self._decision = decision
        self._state: Any = None

    def __repr__(self) -> str:
        return f"<Turn {self.number} of {self._bot.game}, legal {self.legal!r}>"

    @property
    def number(self) -> int:
        """The decision's number, unique in its match."""
        return self._decision.decision

    @property
    def bank(self) -> float:
        """Seconds left for thinking over the limit of a decision, in the whole match."""
        return self._decision.bank_ms / 1000

    @property
    def state(self) -> Any:
        """The state of `arena.games` that the view shows; immutable, so `bot.rules` may search from it."""
        if self._state is None:
            self._state = self._bot.rules.from_view(self.view, self._bot.options)
        return self._state

    @property
    def view(self) -> Message:
        """The game's own message, whichever game it is; a Struct for games made outside the project."""
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
        """An action in words, such as "place 5,6"."""
        return self._bot.rules.action_name(action)

    def action(self, name: str) -> int:
        """The action of a name. Raises ValueError for anything that is none."""
        return self._bot.rules.action(name)


def seated(bot_class: type[Bot], start: MatchStart) -> Bot:
    """A new bot that knows its match and has been told of its start."""
    bot = bot_class()
    bot.game, bot.seat, bot.seats = start.game, start.seat, start.seats
    bot.limits, bot.rules_version = start.limits, start.rules_version
    bot.random = Random(int.from_bytes(start.bot_seed))
    bot._options = start.options
    bot.start()
    return bot


def plain(value: Value) -> Any:
    """The JSON data in a protobuf Value, whose numbers are all floats: whole ones become int again."""
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
