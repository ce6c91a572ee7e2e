"""The one shape every game has, turn by turn or simultaneous."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from google.protobuf.message import Message

from arena.games.dice import Dice

Seat: TypeAlias = int
Options: TypeAlias = Mapping[str, Any]
"""Plain JSON data: what is set for one match, every option with its value."""

State = TypeVar("State")
Value = TypeVar("Value")
Fields = TypeVar("Fields", bound=NamedTuple)


class kept(Generic[Value]):
    """A property that is worked out once; functools' own takes a lock, longer than most of what it would guard."""

    def __init__(self, work: Callable[[Any], Value]) -> None:
        self._work = work
        self._name = work.__name__

    def __get__(self, owner: Any, _: type[Any]) -> Value:
        value = owner.__dict__[self._name] = self._work(owner)
        return value


def light(named: type[Fields]) -> type[Fields]:
    """A class of named tuples whose `_replace` looks up no field but those that change.

    With 14 fields that takes 0.6 to 0.8 of the usual time, by how many change; and a referee does little else so often.
    """
    places_of = {name: place for place, name in enumerate(named._fields)}

    def replace(self: Fields, /, **changes: Any) -> Fields:
        values = list(self)
        for name, value in changes.items():
            values[places_of[name]] = value
        return tuple.__new__(type(self), values)

    free: Any = named  # mypy takes a named tuple's own methods for final
    free._replace = replace
    return named


class BadOption(ValueError):
    """An option or its value that a game does not take; the message names it and what is allowed."""


class Game(ABC, Generic[State]):
    """Pure rules on an immutable state: no sockets, clocks, files, globals, printing or forfeits.

    Actions are integers below `actions`; a big choice is several decisions. Every method is a function of its
    arguments, so a state may be kept, compared and searched from at will.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    actions: ClassVar[int]
    rules_version: ClassVar[int]
    """Bumped when a rule changes; stored with every match."""
    view_field: ClassVar[str] = "other"
    """The field of the wire's `view` that this game's message travels in."""
    hides: ClassVar[bool] = True
    """Whether seats may be shown different things; where they are not, a view is made once for all of them."""
    draw_probability: ClassVar[float] = 0.001
    """How often two equal bots share a place; TrueSkill wants it. A constant of the game, measured."""
    beyond_scores: ClassVar[str] = ""
    """Said to people where a seat is placed before one with a larger score."""
    defaults: ClassVar[Options] = {}
    """Every option with its default."""

    def options(self, changed: Options) -> Options:
        """The defaults with `changed` put over them, checked. Raises BadOption."""
        unknown = sorted(set(changed) - set(self.defaults))
        if unknown:
            known = ", ".join(self.defaults) or "none"
            raise BadOption(f"unknown option {unknown[0]!r} of {self.name}: options are {known}")
        merged = {**self.defaults, **changed}
        self.check_options(merged)
        return merged

    def check_options(self, options: Options) -> None:
        """Raise BadOption if a value does not fit."""

    @abstractmethod
    def start(self, seats: int, dice: Dice, options: Options) -> State:
        """The state before the first decision; `options` come from `self.options`."""

    @abstractmethod
    def pending(self, state: State) -> Mapping[Seat, Sequence[int]]:
        """Who owes a decision and what is legal, ascending; empty when the match is over."""

    @abstractmethod
    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        """The state after one legal decision of every pending seat."""

    @abstractmethod
    def ranks(self, state: State) -> tuple[int, ...]:
        """Final place by seat, 0 best, equal = tie: (0, 1, 1, 3). Defined at any time, final when over."""

    @abstractmethod
    def scores(self, state: State) -> tuple[int, ...]:
        """What people read, by seat."""

    @abstractmethod
    def default_action(self, state: State, seat: Seat) -> int:
        """The least harmful legal action of a pending seat: what a seat that forfeited plays."""

    @abstractmethod
    def view(self, state: State, seat: Seat | None) -> Message:
        """What a seat is shown (None: a spectator), as the game's own message."""

    def wire_view(self, state: State, seat: Seat | None) -> bytes:
        """The view as it travels, one with each decision: worth a quicker way than through a message."""
        return self.view(state, seat).SerializeToString()

    @abstractmethod
    def from_view(self, view: Message, options: Options) -> State:
        """The state a view shows; games with hidden hands raise NotImplementedError."""

    @abstractmethod
    def action_name(self, action: int) -> str:
        """An action in words: "place 5,6", "quit", "keep 1 2 b"."""

    @abstractmethod
    def action(self, name: str) -> int:
        """The action of a name; raises ValueError for anything that is none."""

    @abstractmethod
    def picture(self, state: State) -> str:
        """The table for a terminal, plain text of a few lines."""


def remark(game: Game[Any], ranks: Sequence[int], scores: Sequence[int]) -> str:
    """What the game says to people if some seat is placed before one with a larger score; else nothing."""
    seats = list(zip(ranks, scores, strict=True))
    upset = any(rank < other and score < larger for rank, score in seats for other, larger in seats)
    return game.beyond_scores if upset else ""


def named(game: Game[Any], action: int) -> str:
    """A number and what it stands for: "36 (roll)"; the number alone where the game knows none, or cannot name it.

    Whatever it is given it does not raise: what a bot sent is named where a fault of its own is judged.
    """
    try:
        return f"{action} ({game.action_name(action)})" if 0 <= action < game.actions else str(action)
    except Exception:
        return str(action)


def places(keys: Sequence[Any]) -> tuple[int, ...]:
    """Ranks from sort keys, larger is better, equal keys tie: places([7, 9, 7]) == (1, 0, 1)."""
    return tuple(sum(other > own for other in keys) for own in keys)
