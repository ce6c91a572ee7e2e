"""The rules of Burning Desire: roll up to three times, score the dice in a role; multipliers may raise or burn points.

Seat 0 begins. Once a seat has reached the goal, all others have one more turn. If several seats are then tied for the
highest total, they continue with one turn each, until one is ahead. docs/games.md has the rules in full.

Each roll has a key, from which its faces follow in a seeded match. S is the seat, T its own turn number, R the
roll of the turn and M the multiplication; all count from 0:
`seat/S/turn/T/roll/R`        R = 0: dice 0 … 5, then the bonus die; R = 1, 2: only the rerolled dice, in this order
`seat/S/turn/T/multiply/M`    the multiplier dice A, then B; faces 1 … 6 stand for the sides in `MULTIPLIERS`

The printed rules leave three points open; these answers are our own. A tie-break goes clockwise from the seat that
reached the goal first, the trigger. 0 points are never multiplied. The option `max_turns` ends the matches of bots that
do not score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import ClassVar, NamedTuple

from google.protobuf.message import Message

from arena.games.burning_desire_dice import (
    DICE,
    MULTIPLIERS,
    REROLLED,
    ROLES,
    best_role,
    multiplied,
    reroll,
    score,
)
from arena.games.dice import Dice
from arena.games.encoding import block, number
from arena.games.faster import fast_replace
from arena.games.rules import BadOption, Game, Mark, Options, Seat, places
from arena.v1.burning_desire_pb2 import BurningDesirePhase, BurningDesireStage, BurningDesireView


class Stage(IntEnum):
    """Stage of the match; numbered as on the wire."""

    NORMAL = 1
    FINAL = 2
    TIEBREAK = 3
    OVER = 4


class Phase(IntEnum):
    """Kind of decision that the current seat must make; numbered as on the wire."""

    ROLL = 1
    ROLE = 2
    MULTIPLY = 3


@fast_replace
class State(NamedTuple):
    """Complete position of a match. When the match is over, the fields of the turn stay as the last turn ended."""

    totals: tuple[int, ...]
    turns: tuple[int, ...]
    """Turns that each seat has had or begun."""
    goal: int
    max_turns: int
    stage: Stage = Stage.NORMAL
    trigger: Seat | None = None
    """Seat that reached the goal first; None while none has, also if `max_turns` ended the match before."""
    queue: tuple[Seat, ...] = ()
    """Seats that still have a turn in this round, the current seat first; empty in the normal stage and at the end."""
    current: Seat = 0
    phase: Phase = Phase.ROLL
    dice: tuple[int, ...] = ()
    """Faces of the six ordinary dice, then of the bonus die."""
    rolls: int = 0
    score: int = 0
    """Points of this turn once a role is chosen, multiplications included."""
    multiplications: int = 0
    """Number of times that the points of this turn were multiplied."""


ROLLS = 3
"""Rolls of a turn, by the rules: after the last one a role must be chosen."""

STOP = 127
"""The action that keeps all dice. Up to here actions are masks of dice to keep, with bit 6 for the bonus die."""
FIRST_ROLE = 128
"""The action that chooses the first role; the other roles follow."""
BANK = 131
"""The action that banks the points of the turn."""
MULTIPLY = 132
"""The action that multiplies the points of the turn."""

LEGAL = (range(0), range(FIRST_ROLE), range(FIRST_ROLE, BANK), range(BANK, MULTIPLY + 1))
"""Legal actions, indexed by phase; the first entry is empty, since phases are numbered from 1."""


def may_multiply(stage: Stage, total: int, points: int, goal: int) -> bool:
    """Tell whether points may be multiplied: if they are not 0, and banking reaches the goal or a seat has."""
    return points > 0 and (stage is not Stage.NORMAL or total + points >= goal)


def final_order(seats: int, trigger: Seat) -> tuple[Seat, ...]:
    """Return the seats that play the final round: all except the trigger, clockwise from its left neighbour."""
    return _clockwise(seats, trigger)[1:]


def tiebreak_order(seats: int, trigger: Seat, tied: Sequence[Seat]) -> tuple[Seat, ...]:
    """Return the seats that play a tie-break: those tied, clockwise from the trigger, which is first if it is tied."""
    return tuple(seat for seat in _clockwise(seats, trigger) if seat in tied)


def leaders(totals: Sequence[int]) -> tuple[Seat, ...]:
    """Return the seats with the highest total."""
    top = max(totals)
    return tuple(seat for seat, total in enumerate(totals) if total == top)


def begin_turn(state: State, seat: Seat, dice: Dice) -> State:
    """Return the position after the first roll of a seat's turn."""
    turn = state.turns[seat]
    return state._replace(
        turns=_with(state.turns, seat, turn + 1),
        current=seat,
        phase=Phase.ROLL,
        dice=dice.roll(f"seat/{seat}/turn/{turn}/roll/0", DICE),
        rolls=1,
        score=0,
        multiplications=0,
    )


