"""A field of more bots than fit into the memory that they are lent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from arena.bench.cases import Case
from arena.bench.many_bots import Original, copies
from arena.bench.peak_memory import PeakMemory
from arena.bench.real_ladders import enter_ladder
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.worker_pool import Workers
from arena.worker.local_host import LocalHost
from ladder import store

MIB = 2**20
BOTS = 9
"""Of some thirty megabytes each: together they take more than what is lent."""
LENT = 188 * MIB
"""Enough for five of them, also when nobody else shares Python's libraries with them, and too little for six that share
them with many."""
OWN = 16 * MIB
"""Bytes that each fills for itself, so that what it takes depends less on who shares what. With them it takes about as
much as is reckoned for a bot before any is measured: with more, too many would be started at first."""
SMALL = f"""from arena_bot import Bot, run
block = bytearray(b"x") * {OWN}
class Small(Bot):
    def choose(self, turn):
        return turn.legal[turn.number % len(turn.legal)]
run(Small)
"""


class Told(NamedTuple):
    """What a ladder came to, and the most bytes that its bots took together."""

    hash: str
    matches: int
    starts: int
    taken: int


def played(folder: Path, bot: Original, memory: int) -> Told:
    """A round of all bots, with so much memory for them."""
    programs = list(copies(bot, BOTS, folder / "copies"))
    field = [program.name for program in programs]
    with store.open(folder / "home", checkpoints=True) as db:
        ladder = enter_ladder(db, folder / "home", Case("buttons", 2), programs, "the same")
        with PeakMemory() as peak, Workers(LocalHost(1, memory=memory)) as workers:
            run = run_ladder(
                db, folder / "home", ladder, LadderRequest(field, 1), workers=workers, report=lambda _done, _all: None
            )
        return Told(store.ratings.ladder_hash(db, ladder), run.played, workers.starts, peak.bots)


@pytest.mark.long
def test_a_field_plays_on_within_the_memory_that_it_is_lent(tmp_path: Path) -> None:
    """With fewer processes at a time, which are started more often; no result depends on it."""
    program = tmp_path / "bot.py"
    program.write_text(SMALL)
    bot = Original((program,), ("python", "bot.py"))
    free, lent = (played(tmp_path / name, bot, memory) for name, memory in (("free", 4 << 30), ("lent", LENT)))
    assert (lent.hash, lent.matches) == (free.hash, free.matches)
    assert free.matches == BOTS * (BOTS - 1)
    assert free.starts == 2 * BOTS, "each in both phases"
    assert lent.starts > free.starts
    assert lent.taken < LENT < free.taken
