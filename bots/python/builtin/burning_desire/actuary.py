"""Plays Burning Desire for the chance to win the match, not for points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from random import Random
from typing import NamedTuple

from arena.games import burning_desire as rules
from arena.games.burning_desire import Phase, Stage, State, may_multiply, tiebreak_order
from arena.games.burning_desire_dice import ROLES, score

from .chances import chances, gambling
from .turn import Values, Worth, keep, plan

PLACE = 1e-7
"""What a point is worth beside winning: a match that is lost, or won, is still played for the better total."""


def actuary(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Keeps, chooses and multiplies what makes winning most likely, each turn by dynamic programming."""
    turn = _turn(_table(state))
    if state.phase is Phase.ROLL:
        return keep(state.dice, turn.keeps[state.rolls - 1])
    if state.phase is Phase.ROLE:
        points = [turn.worth(score(role, state.dice)) for role in ROLES]
        return rules.FIRST_ROLE + points.index(max(points))
    return rules.MULTIPLY if turn.worth(state.score) > turn.banked(state.score) else rules.BANK


class Turn(NamedTuple):
    """What points are worth in a turn, and what is worth keeping after each roll but the last."""

    banked: Worth
    worth: Worth
    keeps: tuple[Values, Values]
    """After the first roll, after the second."""


def _table(state: State) -> State:
    """What is the same for the whole turn."""
    return state._replace(turns=(), phase=Phase.ROLL, dice=(), rolls=0, score=0, multiplications=0)


@lru_cache(maxsize=1 << 10)  # a turn of each match in flight, of 768 at most, and some that come again
def _turn(table: State) -> Turn:
    def banked(points: int) -> float:
        return wins(table, points) + PLACE * points

    gamble = gambling(banked)

    def worth(points: int) -> float:
        total = table.totals[table.current]
        return gamble(points) if may_multiply(table.stage, total, points, table.goal) else banked(points)

    return Turn(banked, worth, plan(worth))


def wins(table: State, points: int) -> float:
    """The chance of the current seat to win if it ends its turn with these points. Exact for two players."""
    seat, own = table.current, table.totals[table.current] + points
    if table.stage is Stage.NORMAL and own < table.goal:
        return _race(table, own)
    others = [other for other in range(len(table.totals)) if other != seat]
    waiting = others if table.stage is Stage.NORMAL else table.queue[1:]
    stays = prod(1 - chances().passes(own - table.totals[other]) for other in waiting)
    ahead = [other for other in others if other not in waiting and table.totals[other] >= own]
    if any(table.totals[other] > own for other in ahead):
        return 0.0
    return stays * (_tied(table, (seat, *ahead)) if ahead else 1.0)


def _race(table: State, own: int) -> float:
    """The odds against each of the others, as if there were only two, add up to those against all."""
    against = 0.0
    for other, total in enumerate(table.totals):
        if other != table.current:
            loses = min(chances().wins(table.goal - total, table.goal - own), 1 - 1e-6)
            against += loses / (1 - loses)
    return 1 / (1 + against)


def _tied(table: State, seats: Sequence[int]) -> float:
    """The chance in a tie-break; whoever sees what the others have made is better off."""
    if len(seats) > 2:
        return 1 / len(seats)
    assert table.trigger is not None
    first, _ = tiebreak_order(len(table.totals), table.trigger, seats)
    begins = chances().begins()
    return begins if first == table.current else 1 - begins
