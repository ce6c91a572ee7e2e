"""Measure how long starting takes, and a match with nothing else in play."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles

from arena import games, submission
from arena.bench import raw
from arena.bench.cases import Case
from arena.bench.figures import Sample, Sampler
from arena.bench.tape import Frame
from arena.games.dice import RandomDice
from arena.referee import frames
from arena.referee.limits import Limits
from arena.worker import unrated


@contextmanager
def help_page() -> Iterator[Sampler]:
    """Measure `arena --help` as a process, from its start to its end."""
    command = [sys.executable, "-c", "from arena.cli import main; main(['--help'])"]

    def sample() -> Sample:
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {"seconds": time.perf_counter() - begun}

    sample()
    yield sample


@contextmanager
def bot(scratch: Path) -> Iterator[Sampler]:
    """Measure the built-in random bot on its own, from its start to Hello and to the answer to its first decision."""

    def sample() -> Sample:
        directory = Path(tempfile.mkdtemp(prefix="bot-", dir=scratch))
        return asyncio.run(_first_decision(directory, frame))

    frame = first_frame()
    sample()
    yield sample


async def _first_decision(directory: Path, frame: Frame) -> Sample:
    begun = time.perf_counter()
    async with raw.started(directory) as playback:
        await playback.join()
        joined = time.perf_counter()
        await playback.play([frame])
        answered = time.perf_counter()
    return {"hello_seconds": joined - begun, "first_decision_seconds": answered - begun}


def first_frame() -> Frame:
    """Return the frame with the start of a match of Buttons and its first question, as a bot gets it."""
    game, seed = games.game("buttons"), bytes(32)
    options = game.options({})
    state = game.start(2, RandomDice(Random(1)), options)
    seat, legal = next(iter(game.pending(state).items()))
    view = frames.view(game.view_field, game.wire_view(state, seat))
    question = frames.decision(frames.match_frame(1), 1, legal, Limits().bank, view)
    start = frames.match_start(game.name, 2, options, seed, seat, Limits())
    return Frame(frames.start(frames.match_frame(1), start) + question, 1)


@contextmanager
def lone_match(case: Case, seconds: float) -> Iterator[Sampler]:
    """Measure matches one after the other, with nothing else in play: the time of each answer, and the rate in all."""
    game, filler = games.game(case.game), submission.built_ins()["random"].entrant()
    numbers = count()

    def sample() -> Sample:
        times: list[float] = []
        begun = now = time.perf_counter()
        while now < begun + seconds or len(times) < 2:
            seed = next(numbers).to_bytes(32)
            wanted = unrated.tasks(
                game, [filler] * case.players, options=game.options({}), limits=Limits(), seed=seed, count=1
            )
            (result,) = worker.play(wanted)
            times += [seconds for seat in result.seats for seconds in seat.times]
            now = time.perf_counter()
        percentiles = quantiles(times, n=100, method="inclusive")
        return {
            "answer_p50_us": percentiles[49] * 1e6,
            "answer_p99_us": percentiles[98] * 1e6,
            "decisions_per_s": len(times) / (now - begun),
        }

    with unrated.own_worker() as worker:
        sample()
        yield sample
