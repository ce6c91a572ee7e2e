"""What a bot of each language costs: two of them play Buttons against each other.

    python -m tests.bots [LANGUAGE…]

Nothing else should run meanwhile. Building all of them takes some minutes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
import psutil

from arena.games import game
from arena.referee.limits import Limits
from arena.sandbox import probe
from arena.submission.templates import templates
from arena.worker import unrated
from arena.worker.jobs import Entrant, Played
from arena.worker.worker import Worker
from tests.bots.entered import Home

MATCHES = 400
"""Of a repeat."""
REPEATS = 5


class Cost(NamedTuple):
    """Of one repeat: how fast it went, and the time of processors that both bots used."""

    decisions_per_s: float
    cpu_us_per_decision: float


def main(languages: list[str]) -> None:
    """Print a table."""
    click.echo("| language | decisions/s | CPU µs of the bot per decision |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        for language in languages or sorted(templates()):
            costs = measure(home.entrant(language))
            rate, cpu = (median(values) for values in zip(*costs, strict=True))
            click.echo(f"| {language} | {rate:,.0f} | {cpu:.1f} |")


def measure(bot: Entrant) -> list[Cost]:
    """Some repeats by one worker, in this process, after one that makes everything warm."""
    with unrated.own_worker(sandbox=probe()) as worker:
        return [play(worker, bot, repeat) for repeat in range(REPEATS + 1)][1:]


def play(worker: Worker, bot: Entrant, repeat: int) -> Cost:
    """One repeat, the same for every language."""
    buttons = game("buttons")
    seed = bytes([repeat] * 32)
    line_up = [bot._replace(label=f"{bot.label} {seat}") for seat in range(2)]
    tasks = unrated.tasks(buttons, line_up, options=buttons.options({}), limits=Limits(), seed=seed, count=MATCHES)
    before, begun = used(), time.perf_counter()
    decisions = sum(map(decided, worker.play(tasks)))
    return Cost(decisions / (time.perf_counter() - begun), (used() - before) * 1e6 / decisions)


def decided(match: Played) -> int:
    """The decisions of a match that everybody came through."""
    assert match.outcome is not None, match.void
    assert not match.outcome.forfeits, match.outcome.forfeits
    return len(match.choices)


def used() -> float:
    """Seconds that the bots' processes, all below this one, have used so far."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(each.user + each.system for each in times)


main(sys.argv[1:])
