"""The games for learners: as environments of PettingZoo and Gymnasium, and matches in a notebook.

    from arena.rl import Environment

    env = Environment("buttons", opponents=["planner", None])

It needs the packages of the extra `rl`; nothing else in the arena does. docs/learning.md explains how to turn what was
learnt into a bot.
"""

from arena.base.suggest import to_install

try:
    import gymnasium  # noqa: F401 - only to tell whether it is there
    import numpy  # noqa: F401 - only to tell whether it is there
    import pettingzoo  # noqa: F401 - only to tell whether it is there
except ImportError as error:
    install = to_install("rl", "pettingzoo gymnasium numpy")
    raise ImportError(f"arena.rl needs packages that are not there ({error}): {install}") from error

from arena.rl.environment import Environment, rewards
from arena.rl.notebook import Matches, Replay, matches
from arena.rl.other_players import BadOpponent
from arena.rl.single_agent import SingleAgent
from arena.rl.vector import VectorEnvironment

__all__ = ["BadOpponent", "Environment", "Matches", "Replay", "SingleAgent", "VectorEnvironment", "matches", "rewards"]
