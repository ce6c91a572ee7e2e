"""Matches outside any ladder: nothing is stored and nobody is rated."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from arena import games, submission
from arena.clock import Limits
from arena.games.rules import Game, Options
from arena.match import Forfeit, Void
from arena.sandbox import UNCONFINED, Sandbox
from arena.scratch import run_folder
from arena.seated import Entrant
from arena.worker import IN_FLIGHT, Played, Task, Worker

Waiting: TypeAlias = Callable[[str, str, str], None]
"""Told the label, address and token of a bot that is to be started by hand."""
Report: TypeAlias = Callable[[int, int], None]
"""Told how many matches are done, and of how many."""

REPORT_SECONDS = 0.5
"""About how long a batch lasts, and so between two reports."""


@contextmanager
def table(
    *, in_flight: int = IN_FLIGHT, waiting: Waiting | None = None, sandbox: Sandbox = UNCONFINED
) -> Iterator[Worker]:
    """A worker in this process, for as long as the block lasts."""
    with run_folder() as scratch:
        worker = Worker(scratch, in_flight=in_flight, waiting=waiting, sandbox=sandbox)
        try:
            yield worker
        finally:
            worker.close()


def tasks(
    game: Game[Any], lineup: Sequence[Entrant], *, options: Options, limits: Limits, seed: bytes, count: int
) -> list[Task]:
    """As many matches of one line-up as wanted; the first has the seed itself."""
    return [
        Task(
            f"{number + 1}",
            game.name,
            options,
            seed if number == 0 else hmac.digest(seed, f"match/{number}".encode(), "sha256"),
            tuple(lineup),
            tuple(range(len(lineup))),
            limits,
        )
        for number in range(count)
    ]


def play(worker: Worker, wanted: Sequence[Task], *, stop: Callable[[], bool], report: Report) -> list[Played]:
    """Play them all, or until `stop` says true; gives what was finished in the order of `wanted`."""
    played: dict[str, Played] = {}
    waiting, size = iter(wanted), 1
    while not stop() and (batch := list(islice(waiting, size))):
        begun = time.monotonic()
        results = worker.play(batch, stop=stop)
        size = max(1, min(2 * size, int(size * REPORT_SECONDS / (time.monotonic() - begun))))
        played |= {result.id: result for result in results}
        report(len(played), len(wanted))
    return [played[task.id] for task in wanted if task.id in played]


class Failure(NamedTuple):
    """A qualification match that a bot did not come through."""

    game: str
    players: int
    reason: Forfeit
    detail: str
    output: list[str]
    """What the bot printed last."""


class _Trial(NamedTuple):
    game: str
    players: int
    seat: int
    task: Task


def qualify(
    entrant: Entrant, plays: Sequence[str], limits: Limits, report: Report, sandbox: Sandbox = UNCONFINED
) -> list[Failure]:
    """Have a bot play one match of every game and number of players it claims, against the built-in random bot.

    It sits in a different place each time. After a failure the rest of that game is left out, and everything if the
    bot does not even start. Raises RuntimeError if the arena itself failed.
    """
    trials = [trial for name in plays for trial in _trials(entrant, name, limits)]
    failures: list[Failure] = []
    done = 0
    with table(sandbox=sandbox) as worker:
        for _, of_game in groupby(trials, key=attrgetter("game")):
            for trial in of_game:
                report(done, len(trials))
                (played,) = worker.play([trial.task])
                done += 1
                if failure := _failure(trial, played):
                    failures.append(failure)
                    break
            if failures and failures[-1].reason is Forfeit.START:
                break
    return failures


def _trials(entrant: Entrant, name: str, limits: Limits) -> Iterator[_Trial]:
    game = games.game(name)
    filler = submission.built_ins()["random"].entrant()
    for place, players in enumerate(game.seats):
        seat = place % players
        lineup = [filler] * players
        lineup[seat] = entrant
        seed = hmac.digest(b"qualification", f"{name}/{players}".encode(), "sha256")
        (task,) = tasks(game, lineup, options=game.options({}), limits=limits, seed=seed, count=1)
        yield _Trial(name, players, seat, task)


def _failure(trial: _Trial, played: Played) -> Failure | None:
    if played.outcome is None:
        if played.void == Void.NOBODY:
            nobody = "neither it nor the built-in random bot joined"
            return Failure(trial.game, trial.players, Forfeit.START, nobody, [])
        raise RuntimeError(f"the qualification match of {trial.game} failed: {played.void}")
    for forfeit in played.outcome.forfeits:
        if forfeit.seat == trial.seat:
            evidence = played.seats[trial.seat].evidence or {}
            detail = evidence.get("detail", forfeit.detail)
            return Failure(trial.game, trial.players, forfeit.reason, detail, evidence.get("output", []))
    return None
