"""Base class of all games, whether seats decide in turn or at the same time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from google.protobuf.message import Message

from arena.games.dice import Dice

Seat: TypeAlias = int
Options: TypeAlias = Mapping[str, Any]
"""Options of one match as plain JSON data: every option with its value."""

State = TypeVar("State")


class BadOption(ValueError):
    """Error for an option, or a value, that a game does not accept; the message names it and what is allowed."""


class Mark(NamedTuple):
    """A part of a picture that a terminal with colours shows in another way.

    `kind` is "legal" for what the seat may choose, "own" for what belongs to it, or a colour: "red", "green", "blue" or
    "yellow".
    """

    line: int
    column: int
    width: int
    kind: str


class Game(ABC, Generic[State]):
    """Pure rules on an immutable state: no sockets, clocks, files, globals, printing or forfeits.

    Actions are integers from 0 to `actions` - 1; a complex choice is split into several decisions. The result of every
    method depends on its arguments alone, so a state can be stored, compared and searched from freely.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    seats: ClassVar[range]
    actions: ClassVar[int]
    rules_version: ClassVar[int]
    """Number that is increased when a rule changes; it is stored with every match."""
    view_field: ClassVar[str] = "other"
    """Field of the `view` on the wire that holds this game's message."""
    hides: ClassVar[bool] = True
    """Whether different seats may be shown different views; if not, one view is made for all seats."""
    draw_probability: ClassVar[float] = 0.001
    """Probability that two equal bots share a place, a parameter of TrueSkill. Measured, and constant for a game."""
    beyond_scores: ClassVar[str] = ""
    """Explanation shown to people when a seat is placed above one whose score is not smaller."""
    board: ClassVar[str] = ""
    """A script, as text, that draws its board in pages; a game of another package brings it if a picture is too little.

    It is a classic script that sets `arenaBoards[name]` to a function. That is given a step of a `MatchReplay` of
    `arena/reports/replay_report.py`, with `previous`, the view before it, and `earlier`, the choices and rolls of the
    steps before it, of which a match in play may know only the last ones; and the table: its `seats`, `bots` and
    `options`. It returns the element to show; `arenaSvg` has what may help. Styles are set as attributes of SVG
    elements, since the pages allow no inline style.
    """
    defaults: ClassVar[Options] = {}
    """All options with their default values."""

    def options(self, changed: Options) -> Options:
        """Return the default options with `changed` merged over them, checked. Raises BadOption."""
        unknown = sorted(set(changed) - set(self.defaults))
        if unknown:
            options = ", ".join(self.defaults) or "none"
            raise BadOption(f"unknown option {unknown[0]!r} of {self.name}: options are {options}")
        merged = {**self.defaults, **changed}
        self.check_options(merged)
        return merged

    def check_options(self, options: Options) -> None:
        """Raise BadOption if the value of an option is not allowed."""

    @abstractmethod
    def start(self, seats: int, dice: Dice, options: Options) -> State:
        """Return the state before the first decision; `options` is what `self.options` returned."""

    @abstractmethod
    def pending(self, state: State) -> Mapping[Seat, Sequence[int]]:
        """Map each seat that must decide now to its legal actions, ascending; empty when the match is over."""

    @abstractmethod
    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        """Return the state after every pending seat has made one legal decision."""

    @abstractmethod
    def ranks(self, state: State) -> tuple[int, ...]:
        """Return the rank of each seat: 0 is best, and equal ranks are a tie, as in (0, 1, 1, 3).

        Defined in every state; final when the match is over.
        """

    @abstractmethod
    def scores(self, state: State) -> tuple[int, ...]:
        """Return the score of each seat, the number that people read."""

    @abstractmethod
    def default_action(self, state: State, seat: Seat) -> int:
        """Return the least harmful legal action of a pending seat: what is played for a seat that has forfeited."""

    @abstractmethod
    def view(self, state: State, seat: Seat | None) -> Message:
        """Return what a seat is shown (None: a spectator), as the game's own protobuf message."""

    def wire_view(self, state: State, seat: Seat | None) -> bytes:
        """Return the view of a seat as encoded bytes.

        One view is sent with each decision, so a game may override this with something faster than building a message.
        """
        return self.view(state, seat).SerializeToString()

    @abstractmethod
    def from_view(self, view: Message, options: Options) -> State:
        """Return the state that a view shows; games with hidden information raise NotImplementedError."""

    @abstractmethod
    def action_name(self, action: int) -> str:
        """Return an action in words: "place 5,6", "quit", "keep 1 2 b"."""

    @abstractmethod
    def action(self, name: str) -> int:
        """Return the action with this name; raises ValueError if there is none."""

    @abstractmethod
    def picture(self, state: State) -> str:
        """Draw the state for a terminal, as a few lines of plain text."""

    def marks(self, state: State, seat: Seat, legal: Sequence[int]) -> Sequence[Mark]:  # noqa: ARG002
        """Return what to mark in the picture for a person in this seat, who may choose these actions."""
        return ()

    def events(self, before: State, decisions: Mapping[Seat, int], after: State) -> Sequence[str]:  # noqa: ARG002
        """Return what people will look for in a match of the things that a step did, as in "seat 1 busts"; often none.

        Changes of the lead and forfeits are left out: they are found for every game.
        """
        return ()


def remark(game: Game[Any], ranks: Sequence[int], scores: Sequence[int], forfeited: Collection[Seat] = ()) -> str:
    """Return the game's `beyond_scores` if some seat is placed above one whose score is not smaller, else nothing.

    Seats that forfeited do not count: that is why they are placed where they are.
    """
    placed = enumerate(zip(ranks, scores, strict=True))
    seats = [pair for seat, pair in placed if seat not in forfeited]
    upset = any(rank < below and score <= other_score for rank, score in seats for below, other_score in seats)
    return game.beyond_scores if upset else ""


def drawn(game: Game[Any], view: Message, options: Options) -> str:
    """Draw what a view shows, for a terminal; of a game with hidden information it is the view as text."""
    try:
        return game.picture(game.from_view(view, options))
    except NotImplementedError:  # there is no state to draw
        return str(view)


def marked(game: Game[Any], view: Message, options: Options, seat: Seat, legal: Sequence[int]) -> Sequence[Mark]:
    """Return what to mark in what `drawn` draws; nothing in a game with hidden information."""
    try:
        return game.marks(game.from_view(view, options), seat, legal)
    except NotImplementedError:
        return ()


def named(game: Game[Any], action: int) -> str:
    """Describe an action by number and name, as in "36 (roll)"; by number alone if the game has no name for it.

    The function never raises, whatever number is given: messages about faults of bots also name invalid choices with
    it.
    """
    try:
        return f"{action} ({game.action_name(action)})" if 0 <= action < game.actions else str(action)
    except Exception:
        return str(action)


def places(keys: Sequence[Any]) -> tuple[int, ...]:
    """Return ranks from sort keys: larger is better, equal keys tie, so that 7, 9, 7 give (1, 0, 1)."""
    return tuple(sum(rival > key for rival in keys) for key in keys)
