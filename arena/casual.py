"""Matches outside any ladder: nothing is stored and nobody is rated."""

from __future__ import annotations

import hmac
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena import games, submission
from arena.clock import Limits
from arena.games.rules import Game, Options
from arena.match import SeatForfeit
from arena.seated import Entrant
from arena.worker import IN_FLIGHT, Played, Task, Worker, short_temporary_directory

Waiting = Callable[[str, str, str], None]
"""Told the label, address and token of a bot that is to be started by hand."""


@contextmanager
def table(*, in_flight: int = IN_FLIGHT, waiting: Waiting | None = None) -> Iterator[Worker]:
    """A worker in this process, for as long as the block lasts."""
    scratch = Path(tempfile.mkdtemp(prefix="arena-", dir=short_temporary_directory()))
    try:
        worker = Worker(scratch, in_flight=in_flight, waiting=waiting)
        try:
            yield worker
        finally:
            worker.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def tasks(
    game: Game[Any], lineup: Sequence[Entrant], *, options: Options, limits: Limits, seed: bytes, count: int
) -> list[Task]:
    """As many matches of one line-up as wanted; the first has the seed itself, so that it can be played again."""
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


class Failure(NamedTuple):
    """A qualification match that a bot did not come through."""

    game: str
    players: int
    forfeit: SeatForfeit
    output: list[str]
    """What the bot printed last."""


def qualify(entrant: Entrant, plays: Sequence[str], limits: Limits) -> list[Failure]:
    """Have a bot play one match of every game and number of players it claims, against the built-in random bot.

    It sits in a different place each time. Raises RuntimeError if the arena itself failed.
    """
    filler = submission.built_ins()["random"].entrant()
    trials: dict[str, tuple[str, int, int]] = {}
    wanted: list[Task] = []
    for name in plays:
        game = games.game(name)
        for place, players in enumerate(game.seats):
            seat = place % players
            lineup = [filler] * players
            lineup[seat] = entrant
            seed = hmac.digest(b"qualification", f"{name}/{players}".encode(), "sha256")
            (task,) = tasks(game, lineup, options=game.options({}), limits=limits, seed=seed, count=1)
            task = task._replace(id=f"{name}/{players}")
            trials[task.id] = (name, players, seat)
            wanted.append(task)
    with table() as worker:
        return [failure for played in worker.play(wanted) if (failure := _failure(played, *trials[played.id]))]


def _failure(played: Played, game: str, players: int, seat: int) -> Failure | None:
    if played.outcome is None:
        if played.void and played.void.startswith("nobody"):
            raise RuntimeError("neither the bot nor the built-in random bot could be started")
        raise RuntimeError(f"the qualification match of {game} failed: {played.void}")
    for forfeit in played.outcome.forfeits:
        if forfeit.seat == seat:
            evidence = played.seats[seat].evidence or {}
            return Failure(game, players, forfeit, evidence.get("output", []))
    return None
