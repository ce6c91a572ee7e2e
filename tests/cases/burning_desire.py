"""The ops of Burning Desire's cases, run against the real rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

from arena.games.burning_desire import (
    LEGAL,
    STOP,
    BurningDesire,
    Phase,
    Stage,
    State,
    begin_turn,
    final_order,
    leaders,
    may_multiply,
)
from arena.games.burning_desire_dice import DICE, MULTIPLIERS, REROLLED, ROLES, multiplied, reroll, score
from arena.games.dice import Dice, ScriptedDice
from tests.cases.op import Case, Op
from tests.cases.values import exactly, faces, items, names, number

GAME = BurningDesire()
GOAL: int = GAME.defaults["goal"]
STAGES = {"normal": Stage.NORMAL, "final": Stage.FINAL, "tiebreak": Stage.TIEBREAK}
PHASES = {"ROLL": Phase.ROLL, "ROLE": Phase.ROLE, "MULT": Phase.MULTIPLY}
POINTS = range(10**9)
MANY = range(1000)
Item = TypeVar("Item")


class Turn(NamedTuple):
    """One entry of `turns`, checked."""

    seat: int
    actions: Sequence[int]
    tape: Sequence[int]
    multipliers: Sequence[int]
    """Faces of the multiplier dice, A, B, A, B, …"""


class TurnDice(Dice):
    """The tapes of each turn, used up before the next one begins; a turn after the last shows seven ones."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._tapes = ((ScriptedDice(turn.tape), ScriptedDice(turn.multipliers)) for turn in turns)
        self._turn_tape = self._multipliers = ScriptedDice(())

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        if key.endswith("/roll/0"):
            self.assert_done()
            nobody = ScriptedDice((1,) * DICE), ScriptedDice(())
            self._turn_tape, self._multipliers = next(self._tapes, nobody)
        return (self._multipliers if "/multiply/" in key else self._turn_tape).roll(key, count)

    def draws(self, key: str, bounds: Sequence[int]) -> tuple[int, ...]:
        return self._turn_tape.draws(key, bounds)

    def assert_done(self) -> None:
        """Raise AssertionError unless the tapes of the current turn are used up."""
        self._turn_tape.assert_done()
        self._multipliers.assert_done()


def _one_of(what: str, value: object, table: Mapping[str, Item]) -> Item:
    if not isinstance(value, str) or value not in table:
        raise ValueError(f"{what}: expected one of {', '.join(table)}, not {value!r}")
    return table[value]


def _multipliers(rolls: object) -> list[list[int]]:
    """The faces, A then B, that show each of the pairs of factors."""
    return [
        [_face(sides, factor) for sides, factor in zip(MULTIPLIERS, items("mult", pair, exactly(2)), strict=True)]
        for pair in items("mult", rolls, MANY)
    ]


def _face(sides: Sequence[int], factor: object) -> int:
    if type(factor) is not int or factor not in sides:
        raise ValueError(f"mult: a die with the sides {sides} never shows {factor!r}")
    return sides.index(factor) + 1


def _score(case: Case) -> dict[str, int]:
    dice = *faces("dice", case["dice"], exactly(DICE - 1)), number("bonus", case["bonus"], range(1, 7))
    return {role.name: score(role, dice) for role in ROLES}


def _mult(case: Case) -> list[int]:
    points = [number("score", case["score"], POINTS)]
    for thrown in _multipliers(case["rolls"]):
        if not points[-1]:
            raise ValueError(f"rolls: 0 points are not multiplied: {case['rolls']}")
        points.append(multiplied(points[-1], thrown))
    return points[1:]


def _offer(case: Case) -> bool:
    total, points = number("total", case["total"], POINTS), number("score", case["score"], POINTS)
    return may_multiply(_one_of("stage", case["stage"], STAGES), total, points, GOAL)


def _reroll(case: Case) -> list[int]:
    kept = number("keep", case["keep"], range(STOP + 1))
    thrown = faces("tape", case["tape"], exactly(len(REROLLED[kept])))
    return list(reroll(faces("dice", case["dice"], exactly(DICE)), kept, thrown))


def _legal(case: Case) -> list[int]:
    legal = LEGAL[_one_of("phase", case["phase"], PHASES)]
    return [legal[0], legal[-1], len(legal)]


def _order(case: Case) -> list[int]:
    seats = number("n", case["n"], GAME.seats)
    return list(final_order(seats, number("trigger", case["trigger"], range(seats))))


