"""Many matches at once, for trainers that take observations by the thousand: Gymnasium's vector interface."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv

from arena import games
from arena.core.compilation import core
from arena.core.core_games import compiled
from arena.core.playouts import Policy, choose, policy_of
from arena.games import Options, Seat
from arena.games.dice import FastDice
from arena.games.observation import observation
from arena.games.rules import Game
from arena.referee import frames
from arena.rl.environment import rewards
from arena.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from arena.core import _core

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Kept: TypeAlias = tuple[Any, int, int, bool]
"""A match as it is kept: its state, those of its dice and of the seeds of the next matches, and whether it is over."""


class _Arrays(NamedTuple):
    """What a step fills in: an observation, a mask of legal actions, a reward and whether it is over, by match."""

    rows: Array
    masks: Array
    rewards: Array
    over: Array


class _Played(NamedTuple):
    """What is played."""

    game: str
    matches: int
    policies: tuple[Policy | None, ...]
    options: Options


class _Batch(Protocol):
    """The matches, in the core or in Python."""

    def reset(self, seed: int, rows: Array, masks: Array, /) -> None:
        """Begin all matches."""

    def step(self, actions: Array, rows: Array, masks: Array, rewards: Array, over: Array, /) -> None:
        """Take an action in every match; one that was over begins anew instead."""

    def places(self) -> list[Kept]:
        """Return all that decides how the matches go on; nothing if they have not begun."""

    def restore(self, places: list[Kept], /) -> None:
        """Go on as the matches of which `places` was told, if there are any."""


class VectorEnvironment(VectorEnv[Array, Array, Array]):
    """Environment of `count` matches of one game, in each of which the same seat learns.

    `opponents` has for each seat a policy of `arena.core.playouts`, "random" or "greedy", and None for the one that
    learns; a share `careless` of greedy choices is random. Observations, masks (`info["action_mask"]`) and rewards are
    those of `SingleAgent`, and an action that is not legal ends a match with −1, too; `info["illegal"]` says in which
    matches that happened. After its end a match begins anew at the next step, whose action for it does not count.
    Arrays are filled in again two steps later: copy what you keep for longer. Where the compiled core is, it plays;
    without it everything is the same, and slower. A copy, and what was pickled, goes on exactly as the original does,
    also where the core is at one end only.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - an attribute of objects in Gymnasium

    def __init__(
        self,
        game: str,
        count: int,
        opponents: Sequence[str | None] = (None, "random"),
        *,
        careless: float = 0.1,
        options: Options | None = None,
    ):
        rules = games.game(game)
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"count is the number of matches, at least 1, not {count!r}")
        if isinstance(opponents, str) or not isinstance(opponents, Sequence) or len(opponents) not in rules.seats:
            needed = f"a list for {rules.seats[0]} … {rules.seats[-1]} seats"
            raise ValueError(f"{game} needs {needed}, each a policy or None for the one that learns: {opponents!r}")
        if list(opponents).count(None) != 1:
            raise ValueError("one seat learns: put None there, and a policy in place of every other None")
        policies = tuple([None if player is None else policy_of(player, careless) for player in opponents])
        whole = rules.options(options or {})
        row = len(observation(game, rules.start(len(opponents), FastDice(0), whole), 0))
        self.num_envs = count
        self.single_observation_space = spaces.Box(0, 1, (row,), np.float32)
        self.single_action_space = spaces.Discrete(rules.actions)
        self.observation_space = spaces.Box(0, 1, (count, row), np.float32)
        self.action_space = spaces.MultiDiscrete([rules.actions] * count)
        self._setting = _Played(game, count, policies, whole)
        self._batch = _batch(self._setting)
        self._arrays, self._next = [_arrays(count, row, rules.actions) for _ in range(2)]
        self._cut = np.zeros(count, np.bool_)
        self._cut.flags.writeable = False  # it is the same in every step
        self._places = np.arange(count)
        self._begun = False

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_batch": self._batch.places()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._cut.flags.writeable = False  # a copy of an array forgets it
        self._batch = _batch(self._setting)
        self._batch.restore(state["_batch"])

    def __copy__(self) -> VectorEnvironment:
        return deepcopy(self)  # two that share their matches would each move those of the other

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin all matches. A seed determines these and all later ones; Gymnasium's `options` are ignored."""
        super().reset(seed=seed, options=options)
        rows, masks, _, over = self._turned()
        self._batch.reset(int(self.np_random.integers(2**63)), rows, masks)
        over[:] = False
        self._begun = True
        return rows, {"action_mask": masks, "illegal": over.copy()}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Take an action in every match, and play on to the learner's next decision or the end.

        Raises gymnasium.error.ResetNeeded before the first `reset`, and ValueError for anything but one integer for
        each match.
        """
        if not self._begun:
            raise ResetNeeded("no matches were begun: call reset()")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or not np.issubdtype(chosen.dtype, np.integer):
            fault = f"not an array of shape {chosen.shape} of {chosen.dtype}"
            raise ValueError(f"actions is an array of shape ({self.num_envs},) of integers, one a match, {fault}")
        illegal = self._illegal(chosen)
        rows, masks, rewarded, over = arrays = self._turned()
        self._batch.step(np.ascontiguousarray(chosen, np.int64), *arrays)
        return rows, rewarded, over, self._cut, {"action_mask": masks, "illegal": illegal}

    def _illegal(self, actions: Array) -> Array:
        """Return for each match whether its action is not legal now; none is in one that begins anew."""
        masks, over = self._arrays.masks, self._arrays.over
        exists = (actions >= 0) & (actions < masks.shape[1])
        legal: Array = exists & (masks[self._places, np.where(exists, actions, 0)] == 1)
        return ~(over | legal)

    def _turned(self) -> _Arrays:
        """Return the arrays that were used before the last ones."""
        self._arrays, self._next = self._next, self._arrays
        return self._arrays


def _arrays(count: int, row: int, actions: int) -> _Arrays:
    return _Arrays(
        np.zeros((count, row), np.float32),
        np.zeros((count, actions), np.int8),
        np.zeros(count),
        np.zeros(count, np.bool_),
    )


def _batch(setting: _Played) -> _Batch:
    rules = games.game(setting.game)
    module, fast = core(), compiled(rules, setting.options)
    if module is None or fast is None:
        return _InPython(rules, setting.matches, setting.policies, setting.options)
    return _InCore(rules, setting.options, fast, module.Batch(fast, setting.matches, setting.policies))


class _InCore:
    """The matches in the core, which knows positions by their views."""

    def __init__(self, game: Game[Any], options: Options, fast: _core.Game, batch: _core.Batch) -> None:
        self._game, self._options, self._fast, self._batch = game, options, fast, batch
        self.reset, self.step = batch.reset, batch.step

    def _state(self, view: bytes) -> Any:
        field = self._game.view_field
        decision = pb.Decision.FromString(frames.view(field, view))
        return self._game.from_view(getattr(decision, field), self._options)

    def places(self) -> list[Kept]:
        return [(self._state(view), luck, seeds, over) for view, luck, seeds, over in self._batch.places()]

    def restore(self, places: list[Kept]) -> None:
        wire = self._game.wire_view
        self._batch.restore(
            [(self._fast.read(wire(state, None)), luck, seeds, over) for state, luck, seeds, over in places]
        )


class _InPython:
    """The matches without the core."""

    def __init__(self, game: Game[Any], count: int, policies: Sequence[Policy | None], options: Options) -> None:
        self._places = [_Place(game, policies, options) for _ in range(count)]
        self._begun = False

    def places(self) -> list[Kept]:
        return [place.snapshot() for place in self._places] if self._begun else []

    def restore(self, places: list[Kept]) -> None:
        for place, snapshot in zip(self._places, places, strict=False):
            place.go_on(snapshot)
        self._begun = bool(places)

    def reset(self, seed: int, rows: Array, masks: Array) -> None:
        self._begun, seeds = True, FastDice(seed)
        for place, row, mask in zip(self._places, rows, masks, strict=True):
            place.seeds = FastDice(seeds.next())
            place.begin()
            place.show(row, mask)

    def step(self, actions: Array, rows: Array, masks: Array, rewards: Array, over: Array) -> None:
        for number, (place, action) in enumerate(zip(self._places, actions.tolist(), strict=True)):
            rewards[number] = place.step(action)
            over[number] = place.is_over
            place.show(rows[number], masks[number])


class _Place:
    """Matches that follow each other, as one of a batch."""

    seeds: FastDice

    def __init__(self, game: Game[Any], policies: Sequence[Policy | None], options: Options) -> None:
        self._game, self._policies, self._options = game, policies, options
        self._learner: Seat = policies.index(None)
        self.is_over = False

    def begin(self) -> None:
        """Begin the next match, and play it to the learner's first decision."""
        self._luck = FastDice(self.seeds.next())
        self._state = self._game.start(len(self._policies), self._luck, self._options)
        self._others_play()

    def step(self, action: int) -> float:
        """Take an action, unless the match is over, and return the reward."""
        if self.is_over:
            self.begin()
            return 0.0
        pending = self._game.pending(self._state)
        if action not in pending[self._learner]:
            self.is_over = True
            return -1.0
        self._apply({seat: action if seat == self._learner else None for seat in pending})
        self._others_play()
        return rewards(self._game.ranks(self._state))[self._learner] if self.is_over else 0.0

    def snapshot(self) -> Kept:
        """Return all that decides how the matches go on."""
        return self._state, self._luck.state, self.seeds.state, self.is_over

    def go_on(self, snapshot: Kept) -> None:
        """Go on as the place that told this."""
        self._state, luck, seeds, self.is_over = snapshot
        self._luck, self.seeds = FastDice(luck), FastDice(seeds)

    def show(self, row: Array, mask: Array) -> None:
        """Fill in what the learner sees, and its legal actions."""
        row[:] = observation(self._game.name, self._state, self._learner)
        mask[:] = 0
        if not self.is_over:
            mask[list(self._game.pending(self._state)[self._learner])] = 1

    def _others_play(self) -> None:
        while (pending := self._game.pending(self._state)) and self._learner not in pending:
            self._apply(dict.fromkeys(pending))
        self.is_over = not pending

    def _apply(self, actions: dict[Seat, int | None]) -> None:
        """Apply these actions; where there is none, the seat's policy chooses."""
        pending, chosen = self._game.pending(self._state), {}
        for seat in sorted(pending):
            policy, action = self._policies[seat], actions[seat]
            if action is None:
                assert policy is not None, "the learner's action is given"
                action = choose(self._game, self._state, seat, pending[seat], self._luck, policy)
            chosen[seat] = action
        self._state = self._game.apply(self._state, chosen, self._luck)
