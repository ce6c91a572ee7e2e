"""The most that anybody can win against `planner` at two players: `python -m builtin.burning_desire.ceiling`.

Takes some minutes. Exact, but that a tie after the final round counts as if both then played best.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random
from typing import TypeAlias

from arena.games.burning_desire import LEGAL, MULTIPLY, ROLLS, Phase, Stage, State, may_multiply
from arena.games.burning_desire_dice import DICE, ROLES, score

from .chances import FAR, LEADS, UNIT, Chances, chances
from .simple import planner
from .tabulate import PRECISION, best_turn
from .turn import FACES, FACTORS, Faces

GOAL = FAR * UNIT
UNLIKELY = 1e-12
FIRST, PLANNER = 0, 1
Table: TypeAlias = list[list[float]]


def most(far: int = FAR) -> tuple[Table, Table]:
    """The chances of the best player to move, and of planner; by what that one needs, and the other, as in a race."""
    best, planners = ([[0.5] * far for _ in range(far)] for _ in range(2))
    against = Chances([_passes(UNIT * lead) for lead in range(LEADS)], [])
    for both in range(2 * far - 1):
        for need in range(max(0, both - far + 1), min(far, both + 1)):
            other, change = both - need, 1.0
            while change > PRECISION:
                before = best[need][other]
                planners[other][need] = _planners_turn(best, other, need)
                best[need][other] = best_turn(against, planners, need, other)
                change = abs(best[need][other] - before)
    return best, planners


def _passes(lead: int) -> float:
    """The chance of planner to make up a lead in a last turn, or to win the tie-break."""
    state = State((GOAL + lead, GOAL), (0, 0), GOAL, 200, Stage.FINAL, FIRST, (PLANNER,), PLANNER)
    tie = 1 - chances().begins()
    return sum(odds * (1.0 if points > lead else tie if points == lead else 0.0) for points, odds in _turn(state))


def _planners_turn(best: Table, need: int, other: int) -> float:
    """The chance of planner to move, from the best player's nearer to the end."""
    loses = 0.0
    for points, odds in _race_turn(need, other):
        left = need - points // UNIT
        loses += odds * (best[other][left] if left >= 0 else chances().passes(UNIT * (other - left)))
    return 1 - loses


@cache
def _race_turn(need: int, other: int) -> list[tuple[int, float]]:
    totals = GOAL - UNIT * (other + 1), GOAL - UNIT * (need + 1)
    return _turn(State(totals, (0, 0), GOAL, 200, current=PLANNER))


def _turn(state: State) -> list[tuple[int, float]]:
    """What planner's turn brings, and how likely."""
    return [end for points, odds in rolled().items() for end in _multiplied(state, points, odds)]


def _multiplied(state: State, points: int, odds: float) -> Iterator[tuple[int, float]]:
    offered = may_multiply(state.stage, state.totals[PLANNER], points, state.goal)
    question = state._replace(phase=Phase.MULTIPLY, score=points)
    if offered and odds > UNLIKELY and planner(question, PLANNER, LEGAL[Phase.MULTIPLY], Random(0)) == MULTIPLY:
        for factor, chance in FACTORS.items():
            yield from _multiplied(state, points * factor, odds * chance)
    else:
        yield points, odds


@cache
def rolled() -> dict[int, float]:
    """The points that planner rolls, whatever the position, and how likely."""
    hands = dict(_thrown((), 0))
    for roll in range(1, ROLLS):
        after: defaultdict[Faces, float] = defaultdict(float)
        for dice, odds in hands.items():
            state = State((0, 0), (0, 0), GOAL, 200, dice=dice, rolls=roll)
            mask = planner(state, 0, LEGAL[Phase.ROLL], Random(0))
            kept = tuple(face for die, face in enumerate(dice[:-1]) if mask >> die & 1)
            for thrown, chance in _thrown(kept, dice[-1] if mask >> DICE - 1 else 0).items():
                after[thrown] += odds * chance
        hands = after
    points = defaultdict[int, float](float)
    for dice, odds in hands.items():
        points[max(score(role, dice) for role in ROLES)] += odds
    return points


@cache
def _thrown(kept: Faces, bonus: int) -> dict[Faces, float]:
    """How likely seven dice show what, the ordinary ones sorted, if the others are thrown."""
    ways = Counter(tuple(sorted((*kept, *faces))) for faces in product(FACES, repeat=DICE - 1 - len(kept)))
    shown = (bonus,) if bonus else tuple(FACES)
    return {(*dice, face): count / ways.total() / len(shown) for dice, count in ways.items() for face in shown}


if __name__ == "__main__":
    best, planners = most()
    first, second = best[-1][-1], 1 - planners[-1][-1]
    print(f"in seat 0 {first:.4f}, in seat 1 {second:.4f}, on average {(first + second) / 2:.4f}")  # noqa: T201
