"""A game as an environment of Gymnasium, in which one seat learns, for trainers that know nothing of other players."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from operator import index
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from arena.games import Options
from arena.rl.environment import MODES, Environment
from arena.rl.players import Player

Seen: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"


class SingleAgent(gymnasium.Env[Seen, np.int64]):
    """Environment of one seat: the one for which `opponents` has None; the others are played within `step`.

    An observation is a flat array of numbers from 0 to 1. `action_masks`, which MaskablePPO of sb3-contrib asks for,
    says which actions are legal, and so does `info["action_mask"]`. Any other number ends the episode with the reward
    -1, as it would forfeit a match, and `info["illegal"]` is set. It is copied and pickled as `Environment` is.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012 - an attribute of objects in Gymnasium

    def __init__(
        self,
        game: str,
        opponents: Sequence[Player | None] = (None, "random"),
        *,
        options: Options | None = None,
        render_mode: str | None = None,
    ):
        self._env = Environment(game, opponents=opponents, options=options, render_mode=render_mode)
        if len(self._env.possible_agents) > 1:
            several = ", ".join(self._env.possible_agents)
            self._env.close()
            raise ValueError(f"one seat learns, not {several}: put a player in place of every other None")
        (self._agent,) = self._env.possible_agents
        self._over = True
        self.render_mode = render_mode
        space = self._env.observation_space(self._agent)["observation"]
        assert isinstance(space, spaces.Box)
        self.observation_space = space
        self.action_space = self._env.action_space(self._agent)

    def __copy__(self) -> SingleAgent:
        return deepcopy(self)  # as that of Environment

    @property
    def position(self) -> Any:
        """State of the game, as in `arena.games`, from which a learner can search."""
        return self._env.position

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin a match and play it to the first decision of the learner.

        A seed determines this match and all matches after it, the luck of opponents included. Gymnasium's `options` are
        ignored.
        """
        super().reset(seed=seed, options=options)
        self._over = True  # until a match has begun: an opponent may raise something
        # What the learner draws from `np_random` changes no die of later matches.
        self._env.reset(seed=seed)
        self._over = False
        return self._view()

    def step(self, action: np.int64 | int) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Choose an action, and play on to the learner's next decision or to the end of the match.

        Raises gymnasium.error.ResetNeeded after the end.
        """
        if self._over:
            raise ResetNeeded("the episode is over, or none was begun: call reset()")
        number, mask = index(action), self.action_masks()
        self._over = True  # also if an opponent raises something
        if not (0 <= number < len(mask) and mask[number]):
            view, info = self._view()
            return view, -1.0, True, False, {**info, "illegal": True}
        self._env.step(number)
        self._over = self._env.terminations[self._agent]
        view, info = self._view()
        return view, self._env.rewards[self._agent], self._over, False, info

    def action_masks(self) -> Mask:
        """Return for every action whether it is legal now."""
        return self._env.action_mask(self._agent).astype(bool)

    def render(self) -> str | None:
        """Return the position as text if `render_mode` is `ansi`; print it if the mode is `human`."""
        return self._env.render()

    def close(self) -> None:
        """End the processes of opponents."""
        self._env.close()

    def _view(self) -> tuple[Seen, dict[str, Any]]:
        observed = self._env.observe(self._agent)
        return observed["observation"], {"action_mask": observed["action_mask"]}
