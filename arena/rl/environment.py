"""The games as environments of PettingZoo.

An observation is the array that `arena.games.observation` computes from the position, with a mask of the legal actions.
The referee is not involved: there are no clocks and no forfeits.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv

from arena import games
from arena.games import KeyedDice, Options, Seat
from arena.games.observation import observation
from arena.games.rules import Game
from arena.referee.match import Asked, MatchOutcome
from arena.replay.questions import Setup
from arena.rl.other_players import Opponent
from arena.rl.players import Player, opponent

Agent: TypeAlias = str
Observed: TypeAlias = dict[str, np.ndarray[Any, Any]]


MODES = ("ansi", "human")
"""What `render` can do, beside nothing at all."""


class Environment(AECEnv):
    """Environment that plays matches of one game, one decision after another; seat 0 is agent `seat_0`, and so on.

    `opponents` has for each seat who plays it: a bot by its name or path, a function of a turn, a class derived from
    `arena_bot.Bot`, or None if it is an agent. Without them every seat is one. Agents are asked in seat order if they
    decide at the same time, and nobody sees the choices of the others before all have chosen. When the match is over,
    the reward of a seat is the share of the other seats that it beat, minus the share that beat it; before that all
    rewards are 0.

    An environment can be copied and pickled, and the copy goes on exactly as the original does. One with a program as
    opponent cannot: TypeError.
    """

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        *,
        opponents: Sequence[Player | None] | None = None,
        options: Options | None = None,
        render_mode: str | None = None,
    ):
        self._opponents: dict[Seat, Opponent] = {}
        self._met = False
        self._whole = False  # whether the last reset or step came to its end
        self.game = games.game(game)
        seats = _seats(self.game, seats, opponents)
        if render_mode not in {None, *MODES}:
            raise ValueError(f"unknown render_mode {render_mode!r}: modes are None, {', '.join(map(repr, MODES))}")
        name = f"{game}_v{self.game.rules_version}"
        self.metadata = {"name": name, "render_modes": list(MODES), "is_parallelizable": False}
        self.render_mode = render_mode
        self._count = seats
        players = [None] * seats if opponents is None else opponents
        self._names = {seat: f"seat_{seat}" for seat, player in enumerate(players) if player is None}
        self._seats = {name: seat for seat, name in self._names.items()}
        self.possible_agents = list(self._seats)
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
        try:
            for seat, player in enumerate(players):
                if player is not None:
                    self._opponents[seat] = opponent(self.game, player)
        except BaseException:  # as by Ctrl-C: a process that was started would stay
            self.close()
            raise
        self._updated = [rival for rival in self._opponents.values() if rival.updates]

    def __copy__(self) -> Environment:
        return deepcopy(self)  # two environments that share their dice would each change what the other throws

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
        self._whole = False
        self._begin()
        self._meet()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[Agent, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        if self._opponents:
            self._play_others()
        self._ask()
        self._whole = True

    def observe(self, agent: Agent) -> Observed:
        """Return what an agent sees, with the mask of its legal actions: all 0 unless the agent has to decide."""
        row = observation(self.game.name, self.position, self._seats[agent])
        return {"observation": np.array(row, np.float32), "action_mask": self.action_mask(agent)}

    def action_mask(self, agent: Agent) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return the mask of an agent's legal actions alone, which takes less time than `observe`."""
        seat = self._seats[agent]
        mask = np.zeros(self.game.actions, np.int8)
        if seat not in self._decisions:
            mask[list(self._pending.get(seat, ()))] = 1
        return mask

    def step(self, action: int | None) -> None:
        """Choose an action for the agent in `agent_selection`. Raises ValueError if it is not legal.

        When the match is over, the action must be None, as PettingZoo demands. What an opponent raises breaks the match
        off: from then on gymnasium.error.ResetNeeded is raised.
        """
        if not self._whole:
            raise ResetNeeded("the match was broken off, or none was begun: call reset()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        seat = self._seats[agent]
        if action is None or action not in self._pending[seat]:
            raise ValueError(f"{agent} chose {action}, legal: {', '.join(map(str, self._pending[seat]))}")
        self._whole = False
        self._cumulative_rewards[agent] = 0.0
        self._decisions[seat] = int(action)
        if len(self._decisions) == len(self._pending):
            self._move()
            if self._opponents:
                self._play_others()
        self._ask()
        self._accumulate_rewards()
        self._whole = True
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the position as text if `render_mode` is `ansi`; print it if the mode is `human`."""
        picture = self.game.picture(self.position)
        if self.render_mode == "human":
            print(picture, end="\n\n")  # noqa: T201 - mode `human` means printing
        return picture if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the processes of opponents; those that are functions hold nothing open."""
        try:
            self._part(None)
        finally:
            for player in self._opponents.values():
                player.close()

    def _begin(self) -> None:
        """Set up a match before its first decision."""
        self._seed = self._luck.bytes(32)
        self._dice = KeyedDice(self._seed)
        self.position: Any = self.game.start(self._count, self._dice, self._options)
        """State of the game, as in `arena.games`, from which a learner can search."""
        self._pending = self.game.pending(self.position)
        self._decisions: dict[Seat, int] = {}

    def _move(self) -> None:
        decisions = self._decisions
        self.position = self.game.apply(self.position, decisions, self._dice)
        self._pending, self._decisions = self.game.pending(self.position), {}
        for player in self._updated:
            player.update(sorted(decisions.items()), self.position)
        if not self._pending:
            ranks = self.game.ranks(self.position)
            rewarded = rewards(ranks)
            self.rewards = {agent: rewarded[seat] for agent, seat in self._seats.items()}
            self.terminations = dict.fromkeys(self.agents, True)
            self._part(MatchOutcome(tuple(ranks), tuple(self.game.scores(self.position))))

    def _ask(self) -> None:
        """Set `agent_selection` to the agent that has to decide next, or to the first agent when the match is over."""
        owing = [seat for seat in sorted(self._pending) if seat not in self._decisions]
        self.agent_selection = self._names[owing[0]] if owing else self.possible_agents[0]

    # Opponents

    def _meet(self) -> None:
        """Seat the opponents at a new match."""
        self._part(None)
        setup = Setup(self.game.name, self._count, self._options, self._seed)
        self._decision_count = 0
        for seat, player in self._opponents.items():
            player.start(setup, seat)
        self._met = bool(self._opponents)

    def _part(self, outcome: MatchOutcome | None) -> None:
        """Tell the opponents that the match is over, if they play one."""
        if self._met:
            self._met = False
            for player in self._opponents.values():
                player.end(outcome)

    def _play_others(self) -> None:
        """Let opponents choose until an agent has to, or the match is over."""
        while self._pending:
            for seat, legal in self._pending.items():
                self._decision_count += 1
                if seat in self._opponents:
                    decision = Asked(seat, self._decision_count, legal)
                    self._decisions[seat] = self._opponents[seat].choose(decision, self.position)
            if len(self._decisions) < len(self._pending):
                return
            self._move()


def _seats(game: Game[Any], seats: int | None, opponents: Sequence[Player | None] | None) -> int:
    """Return how many seats there are, by default two. Raises ValueError."""
    if isinstance(opponents, str):
        raise ValueError(f"opponents is a list with a player, or None, for every seat, such as [{opponents!r}, None]")
    if opponents is not None:
        if seats not in {None, len(opponents)}:
            raise ValueError(f"{len(opponents)} opponents, None included, do not fill {seats} seats")
        if None not in opponents:
            raise ValueError("all seats have a player: put None where the learner sits")
        seats = len(opponents)
    seats = 2 if seats is None else seats
    if seats not in game.seats:
        raise ValueError(f"{game.name} cannot be played by {seats}: players are {game.seats[0]} … {game.seats[-1]}")
    return seats


def rewards(ranks: tuple[int, ...]) -> list[float]:
    """Return the reward of each seat: the share of the other seats that it beat, minus the share that beat it.

    The rewards add up to 0.
    """
    rivals = len(ranks) - 1
    return [sum((rival > rank) - (rival < rank) for rival in ranks) / rivals for rank in ranks]