def _clockwise(seats: int, first: Seat) -> tuple[Seat, ...]:
    return (*range(first, seats), *range(first))


def _with(numbers: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*numbers[:index], value, *numbers[index + 1 :])


def _key(state: State, roll: str, number: int) -> str:
    return f"seat/{state.current}/turn/{state.turns[state.current] - 1}/{roll}/{number}"


def _keep(state: State, mask: int, dice: Dice) -> State:
    """Return the position after the dice outside the mask are rerolled, or after the seat stops rolling."""
    if mask == STOP:
        return state._replace(phase=Phase.ROLE)
    thrown = dice.roll(_key(state, "roll", state.rolls), len(REROLLED[mask]))
    rolls = state.rolls + 1
    phase = Phase.ROLE if rolls == ROLLS else Phase.ROLL
    return state._replace(phase=phase, dice=reroll(state.dice, mask, thrown), rolls=rolls)


def _choose(state: State, action: int, dice: Dice) -> State:
    """Return the position after a role is chosen; its points are banked at once if they may not be multiplied."""
    points = score(ROLES[action - FIRST_ROLE], state.dice)
    if may_multiply(state.stage, state.totals[state.current], points, state.goal):
        return state._replace(phase=Phase.MULTIPLY, score=points)
    return _bank(state, points, dice)


def _bank_or_multiply(state: State, action: int, dice: Dice) -> State:
    """Return the position after the points are banked or multiplied; a product of 0 ends the turn."""
    if action == BANK:
        return _bank(state, state.score, dice)
    faces = dice.roll(_key(state, "multiply", state.multiplications), len(MULTIPLIERS))
    after = state._replace(score=multiplied(state.score, faces), multiplications=state.multiplications + 1)
    return after if after.score else _bank(after, 0, dice)


def _bank(state: State, points: int, dice: Dice) -> State:
    """End the turn with these points: begin the next turn, or end the match."""
    seat = state.current
    totals = _with(state.totals, seat, state.totals[seat] + points)
    state = _next_round(state._replace(totals=totals, score=points, queue=state.queue[1:]))
    following = state.queue[0] if state.queue else (seat + 1) % len(totals)
    if state.stage is Stage.OVER or state.turns[following] == state.max_turns:
        return state._replace(stage=Stage.OVER, queue=())
    return begin_turn(state, following, dice)


def _next_round(state: State) -> State:
    """Return the position with what follows the turn that just ended: final round, tie-break, end, or nothing new.

    Leaders are sought among all seats, also after a tie-break: its seats were ahead of all others, and no total falls.
    """
    seats, seat = len(state.totals), state.current
    if state.trigger is None:
        if state.totals[seat] < state.goal:
            return state
        return state._replace(stage=Stage.FINAL, trigger=seat, queue=final_order(seats, seat))
    if state.queue:
        return state
    tied = leaders(state.totals)
    if len(tied) == 1:
        return state._replace(stage=Stage.OVER)
    return state._replace(stage=Stage.TIEBREAK, queue=tiebreak_order(seats, state.trigger, tied))


def _keep_name(mask: int) -> str:
    return "keep " + (" ".join(name for die, name in enumerate("123456b") if mask >> die & 1) or "none")


