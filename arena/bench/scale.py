"""Measure a ladder that grows: what one more match costs, and how long people wait, with many matches and many bots.

Results are made up, since only the coordinator is measured: it plans, records, rates and shows. Workers need not be:
they forget a match when it is over.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from math import ceil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from arena import games
from arena.bench.figures import Sample, Sampler
from arena.bench.made_up import result_of_two
from arena.referee.limits import Limits
from arena.tournament.match_forms import finished
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

SIZES = {2: (1_000, 10_000), 4: (1_000, 10_000, 100_000), 64: (5_000, 20_000)}
"""Numbers of matches at which a ladder is measured, by its number of bots."""
SCALE_BATCH = 32
"""About how many results a ladder records and rates together."""


def begin(db: Database, bots: int) -> tuple[store.Ladder, list[str]]:
    """Return a new ladder of two-player Buttons, and the labels of the bots in it."""
    game, field = games.game("buttons"), [f"bot{number}" for number in range(bots)]
    for name in field:
        store.bots.add(db, store.bots.NewBot(name, name, games=["buttons"], run=["x"], origin="submitted"))
    key = store.records.LadderKey("buttons", 2, game.options({}), Limits().plain(), game.rules_version)
    return store.ladders.find_or_make(db, key, draw_probability=game.draw_probability, seed="x"), field


def play_scaled(db: Database, ladder: store.Ladder, field: list[str], matches: int, chance: Random) -> None:
    """Record made-up results until the ladder has at least so many matches, in whole rounds of the field."""
    store.ladders.plan(db, ladder, field, ceil(matches / (len(field) * (len(field) - 1))))
    waiting = store.ladders.scheduled(db, ladder)
    while batch := [finished(result_of_two(match.id, chance.randrange(2))) for match in islice(waiting, SCALE_BATCH)]:
        store.matches.record(db, ladder, batch)
        store.ratings.apply(db, ladder)
        store.sums.add_rated(db, ladder, least=store.sums.GATHERED)


@contextmanager
def growth(scratch: Path, bots: int, sizes: Sequence[int]) -> Iterator[Sampler]:
    """Measure what matches cost as a ladder grows from size to size, and in the end how long it takes to read it."""

    def sample() -> Sample:
        measured: dict[str, float] = {}
        with _home(scratch) as db:
            ladder, field = begin(db, bots)
            count = 0
            for size in sizes:
                seconds = _seconds(partial(play_scaled, db, ladder, field, size, Random(size)), time.process_time)
                before, count = count, store.ladders.counts(db, ladder).done
                measured[f"cpu_ms_per_match_to_{size}"] = seconds * 1000 / max(1, count - before)
                measured[f"coordinator_mib_at_{size}"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rounds = ceil(count / (bots * (bots - 1)))
            measured["resume_seconds"] = _seconds(lambda: store.ladders.plan(db, ladder, field, rounds))
            measured["leaderboard_seconds"] = _seconds(lambda: store.ratings.leaderboard(db, ladder))
            measured["evidence_seconds"] = _seconds(lambda: store.evidence.of_ladder(db, ladder))
            measured["hash_seconds"] = _seconds(lambda: store.ratings.ladder_hash(db, ladder))
        return measured

    yield sample


@contextmanager
def _home(scratch: Path) -> Iterator[Database]:
    with (
        tempfile.TemporaryDirectory(prefix="scale-", dir=scratch) as folder,
        store.open(Path(folder), checkpoints=True) as db,
    ):
        yield db


def _seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    work()
    return clock() - begun
