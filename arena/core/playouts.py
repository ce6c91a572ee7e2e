"""Matches played out from a position, for those who search: what may come of it if all seats play by a simple policy.

    from arena.games import game
    from arena.core.playouts import playouts

    ends = playouts(game("buttons"), state, 1000, seed=7, policy="greedy")

Where the compiled core is, it plays them, forty times as fast and more; the results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, get_args

from arena.core.compilation import core
from arena.core.core_games import compiled
from arena.games.dice import FastDice
from arena.games.rules import Game, Seat

if TYPE_CHECKING:
    from arena.core import _core

PolicyName: TypeAlias = Literal["random", "greedy"]


class End(NamedTuple):
    """How a playout ended, by seat: ranks, 0 is best, and scores; and how many decisions were made in it."""

    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    decisions: int


class Policy(NamedTuple):
    """How seats choose: greedily or at random, and of greedy choices how many in 2^32 are random all the same."""

    is_greedy: bool
    careless: int


def playouts(
    game: Game[Any],
    state: Any,
    count: int,
    *,
    seed: SupportsIndex,
    first: Mapping[Seat, int] | None = None,
    policy: PolicyName = "random",
    careless: float = 0.1,
) -> list[End]:
    """Play a match out from a state so many times, with other dice each time, and return how each playout ended.

    `first` has actions for the first step, by seat; all other choices follow the policy. With "random" every legal
    action is as likely as the others; "greedy" is described in `arena.games.greedy`, and a share `careless` of its
    choices is made at random. `seed`, of 64 bits, decides all of it. Raises TypeError for a `first` that is no mapping,
    and ValueError for an action that is not legal, for a policy that the game does not have, for a share beyond 0 … 1
    and for a negative count.
    """
    if first is not None and not isinstance(first, Mapping):
        raise TypeError(f"first has actions by seat, as in {{0: 3}}, and is not {first!r}")
    if count < 0:
        raise ValueError(f"count is a number of playouts, not {count}")
    begun, by, whole = dict(first or {}), policy_of(policy, careless), index(seed)
    _check(game, state, begun)
    ends = _by_core(game, state, count, whole, begun, by)
    return _by_python(game, state, count, whole, begun, by) if ends is None else ends


def policy_of(name: str, careless: float) -> Policy:
    """Return the policy of a name; a share `careless` of its choices is random. Raises ValueError."""
    if name not in get_args(PolicyName):
        raise ValueError(f"{name!r} is no policy: {', '.join(get_args(PolicyName))}")
    if not 0 <= careless <= 1:
        raise ValueError(f"careless is a share from 0 to 1, not {careless}")
    return Policy(name == "greedy", int(careless * 2**32))


def _check(game: Game[Any], state: Any, first: Mapping[Seat, int]) -> None:
    pending = game.pending(state)
    for seat, legal in pending.items():
        if not legal:
            raise ValueError(f"no match of {game.name} reaches this state: seat {seat} has nothing to choose")
    for seat, action in first.items():
        if action not in pending.get(seat, ()):
            raise ValueError(f"seat {seat} cannot choose {action!r} in this state")


def _by_core(
    game: Game[Any], state: Any, count: int, seed: int, first: Mapping[Seat, int], policy: Policy
) -> list[End] | None:
    """Return what the core has played; None if there is none, if it does not have the game or so large numbers."""
    module, rules = core(), _compiled(game, state)
    if module is None or rules is None:
        return None
    try:
        position = rules.read(game.wire_view(state, None))
    except ValueError:  # a number of 64 bits or more; Python has no largest one
        return None
    ends = module.playouts(rules, position, count, seed % 2**64, *policy, first)
    return None if ends is None else [End(*end) for end in ends]


def _compiled(game: Game[Any], state: Any) -> _core.Game | None:
    """Return the compiled rules by which the match of a state goes on; None if there are none."""
    usual = game.options({})
    # The view shows all of a state but for numbers that stay the same in a match, such as the most rounds of Buttons.
    own_options = {name: getattr(state, name) for name in usual if isinstance(getattr(state, name, None), int)}
    try:
        return compiled(game, {**usual, **own_options})
    except OverflowError:  # in the options of a state that no match has
        return None


def _by_python(
    game: Game[Any], state: Any, count: int, seed: int, first: Mapping[Seat, int], policy: Policy
) -> list[End]:
    seeds = FastDice(seed)
    return [_played_out(game, state, FastDice(seeds.next()), first, policy) for _ in range(count)]


def _played_out(game: Game[Any], state: Any, luck: FastDice, first: Mapping[Seat, int], policy: Policy) -> End:
    decisions = 0
    while pending := game.pending(state):
        decisions += len(pending)
        chosen = {
            seat: first[seat] if seat in first else choose(game, state, seat, pending[seat], luck, policy)
            for seat in sorted(pending)
        }
        state, first = game.apply(state, chosen, luck), {}
    return End(tuple(game.ranks(state)), tuple(game.scores(state)), decisions)


def choose(game: Game[Any], state: Any, seat: Seat, legal: Sequence[int], luck: FastDice, policy: Policy) -> int:
    """Return what a policy chooses. Nothing is drawn where only one action is legal. Raises ValueError."""
    if len(legal) == 1:
        return legal[0]
    if policy.is_greedy and not (policy.careless and luck.next() >> 32 < policy.careless):
        from arena.games.greedy import GREEDY

        if game.name not in GREEDY:
            raise ValueError(f"{game.name} has no greedy policy")
        return GREEDY[game.name](state, seat, legal)
    return legal[luck.below(len(legal))]
