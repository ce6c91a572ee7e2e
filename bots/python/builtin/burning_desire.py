"""Four ways to play Burning Desire, from careful to reckless."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations, product
from math import exp, prod
from random import Random
from typing import TypeAlias

from arena.games import burning_desire as rules
from arena.games.burning_desire import Phase, Stage, State
from arena.games.burning_desire_dice import ROLES, best_role, score

Strategy: TypeAlias = Callable[[State, int, Sequence[int], Random], int]
Kept: TypeAlias = tuple[int, ...]
"""Faces of the ordinary dice kept, sorted."""

FACES = range(1, 7)
FACTORS = {0: 24 / 36, 2: 6 / 36, 3: 3 / 36, 4: 2 / 36, 6: 1 / 36}
"""How likely it is that the multiplier dice multiply by a number."""
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
        return _mask(state.dice, *_best_keep(tuple(sorted(state.dice[:-1])), state.dice[-1]))
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


STRATEGIES: Mapping[str, Strategy] = {
    "cautious": cautious,
    "greedy": greedy,
    "planner": planner,
    "gambler": gambler,
}


@cache
def _expected(kept: Kept, bonus: int) -> float:
    """The mean points of the best role when all other dice are thrown once; bonus 0: that die too."""
    if not bonus:
        return sum(_expected(kept, face) for face in FACES) / 6
    if len(kept) == 6:
        return max(score(role, (*kept, bonus)) for role in ROLES)
    return sum(_expected(tuple(sorted((*kept, face))), bonus) for face in FACES) / 6


@cache
def _best_keep(ordinary: Kept, bonus: int) -> tuple[Kept, int]:
    """What to keep of seven dice: faces of the ordinary ones, and the bonus die's, or 0 to throw it."""
    kept = sorted({kept for count in range(7) for kept in combinations(ordinary, count)})
    return max(product(kept, (0, bonus)), key=lambda keep: _expected(*keep))


def _mask(dice: Sequence[int], kept: Kept, bonus: int) -> int:
    """The action that keeps these faces; of equal dice the first ones."""
    missing = list(kept)
    mask = 1 << 6 if bonus else 0
    for die, face in enumerate(dice[:-1]):
        if face in missing:
            missing.remove(face)
            mask |= 1 << die
    return mask


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
