"""The games as environments of PettingZoo, for learners (`pip install 'arena[rl]'`).

    from arena.rl import Environment

    env = Environment("buttons", seats=2)

An observation is the array that `arena.games.observation` computes from the position, with a mask of the legal actions.
The referee is not involved: there are no clocks, no processes and no forfeits. docs/learning.md explains how to turn
what was learnt into a bot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(f"arena.rl needs PettingZoo ({error}): pip install 'arena[rl]'") from error

from arena import games
from arena.games import KeyedDice, Options, Seat
from arena.games.observation import observation

Agent: TypeAlias = str
Observed: TypeAlias = dict[str, np.ndarray[Any, Any]]


class Environment(AECEnv):
    """Environment that plays matches of one game, one decision after another; seat 0 is agent `seat_0`, and so on.

    Seats that decide at the same time are asked in seat order, and none sees the choices of the others before all have
    chosen. When the match is over, the reward of a seat is the share of the other seats that it beat, minus the share
    that beat it; before that all rewards are 0.
    """

    def __init__(self, game: str, seats: int = 2, *, options: Options | None = None, render_mode: str | None = None):
        self.game = games.game(game)
        if seats not in self.game.seats:
            allowed = f"{self.game.seats[0]} … {self.game.seats[-1]}"
            raise ValueError(f"{game} cannot be played by {seats}: players are {allowed}")
        name = f"{game}_v{self.game.rules_version}"
        self.metadata = {"name": name, "render_modes": ["ansi", "human"], "is_parallelizable": False}
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self._options = self.game.options(options or {})
        self._luck = np.random.default_rng()
        self._begin()
        self._action = spaces.Discrete(self.game.actions)
        self._observed = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (len(observation(game, self.position, 0)),), np.float32),
                "action_mask": spaces.Box(0, 1, (self.game.actions,), np.int8),
            }
        )

    def observation_space(self, agent: Agent) -> spaces.Dict:  # noqa: ARG002
        """Return the space of observations, the same for all agents: a dict of `observation` and `action_mask`."""
        return self._observed

    def action_space(self, agent: Agent) -> spaces.Discrete:  # noqa: ARG002
        """Return the space of actions, the same for all agents: all actions of the game."""
        return self._action

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Begin a match. A seed determines this match and all matches after it.

        PettingZoo's `options` are ignored: the options of a game are given when the environment is made.
        """
        if seed is not None:
            self._luck = np.random.default_rng(seed)
        self._begin()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[Agent, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._ask()

    def observe(self, agent: Agent) -> Observed:
        """Return what an agent sees, with the mask of its legal actions: all 0 unless the agent has to decide."""
        seat = self._seat(agent)
        mask = np.zeros(self.game.actions, np.int8)
        if seat not in self._decisions:
            mask[list(self._pending.get(seat, ()))] = 1
        return {
            "observation": np.array(observation(self.game.name, self.position, seat), np.float32),
            "action_mask": mask,
        }

    def step(self, action: int | None) -> None:
        """Choose an action for the agent in `agent_selection`. Raises ValueError if it is not legal.

        When the match is over, the action must be None, as PettingZoo demands.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        seat = self._seat(agent)
        if action is None or action not in self._pending[seat]:
            raise ValueError(f"{agent} chose {action}, legal: {', '.join(map(str, self._pending[seat]))}")
        self._cumulative_rewards[agent] = 0.0
        self._decisions[seat] = int(action)
        if len(self._decisions) == len(self._pending):
            self._move()
        self._ask()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the position as text if `render_mode` is `ansi`; print it if the mode is `human`."""
        picture = self.game.picture(self.position)
        if self.render_mode == "human":
            print(picture, end="\n\n")  # noqa: T201 - mode `human` means printing
        return picture if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing, since an environment holds nothing open."""

    def _begin(self) -> None:
        self._dice = KeyedDice(self._luck.bytes(32))
        self.position: Any = self.game.start(len(self.possible_agents), self._dice, self._options)
        """State of the game, as in `arena.games`, from which a learner can search."""
        self._pending = self.game.pending(self.position)
        self._decisions: dict[Seat, int] = {}

    def _move(self) -> None:
        self.position = self.game.apply(self.position, self._decisions, self._dice)
        self._pending, self._decisions = self.game.pending(self.position), {}
        if not self._pending:
            self.rewards = dict(zip(self.possible_agents, rewards(self.game.ranks(self.position)), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)

    def _ask(self) -> None:
        """Set `agent_selection` to the agent that has to decide next, or to the first agent when the match is over."""
        owing = [seat for seat in sorted(self._pending) if seat not in self._decisions]
        self.agent_selection = self.possible_agents[owing[0] if owing else 0]

    def _seat(self, agent: Agent) -> Seat:
        return self.possible_agents.index(agent)


def rewards(ranks: tuple[int, ...]) -> list[float]:
    """Return the reward of each seat: the share of the other seats that it beat, minus the share that beat it.

    The rewards add up to 0.
    """
    others = len(ranks) - 1
    return [sum((other > own) - (other < own) for other in ranks) / others for own in ranks]