_NAMES = (*map(_keep_name, range(STOP)), "stop", *(f"role {role.name}" for role in ROLES), "bank", "multiply")
"""Names of the actions, by their number."""
_ACTIONS = {name: action for action, name in enumerate(_NAMES)}
"""Actions by their name."""
_TITLES = {
    Stage.NORMAL: "Race to",
    Stage.FINAL: "Final round, goal",
    Stage.TIEBREAK: "Tie-break, goal",
    Stage.OVER: "Over, goal",
}
"""How the first line of a picture begins, by the stage."""


def _seat_line(state: State, seat: Seat) -> str:
    over = state.stage is Stage.OVER
    marked = leaders(state.totals) if over else (state.current,)
    mark = ("*" if over else ">") if seat in marked else " "
    note = "reached the goal first" if seat == state.trigger else "to play" if seat in state.queue[1:] else ""
    return f"{mark} seat {seat} {state.totals[seat]:>6}  {note}".rstrip()


def _turn_lines(state: State) -> list[str]:
    *ordinary, bonus = (f"[{face}]" for face in state.dice)
    roles = "   ".join(f"{role.name}: {score(role, state.dice)}" for role in ROLES)
    scored = f"   scored: {state.score}" if state.phase is Phase.MULTIPLY else ""
    return [
        "   1   2   3   4   5   6     b",
        f"  {' '.join(ordinary)}   {bonus}   roll {state.rolls} of {ROLLS}",
        f"   {roles}{scored}",
    ]


