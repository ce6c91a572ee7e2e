"""A game for tests: guess the next die, for two to six seats.

Its options are `steps`, the number of rolls; `turns`, whether seats guess in turn instead of all at once; and `raises`,
the name of a method that raises an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from arena.games.dice import Dice
from arena.games.rules import Game, Options, Seat, places


class State(NamedTuple):
    """A position; `rolls` has the faces so far, one for each step."""

    seats: int
    options: Options
    rolls: tuple[int, ...] = ()
    scores: tuple[int, ...] = ()


class Toy(Game[State]):
    """The rules: six points for guessing the die of the step, otherwise one point if the guess is odd."""

    name = "toy"
    title = "Guess the die"
    seats = range(2, 7)
    actions = 7
    rules_version = 1
    defaults: ClassVar[Options] = {"steps": 4, "turns": False, "raises": ""}

    def start(self, seats: int, dice: Dice, options: Options) -> State:  # noqa: ARG002
        state = State(seats, options, (), (0,) * seats)
        return self._unless_raising(state, "start")

    def pending(self, state: State) -> Mapping[Seat, Sequence[int]]:
        self._unless_raising(state, "pending")
        step = len(state.rolls)
        if step == state.options["steps"]:
            return {}
        legal = range(1, 7) if step % 2 else (1, 2, 3, 4, 5, 6)
        return {step % state.seats: legal} if state.options["turns"] else dict.fromkeys(range(state.seats), legal)

    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        self._unless_raising(state, "apply")
        (face,) = dice.roll(f"step/{len(state.rolls)}", 1)
        scores = list(state.scores)
        for seat, guess in decisions.items():
            scores[seat] += 6 if guess == face else guess % 2
        return state._replace(rolls=(*state.rolls, face), scores=tuple(scores))

    def ranks(self, state: State) -> tuple[int, ...]:
        return places(self._unless_raising(state, "ranks").scores)

    def scores(self, state: State) -> tuple[int, ...]:
        return state.scores

    def default_action(self, state: State, seat: Seat) -> int:  # noqa: ARG002
        return 2

    def view(self, state: State, seat: Seat | None) -> Message:  # noqa: ARG002
        self._unless_raising(state, "view")
        view = Struct()
        view.update({"rolls": list(state.rolls), "scores": list(state.scores)})
        return view

    def from_view(self, view: Message, options: Options) -> State:
        raise NotImplementedError

    def action_name(self, action: int) -> str:
        return f"guess {action}"

    def action(self, name: str) -> int:
        return int(name.removeprefix("guess "))

    def picture(self, state: State) -> str:
        return str(state.rolls)

    def _unless_raising(self, state: State, where: str) -> State:
        if state.options["raises"] == where:
            raise ZeroDivisionError(f"the rules of {self.name} in {where}")
        return state
