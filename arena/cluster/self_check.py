"""What a host computes must be what the coordinator computes: a digest over dice, matches and Python's own numbers."""

from __future__ import annotations

import math
import platform
import random
import sys
from functools import cache
from hashlib import sha256
from typing import Any

from arena import games
from arena.cluster.messages import Versions
from arena.games.rules import Game
from arena.referee.frames import PROTOCOL

_MATCHES = 3
"""Number of matches that are played of each game, for each number of players; about any number would do."""


@cache
def package_versions() -> Versions:
    """Return what must be the same on all hosts, as it is here."""
    rules = [games.game(name) for name in sorted(games.names())]
    return Versions(
        {game.name: game.rules_version for game in rules},
        PROTOCOL,
        platform.machine(),
        f"{sys.version_info.major}.{sys.version_info.minor}",
        self_check_results(rules),
    )


def self_check_results(rules: list[Game[Any]]) -> str:
    """Return a digest over matches that a seed decides, and over numbers that bots may use."""
    total = sha256()
    for game in rules:
        for seats in game.seats:
            for number in range(_MATCHES):
                total.update(
                    repr(_match(game, seats, sha256(f"{game.name}/{seats}/{number}".encode()).digest())).encode()
                )
    luck = random.Random(7)
    numbers = [luck.random(), luck.gauss(0, 1), luck.sample(range(100), 5), luck.choices("abc", (1, 2, 3), k=5)]
    numbers += [math.exp(0.1), math.log(3), math.sin(1.0), math.pow(1.1, 10), sum([0.1] * 10), 7 % -3, round(2.5)]
    total.update(repr(numbers).encode())
    return total.hexdigest()


def _match(game: Game[Any], seats: int, seed: bytes) -> tuple[object, ...]:
    """Play a match with choices that follow from the seed; return everything that is decided."""
    luck, dice, options = random.Random(seed), games.KeyedDice(seed), game.options({})
    state = game.start(seats, dice, options)
    choices = []
    while pending := game.pending(state):
        chosen = {seat: luck.choice(list(pending[seat])) for seat in sorted(pending)}
        choices.append(tuple(chosen.items()))
        state = game.apply(state, chosen, dice)
    return game.name, seats, choices, tuple(game.ranks(state)), tuple(map(str, game.scores(state)))