def _play(case: Case) -> dict[str, Any]:
    turns = [_turn(entry) for entry in items("turns", case["turns"], MANY)]
    try:
        states = _states(_position(case["state"]), turns)
    except AssertionError as error:
        raise ValueError(str(error)) from None
    points = [
        after.totals[turn.seat] - before.totals[turn.seat]
        for turn, (before, after) in zip(turns, pairwise(states), strict=True)
    ]
    return {"points": points, **_results(states[-1])}


def _states(position: State, turns: Sequence[Turn]) -> list[State]:
    """The first position and that after each turn, the next turn's first roll made."""
    dice = TurnDice(turns)
    states = [begin_turn(position, position.current, dice)]
    for turn in turns:
        states.append(_after(states[-1], turn, dice))
    dice.assert_done()
    return states


def _position(value: object) -> State:
    """The position before the current seat's first roll."""
    fields = names("state", value, ["totals", "current", "stage", "trigger", "queue"])
    totals = tuple(number("totals", total, POINTS) for total in items("totals", fields.get("totals"), GAME.seats))
    state = State(
        totals,
        turns=(0,) * len(totals),
        goal=GOAL,
        max_turns=GAME.defaults["max_turns"],
        stage=_one_of("stage", fields.get("stage"), STAGES),
        current=number("current", fields.get("current"), range(len(totals))),
    )
    if state.stage is not Stage.NORMAL:
        return _late(state, fields)
    if fields.get("trigger") is not None or fields.get("queue"):
        raise ValueError(f"state: the normal stage has neither a trigger nor a queue: {value}")
    return state


def _late(state: State, fields: Mapping[str, Any]) -> State:
    """The same position with the trigger and the queue, in the final round or a tie-break."""
    seats = range(len(state.totals))
    trigger = number("trigger", fields.get("trigger"), seats)
    listed = items("queue", fields.get("queue"), range(1, len(seats) + 1))
    queue = tuple(number("queue", seat, seats) for seat in listed)
    if queue[0] != state.current or len(set(queue)) < len(queue):
        raise ValueError(f"queue: expected seats once each and seat {state.current} first, not {listed}")
    if state.stage is Stage.FINAL and trigger in queue:
        raise ValueError(f"queue: the trigger, seat {trigger}, has no turn in the final round: {listed}")
    return state._replace(trigger=trigger, queue=queue)


def _turn(value: object) -> Turn:
    fields = names("turn", value, ["p", "tape", "actions", "mult"])
    return Turn(
        number("p", fields.get("p"), range(GAME.seats[-1])),
        [number("actions", action, range(GAME.actions)) for action in items("actions", fields.get("actions"), MANY)],
        faces("tape", fields.get("tape"), MANY),
        list(chain(*_multipliers(fields.get("mult", [])))),
    )


def _after(state: State, turn: Turn, dice: Dice) -> State:
    """The position after a seat's whole turn. Raises ValueError if the actions are not exactly that."""
    whose = f"the turn of seat {turn.seat}"
    if turn.seat not in GAME.pending(state):
        raise ValueError(f"{whose} does not come now: pending are the seats {list(GAME.pending(state))}")
    begun = state.turns
    for action in turn.actions:
        if state.stage is Stage.OVER or state.turns != begun:
            raise ValueError(f"{whose} is over before action {action}")
        state = GAME.apply(state, {turn.seat: action}, dice)
    if state.stage is not Stage.OVER and state.turns == begun:
        raise ValueError(f"{whose} is not over after the actions {turn.actions}")
    return state


def _results(state: State) -> dict[str, Any]:
    over, ahead = state.stage is Stage.OVER, leaders(state.totals)
    return {
        "totals": list(state.totals),
        "stage": state.stage.name.lower(),
        "next": None if over else state.current,
        "queue": list(state.queue),
        "trigger": state.trigger,
        "winner": ahead[0] if over and len(ahead) == 1 else None,
    }


OPS: Mapping[str, Op] = {
    "score": Op(_score, frozenset({"dice", "bonus"}), expects=frozenset(role.name for role in ROLES)),
    "mult": Op(_mult, frozenset({"score", "rolls"})),
    "offer": Op(_offer, frozenset({"total", "score", "stage"})),
    "reroll": Op(_reroll, frozenset({"dice", "keep", "tape"})),
    "legal": Op(_legal, frozenset({"phase"})),
    "order": Op(_order, frozenset({"n", "trigger"})),
    "play": Op(
        _play,
        frozenset({"state", "turns"}),
        expects=frozenset({"points", "totals", "stage", "next", "queue", "trigger", "winner"}),
    ),
}
