"""Measure what happens in one process: rules, ratings and the store, each without the others."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from arena import games
from arena.bench import scale
from arena.bench.cases import Case, playout
from arena.bench.figures import Sample, Sampler
from arena.bench.made_up import result_of_two
from arena.core.compilation import core
from arena.core.playouts import playouts
from arena.games.dice import FastDice, KeyedDice, RandomDice
from arena.tournament.match_forms import finished
from ladder import store
from ladder.trueskill_ratings import NEW, rate

if TYPE_CHECKING:
    from sqlite_utils import Database

TIMED_MATCHES = 500
"""Playouts of the core between two looks at the clock."""


@contextmanager
def rules(case: Case, seconds: float) -> Iterator[Sampler]:
    """Measure playouts with uniformly random choices, with the dice of real matches and with those of searches.

    Where the core is, also those that it plays on its own.
    """
    game, chance, numbers = games.game(case.game), Random(1), count()
    start = game.start(case.players, FastDice(1), game.options({}))
    ways: dict[str, Callable[[], Sequence[int]]] = {
        "keyed_dice": lambda: [playout(game, case.players, chance, KeyedDice(next(numbers).to_bytes(32)))],
        "random_dice": lambda: [playout(game, case.players, chance, RandomDice(chance))],
    }
    if core() is not None:
        ways["core"] = lambda: [end.decisions for end in playouts(game, start, TIMED_MATCHES, seed=next(numbers))]

    def sample() -> Sample:
        rates = {way: _rates(seconds / 2, play) for way, play in ways.items()}
        return {f"{way}_{name}": value for way, rates_of_way in rates.items() for name, value in rates_of_way.items()}

    sample()
    yield sample


def _rates(seconds: float, play: Callable[[], Sequence[int]]) -> dict[str, float]:
    """Play for so long; `play` returns the decisions of each playout."""
    matches = decisions = 0
    begun = now = time.perf_counter()
    while now < begun + seconds:
        ended = play()
        matches += len(ended)
        decisions += sum(ended)
        now = time.perf_counter()
    return {"decisions_per_s": decisions / (now - begun), "playouts_per_s": matches / (now - begun)}


@contextmanager
def ratings(players: int, seconds: float) -> Iterator[Sampler]:
    """Measure the rating of matches without ties, one after the other."""
    chance = Random(1)

    def sample() -> Sample:
        standing = (NEW,) * players
        matches = 0
        begun = now = time.perf_counter()
        while now < begun + seconds:
            standing = rate(standing, chance.sample(range(players), players), 0.0)
            matches += 1
            now = time.perf_counter()
        return {"matches_per_s": matches / (now - begun)}

    sample()
    yield sample


@contextmanager
def time_results(scratch: Path, matches: int) -> Iterator[Sampler]:
    """Measure recording results of a two-player ladder, batch by batch, and rating each batch at once, as in a run."""

    def sample() -> Sample:
        home = Path(tempfile.mkdtemp(prefix="store-", dir=scratch))
        with store.open(home, checkpoints=True) as db:
            recording, folding = _results(db, matches)
        shutil.rmtree(home)
        return {"recorded_per_s": matches / recording, "folded_per_s": matches / folding}

    sample()
    yield sample


def _results(db: Database, matches: int) -> tuple[float, float]:
    """Return the seconds that recording takes, and those that rating takes."""
    ladder, field = scale.begin(db, 2)
    store.ladders.plan(db, ladder, field, -(-matches // 2))
    waiting = islice(store.ladders.scheduled(db, ladder), matches)
    recording = folding = 0.0
    while batch := [finished(result_of_two(match.id)) for match in islice(waiting, scale.SCALE_BATCH)]:
        begun = time.perf_counter()
        store.matches.record(db, ladder, batch)
        recorded = time.perf_counter()
        store.ratings.apply(db, ladder)
        folding += time.perf_counter() - recorded
        recording += recorded - begun
    return recording, folding
