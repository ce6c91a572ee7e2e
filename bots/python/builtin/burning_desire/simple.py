"""Four ways to play Burning Desire, from careful to reckless."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp, prod
from random import Random

from arena.games import burning_desire as rules
from arena.games.burning_desire import Phase, Stage, State
from arena.games.burning_desire_dice import ROLES, best_role, score

from .turn import FACTORS, Values, keep, plan

ENOUGH = 60
"""Points with which the cautious player stops rolling."""


def cautious(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Keeps the dice of the role that is worth most and stops as soon as it has a few points.

    Never multiplies.
    """
    if state.phase is Phase.MULTIPLY:
        return rules.BANK
    best = best_role(state.dice)
    if state.phase is Phase.ROLE:
        return rules.FIRST_ROLE + best
    role = ROLES[best]
    if score(role, state.dice) >= ENOUGH:
        return rules.STOP
    return sum(1 << die for die, face in enumerate(state.dice) if face in role.faces)


def greedy(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Keeps what makes the most points on average if the next roll were the last, and takes the best role.

    Never multiplies, since that loses a little on average.
    """
    if state.phase is Phase.ROLL:
        return _keep(state.dice)
    if state.phase is Phase.ROLE:
        return rules.FIRST_ROLE + best_role(state.dice)
    return rules.BANK


def planner(state: State, seat: int, legal: Sequence[int], random: Random) -> int:
    """Rolls like greedy, but multiplies where that makes the match more likely to be won.

    It reckons how often those who still have a turn will pass it, and what a lost turn costs.
    """
    if state.phase is not Phase.MULTIPLY:
        return greedy(state, seat, legal, random)
    gambled = _gambled(state, state.score, gambles=2)
    return rules.MULTIPLY if gambled > _banked(state, state.score) else rules.BANK


def gambler(state: State, seat: int, legal: Sequence[int], random: Random) -> int:  # noqa: ARG001
    """Keeps nothing but 1s, hoping for six of them.

    Multiplies every score below half the goal, though two gambles of three lose everything.
    """
    if state.phase is Phase.ROLL:
        return sum(1 << die for die, face in enumerate(state.dice) if face == 1)
    if state.phase is Phase.ROLE:
        return rules.FIRST_ROLE + best_role(state.dice)
    return rules.MULTIPLY if 2 * state.score < state.goal else rules.BANK


@lru_cache(maxsize=1 << 14)
def _keep(dice: tuple[int, ...]) -> int:
    return keep(dice, _before_last_roll())


@cache
def _before_last_roll() -> Values:
    return plan(float)[1]


def _gambled(state: State, points: int, gambles: int) -> float:
    """The chance to win the match if these points are multiplied, `gambles` times at most."""
    return sum(odds * _best(state, points * factor, gambles - 1) for factor, odds in FACTORS.items())


def _best(state: State, points: int, gambles: int) -> float:
    banked = _banked(state, points)
    return max(banked, _gambled(state, points, gambles)) if points and gambles else banked


def _banked(state: State, points: int) -> float:
    """Roughly the chance to win the match if the current seat ends its turn with these points."""
    seat, own = state.current, state.totals[state.current] + points
    if own < state.goal and state.stage is Stage.NORMAL:
        return _standing(state)
    others = [other for other in range(len(state.totals)) if other != seat]
    waiting = others if state.stage is Stage.NORMAL else state.queue[1:]
    leads = ((own - state.totals[other], other in waiting) for other in others)
    return prod(_stays_ahead(lead) if waits else _is_ahead(lead) for lead, waits in leads)


def _is_ahead(lead: int) -> float:
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


def _stays_ahead(lead: int) -> float:
    """The chance that one more turn of the other does not make up the lead.

    With a lead of 60 or more a good player, multiplying as long as it must, passes in about 60 / lead of its turns.
    """
    return max(0.0, 1 - 60 / lead) if lead > 0 else 0.0


def _standing(state: State) -> float:
    """The current seat's share of the chances while nobody has reached the goal; 300 made the best player."""
    weights = [exp(total / 300) for total in state.totals]
    return weights[state.current] / sum(weights)