class BurningDesire(Game[State]):
    """Rules with two options: `goal`, the total that starts the final round, and `max_turns`, the most turns of a seat.

    The match also ends when the seat whose turn is next has had `max_turns`: then the highest total wins, and equal
    totals share the place.
    """

    name = "burning-desire"
    title = "Burning Desire"
    seats = range(2, 6)
    actions = MULTIPLY + 1
    rules_version = 1
    view_field = "burning_desire"
    hides = False
    # Tie-breaks leave one winner, so the first place is shared only if max_turns ends the match: in none of 10,000
    # matches between two equal players. The value is not 0, because TrueSkill could then not rate ties for lower
    # places, which do occur.
    draw_probability = 0.001
    defaults: ClassVar[Options] = {"goal": 1000, "max_turns": 200}

    def check_options(self, options: Options) -> None:
        for name, value in options.items():
            if type(value) is not int or not 1 <= value <= 1_000_000:
                raise BadOption(f"option {name!r} is a whole number from 1 to 1000000, not {value!r}")

    def start(self, seats: int, dice: Dice, options: Options) -> State:
        nothing = (0,) * seats
        table = State(nothing, nothing, goal=options["goal"], max_turns=options["max_turns"])
        return begin_turn(table, 0, dice)

    def pending(self, state: State) -> Mapping[Seat, range]:
        return {} if state.stage is Stage.OVER else {state.current: LEGAL[state.phase]}

    def apply(self, state: State, decisions: Mapping[Seat, int], dice: Dice) -> State:
        action = decisions[state.current]
        if state.stage is Stage.OVER:
            raise ValueError(f"action {action} is not legal: the match is over")
        if action not in LEGAL[state.phase]:
            legal = LEGAL[state.phase]
            raise ValueError(f"action {action} is not legal: {legal[0]} … {legal[-1]} are")
        step = (_keep, _choose, _bank_or_multiply)[state.phase - 1]
        return step(state, action, dice)

    def ranks(self, state: State) -> tuple[int, ...]:
        return places(state.totals)

    def scores(self, state: State) -> tuple[int, ...]:
        return state.totals

    def default_action(self, state: State, seat: Seat) -> int:  # noqa: ARG002 - only the current seat decides
        """Stop rolling, choose the best role, bank."""
        if state.phase is Phase.ROLL:
            return STOP
        return BANK if state.phase is Phase.MULTIPLY else FIRST_ROLE + best_role(state.dice)

    def view(self, state: State, seat: Seat | None) -> BurningDesireView:
        return BurningDesireView.FromString(self.wire_view(state, seat))

    def wire_view(self, state: State, seat: Seat | None) -> bytes:  # noqa: ARG002 - nothing is hidden
        # The numbers are those of the fields of BurningDesireView. A face is below 128, so its byte is its varint.
        return b"".join(
            (
                _shown_match(state.totals, state.turns, state.goal, state.max_turns),
                _shown_turn(state.current, state.phase, state.stage, state.rolls, state.trigger, state.queue),
                block(4, bytes(state.dice[:-1])),
                number(5, state.dice[-1]),
                block(7, str(state.score).encode()),
                number(8, state.multiplications),
            )
        )

    def from_view(self, view: Message, options: Options) -> State:  # noqa: ARG002 - the view has the options
        assert isinstance(view, BurningDesireView)
        return State(
            totals=tuple(map(int, view.totals)),
            turns=tuple(view.turns),
            goal=view.goal,
            max_turns=view.max_turns,
            stage=Stage(view.stage),
            trigger=view.trigger if view.HasField("trigger") else None,
            queue=tuple(view.queue),
            current=view.current,
            phase=Phase(view.phase),
            dice=(*view.dice, view.bonus),
            rolls=view.rolls,
            score=int(view.score),
            multiplications=view.multiplications,
        )

    def action_name(self, action: int) -> str:
        return _NAMES[action]

    def action(self, name: str) -> int:
        try:
            return _ACTIONS[" ".join(name.lower().split())]
        except KeyError:
            raise ValueError(
                f'no action is called {name!r}: say "keep 1 2 b" (dice in order, b for the bonus die), '
                f'"keep none", {", ".join(_NAMES[STOP:-1])} or {_NAMES[-1]}'
            ) from None

    def picture(self, state: State) -> str:
        seats = (_seat_line(state, seat) for seat in range(len(state.totals)))
        return "\n".join([f"{_TITLES[state.stage]} {state.goal}", *seats, "", *_turn_lines(state)])

    def marks(self, state: State, seat: Seat, legal: Sequence[int]) -> Sequence[Mark]:
        dice, roles = len(state.totals) + 3, len(state.totals) + 4
        marks = [Mark(1 + seat, 2, len(f"seat {seat}"), "own")]
        if any(action < STOP for action in legal):  # each die may be kept
            bonus = len(state.dice) - 1
            marks += [Mark(dice, 2 + 4 * die + 2 * (die == bonus), 3, "legal") for die in range(bonus + 1)]
        column = 3
        for action, role in enumerate(ROLES, FIRST_ROLE):
            width = len(f"{role.name}: {score(role, state.dice)}")
            if action in legal:
                marks.append(Mark(roles, column, width, "legal"))
            column += width + 3
        return marks

    def events(self, before: State, decisions: Mapping[Seat, int], after: State) -> Sequence[str]:
        seat, happened = before.current, []
        goes_on = after.turns == before.turns and after.stage is not Stage.OVER
        if decisions[seat] == MULTIPLY and not goes_on:
            happened.append(f"seat {seat} multiplies by 0 and loses {before.score} points")
        if after.trigger is not None and before.trigger is None:
            happened.append(f"seat {seat} reaches the goal: the final round begins")
        if after.stage is Stage.TIEBREAK and len(after.queue) > len(before.queue):  # a round of it begins
            happened.append(f"seats {', '.join(map(str, after.queue))} are tied and play on")
        return happened


# --- On the wire

# Cached, since these parts of the view stay the same over many decisions.


@lru_cache(maxsize=1 << 13)
def _shown_match(totals: tuple[int, ...], turns: tuple[int, ...], goal: int, max_turns: int) -> bytes:
    view = BurningDesireView(totals=map(str, totals), turns=turns, goal=goal, max_turns=max_turns)
    return view.SerializeToString()


@lru_cache(maxsize=1 << 13)
def _shown_turn(
    current: Seat, phase: Phase, stage: Stage, rolls: int, trigger: Seat | None, queue: tuple[Seat, ...]
) -> bytes:
    view = BurningDesireView(current=current, rolls=rolls, trigger=trigger, queue=queue)
    view.phase, view.stage = BurningDesirePhase.ValueType(phase), BurningDesireStage.ValueType(stage)
    return view.SerializeToString()
