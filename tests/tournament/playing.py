"""Ladders of real matches, played without bots: the rules are real, and a seed decides the choices."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from arena import games, roster, submission
from arena.referee.limits import Limits
from arena.referee.match import Forfeit, Match
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Played, SeatRecord, Task
from arena.worker.local_host import LocalHost
from arena.worker.progress import ProgressReport
from ladder import store
from ladder.pairing import DEFAULT_PAIRING


class ByTheRules(Workers):
    """Workers that play each match in this process; `forfeits` scales the chance that a seat forfeits."""

    def __init__(self, forfeits: float = 0.0) -> None:
        super().__init__(LocalHost(1))
        self._forfeits = forfeits

    def play(self, tasks: Iterable[Task]) -> Iterator[list[Played]]:
        for task in tasks:
            yield [played(task, self._forfeits)]
            if self.stopped:
                return


def in_phases(workers: Workers, tasks: Sequence[Task]) -> Iterator[Played]:
    """Yield the results of tasks of which no two share a seed; those without a result are played in the next phase."""
    left = {task.id: task for task in tasks}
    while left:
        for result in chain.from_iterable(workers.play(list(left.values()))):
            del left[result.id]
            yield result


def played(task: Task, forfeits: float) -> Played:
    """Play a match whose choices and forfeits follow from its seed and its id alone."""
    luck = random.Random(task.seed.hex() + task.id)
    game, seats = games.game(task.game), len(task.lineup)
    match = Match(game, seats, task.options, games.KeyedDice(task.seed))
    match.begin([(seat, "never came") for seat in range(1, seats) if luck.random() < forfeits / 4])
    times: list[list[float]] = [[] for _ in range(seats)]
    while match.outcome is None:
        for asked in tuple(match.pending.values()):
            if luck.random() < forfeits / 20:
                match.forfeit(asked.seat, luck.choice([Forfeit.CRASH, Forfeit.TIMEOUT]), "it went")
            else:
                times[asked.seat].append(luck.random() / 1000)
                match.answer(asked.seat, luck.choice(asked.legal))
    forfeited = {forfeit.seat for forfeit in match.outcome.forfeits}
    evidence = {"exit": "was killed by SIGSEGV", "output": ["last words"]}
    seated = (SeatRecord(tuple(own), evidence if seat in forfeited else None) for seat, own in enumerate(times))
    return Played(task.id, match.outcome, None, tuple(match.choices), tuple(seated))


def make(
    home: Path,
    game: str,
    bots: Sequence[str],
    rounds: int,
    *,
    seats: int = 2,
    forfeits: float = 0.0,
    pairing: str = DEFAULT_PAIRING,
    report: ProgressReport = lambda _done, _total: None,
) -> store.Ladder:
    """Enter bots and play a ladder with them; called again with more bots or rounds, the ladder goes on."""
    with store.open(home, checkpoints=True) as db:
        for name in bots:
            program = home.with_name(f"{name}.py")
            program.write_text(f"# {name}\n")
            kept = submission.store(submission.read_program(program), roster.folder(home))
            store.bots.add(db, store.bots.NewBot(name, kept.digest, games=kept.games, run=kept.run, origin="submitted"))
        rules = games.game(game)
        key = store.records.LadderKey(game, seats, rules.options({}), Limits().plain(), rules.rules_version, pairing)
        ladder = store.ladders.find_or_make(db, key, draw_probability=rules.draw_probability, seed="known")
        with ByTheRules(forfeits) as workers:
            run_ladder(db, home, ladder, LadderRequest(bots, rounds), workers=workers, report=report)
    return ladder
