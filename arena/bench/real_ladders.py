"""Measure real ladders: schedule, workers, bots, gRPC, checks, clocks, ratings, database and replays."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import games, roster, submission
from arena.bench import processes
from arena.bench.cases import BenchSetting, Case
from arena.bench.figures import Sample, Sampler
from arena.referee.limits import Limits
from arena.submission import Program
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.run_result import Run
from arena.tournament.worker_pool import Workers
from arena.tournament.workforce import DEALT_MATCHES
from arena.worker.local_host import LocalHost
from arena.worker.progress import ProgressReport
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

_BATCHED = 60_000
"""Decisions a second that a worker is assumed to reach with the core, roughly. What is played must not depend on the
speed measured before, or a ladder and the recording that is played back would not have the same matches."""
_FILL = 64
"""Least number of matches of each rotation for each worker: in a real ladder of any length there are more."""
_UNBATCHED = 1_000
"""Decisions a second that a worker is assumed to reach with one decision a frame."""


class Leg(NamedTuple):
    """What one run of a ladder played, and in how many seconds."""

    seconds: float
    matches: int
    decisions: int


class Stand:
    """Workers that are warm, and a new ladder for them in each repeat, so that every repeat does the same work.

    The dice are the same in every run of the benchmark, and so are each bot's choices.
    """

    def __init__(self, case: Case, programs: Sequence[Program], workers: Workers, scratch: Path) -> None:
        self._case = case
        self._programs = programs
        self._workers = workers
        self._scratch = scratch
        self._ladders = 0
        self._per_round = 1

    def play(self, matches: int, look: Callable[[], None] = lambda: None) -> Leg:
        """Play at least so many matches; call `look` once, in the middle of the first phase, while bots are alive.

        Raises RuntimeError if a bot forfeits or a match is void: then other work was measured.
        """
        rounds = math.ceil(matches / self._per_round)
        home = self._scratch / f"home{self._ladders}"
        with store.open(home, checkpoints=True) as db:
            ladder = enter_ladder(db, home, self._case, self._programs, f"bench {self._ladders}")
            field = [program.name for program in self._programs]
            begun = time.perf_counter()
            report = self._once_at(0.5 / self._case.players, look)
            run = run_ladder(db, home, ladder, LadderRequest(field, rounds), workers=self._workers, report=report)
            seconds = time.perf_counter() - begun
            _check(run, store.ratings.leaderboard(db, ladder))
        self._per_round = run.played // rounds
        shutil.rmtree(home)
        self._ladders += 1
        return Leg(seconds, run.played, run.decisions)

    @staticmethod
    def _once_at(share: float, look: Callable[[], None]) -> ProgressReport:
        looks = iter([look])

        def report(count: int, total: int) -> None:
            if count and count >= share * total:
                next(looks, _nothing)()

        return report

    def warm_up(self, jobs: int) -> None:
        """Play so many matches that all workers start."""
        first = self.play(1)  # tells how many matches a round has
        if first.matches < DEALT_MATCHES * jobs:
            self.play(DEALT_MATCHES * jobs)


def enter_ladder(db: Database, home: Path, case: Case, programs: Iterable[Program], seed: str) -> store.Ladder:
    """Enter programs in a home, of which nobody checks any, and return a new ladder for them."""
    for program in programs:
        kept = submission.store(program, roster.folder(home))
        store.bots.add(
            db, store.bots.NewBot(kept.name, kept.digest, games=kept.games, run=kept.run, origin="submitted")
        )
    game = games.game(case.game)
    limits, options = Limits().plain(), game.options({})
    key = store.records.LadderKey(game.name, case.players, options, limits, game.rules_version)
    return store.ladders.find_or_make(db, key, draw_probability=game.draw_probability, seed=seed)


@contextmanager
def time_ladder(setting: BenchSetting, case: Case, in_flight: int | None) -> Iterator[Sampler]:
    """Measure a ladder of random bots, as many as there are seats: rates, CPU time and memory."""
    random = submission.built_ins()["random"]
    command = ("python", str(random.root / "bot.py"), "random")
    with _stand(setting, case, in_flight, command) as stand:
        earlier = processes.child_processes()
        stand.warm_up(setting.jobs)
        crew = processes.crew(earlier)
        matches = _how_many(setting, case, in_flight)

        def sample() -> Sample:
            before, memory = crew.cpu(), dict[str, float]()
            leg = stand.play(matches, lambda: memory.update(crew.memory()))
            rates = {"decisions_per_s": leg.decisions / leg.seconds, "matches_per_s": leg.matches / leg.seconds}
            return rates | crew.cpu().per_decision(before, leg.decisions) | memory

        yield sample


def record_ladder(setting: BenchSetting, case: Case, in_flight: int | None, folder: Path) -> float:
    """Play a ladder with bots that record the frames they are sent in `folder`.

    Return when it began, by `time.monotonic`, after the warm-up.
    """
    command = ("python", "-m", "arena.bench.recorder", str(folder))
    with _stand(setting, case, in_flight, command) as stand:
        stand.warm_up(setting.jobs)
        begun = time.monotonic()
        stand.play(_how_many(setting, case, in_flight))
    return begun


def _how_many(setting: BenchSetting, case: Case, in_flight: int | None) -> int:
    """Return the number of matches in one repeat: enough for its seconds, and to fill frames in each phase."""
    if in_flight == 1:
        return max(DEALT_MATCHES * setting.jobs, case.matches(setting.seconds * setting.jobs * _UNBATCHED))
    return max(_FILL * setting.jobs * case.players, case.matches(setting.seconds * setting.jobs * _BATCHED))


@contextmanager
def _stand(setting: BenchSetting, case: Case, in_flight: int | None, command: Sequence[str]) -> Iterator[Stand]:
    scratch = Path(tempfile.mkdtemp(prefix=f"{case.game}{case.players}-", dir=setting.scratch))
    programs = [bench_program(scratch / f"random{number}", command) for number in range(case.players)]
    with Workers(LocalHost(setting.jobs, in_flight=in_flight, logs=True), all_play=True) as workers:
        yield Stand(case, programs, workers, scratch)


def _check(run: Run, board: Sequence[store.records.Row]) -> None:
    if run.void is not None:
        raise RuntimeError(f"a match of the benchmark was void: {run.void.reason}")
    if forfeits := sum(row.forfeits for row in board):
        raise RuntimeError(f"bots of the benchmark forfeited {forfeits} times: is the machine overloaded?")


def _nothing() -> None:
    """Do nothing, as `look` has been called already."""


def bench_program(folder: Path, command: Sequence[str]) -> Program:
    """Return the program of a bot that is started by a command, made in a new folder of this name."""
    folder.mkdir()
    (folder / "bot.toml").write_text(f"name = {json.dumps(folder.name)}\nrun = {json.dumps(command)}\n")
    return submission.read_program(folder)
