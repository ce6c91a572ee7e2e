"""The ways to play Buttons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TypeAlias

from arena.games.buttons import State

from .actuary import actuary
from .simple import cautious, greedy, planner

Strategy: TypeAlias = Callable[[State, int, Sequence[int], Random], int]

STRATEGIES: Mapping[str, Strategy] = {"cautious": cautious, "greedy": greedy, "planner": planner, "actuary": actuary}
