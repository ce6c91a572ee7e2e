"""Matches outside any ladder, of bots as a person names them: played in this process, rated nowhere, kept in a home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena import roster
from arena.games.rules import Game, Options
from arena.referee.limits import Limits
from arena.replay import document, unrated_store
from arena.replay.document import Document
from arena.replay.log_text import of_unrated
from arena.sandbox import Sandbox
from arena.sandbox.run_folder import run_folder
from arena.submission.build import Building
from arena.worker import unrated
from arena.worker.bot_output import Sink
from arena.worker.jobs import Played, Task
from arena.worker.matches_in_play import MatchInPlay
from arena.worker.progress import ProgressReport
from arena.worker.unrated import WaitingTasks
from arena.worker.worker import Worker
from ladder import store


class UnratedRequest(NamedTuple):
    """Matches that somebody wants: who plays them and how, where bots are looked for, and what holds them."""

    bots: Sequence[str]
    """In seat order, as they were named; `attach:` is one that somebody else starts."""
    names: Sequence[str]
    """What each of them is called in what is kept."""
    game: Game[Any]
    options: Options
    limits: Limits
    seed: bytes
    home: Path
    sandbox: Sandbox
    matches: int = 1
    """How many of them."""


class SeatTally(NamedTuple):
    """What one seat has reached in the matches that count."""

    wins: int
    ties: int
    """How often it was first together with others."""
    forfeits: int
    mean_score: float


class UnratedRun:
    """Wanted matches, which one worker plays, and what becomes of them; bots that a path names are copied first."""

    def __init__(self, request: UnratedRequest, worker: Worker, scratch: Path, logs: Sink) -> None:
        self.request = request
        self.tasks: Sequence[Task] = ()
        """The matches, once the bots are lined up."""
        self.played: Sequence[Played] = ()
        """Results of the matches that were played."""
        self._worker = worker
        self._scratch = scratch
        self._logs = logs

    def line_up(self, building: Building) -> None:
        """Make the matches; whoever lies at a path is copied and built. Raises BadSubmission and NoSandbox."""
        wanted = self.request
        workshop = roster.Workshop(self._scratch, wanted.sandbox, building)
        with store.open_read(wanted.home) as db:
            lineup = [roster.find_bot(db, wanted.home, bot, wanted.game.name, workshop) for bot in wanted.bots]
        self.tasks = unrated.tasks(
            wanted.game, lineup, options=wanted.options, limits=wanted.limits, seed=wanted.seed, count=wanted.matches
        )

    def play(self, *, stop: Callable[[], bool], report: ProgressReport) -> None:
        """Play all matches, or until `stop` returns True."""
        self.played = unrated.play_unrated(
            self._worker, self.tasks, stop=stop, report=report, logged=unrated_store.KEPT_MATCHES
        )

    def play_first(self, look: Callable[[Sequence[MatchInPlay]], None], *, stop: Callable[[], bool]) -> None:
        """Play the first match, or until `stop` returns True; between frames `look` is shown what is in play."""

        def looked() -> bool:
            look(self._worker.in_play())
            return stop()

        self.played = self._worker.play(self.tasks[:1], stop=looked)

    def documents(self) -> Sequence[Document]:
        """Return the last matches that count, as many as a home keeps; with what bots printed, when all have ended."""
        by_id = {task.id: task for task in self.tasks}
        counted = [result for result in self.played if result.outcome is not None]
        return [
            document.unrated(by_id[result.id], self.request.names, result, of_unrated(self._logs, result))
            for result in counted[-unrated_store.KEPT_MATCHES :]
        ]

    def tallies(self) -> Sequence[SeatTally]:
        """Return what each seat has reached in the matches that count."""
        outcomes = [result.outcome for result in self.played if result.outcome is not None]
        wins, ties, forfeits = Counter[int](), Counter[int](), Counter[int]()
        for outcome in outcomes:
            first = [seat for seat, rank in enumerate(outcome.ranks) if rank == 0]
            (ties if len(first) > 1 else wins).update(first)
            forfeits.update(forfeit.seat for forfeit in outcome.forfeits)
        means = [
            sum(outcome.scores[seat] for outcome in outcomes) / max(len(outcomes), 1)
            for seat in range(len(self.request.names))
        ]
        return [SeatTally(wins[seat], ties[seat], forfeits[seat], mean) for seat, mean in enumerate(means)]


@contextmanager
def unrated_run(request: UnratedRequest, waiting: WaitingTasks) -> Iterator[UnratedRun]:
    """Keep a worker and a folder for bots while the block lasts; `waiting` hears of bots that others are to start."""
    logs: Sink = []
    with (
        run_folder() as scratch,
        unrated.own_worker(waiting=waiting, sandbox=request.sandbox, logs=logs) as worker,
    ):
        yield UnratedRun(request, worker, scratch, logs)


def keep_unrated(home: Path, matches: Sequence[Document], say: Callable[[str], None]) -> Sequence[Document]:
    """Keep matches in the home and return them with their names; if that fails, say so and return none."""
    try:
        return unrated_store.keep(home, matches) if matches else []
    except OSError as error:
        say(f"the matches are not kept for `arena replay`: {error}")
        return []
