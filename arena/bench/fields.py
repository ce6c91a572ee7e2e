"""Measure ladders of many bots: what a match, a start and a wait cost, beside ten bots in the same run.

Everything is real but how the bots enter: nobody checks them, and they are copies of one small program.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.bench import many_bots
from arena.bench.cases import BenchSetting, Case
from arena.bench.figures import Part, Ratios, Sample, Sampler, Spread, rounded
from arena.bench.peak_memory import PeakMemory
from arena.bench.real_ladders import enter_ladder
from arena.sandbox import probe
from arena.tournament.budget import Budget
from arena.tournament.ladder_run import LadderRequest, run_ladder
from arena.tournament.worker_pool import Workers
from arena.worker.local_host import LocalHost
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.submission import Program

_RATE = 5_000
"""Matches of each field for each of the setting's seconds: as many as take a minute or two by default, so that not all
of it is starts. With few processors it is by far not so many a second."""
_FEW = 10
"""Number of bots with which others are compared."""


class Field(NamedTuple):
    """So many copies of a bot of this kind, in a ladder for so many players."""

    kind: str
    bots: int
    players: int

    def __str__(self) -> str:
        return f"{self.kind}/{self.bots}/{self.players}"


FIELDS = (
    *(Field("compiled", bots, players) for players in (2, 4) for bots in (_FEW, 100, 500)),
    *(Field("python", bots, 4) for bots in (_FEW, 60)),
)
"""The fields that are measured, those before the others with which they are compared."""


def field_parts(setting: BenchSetting) -> Iterator[Part]:
    """Yield the part of each field."""
    for field in FIELDS:
        yield Part("fields", str(field), partial(measured_field, setting, field), once=True, on_demand=True)


@contextmanager
def measured_field(setting: BenchSetting, field: Field) -> Iterator[Sampler]:
    """Measure the ladder of a field. Raises LeftOut if its bot cannot be built here."""
    yield partial(sample_of, setting, field, many_bots.original(field.kind, setting.scratch, setting.say))


def sample_of(setting: BenchSetting, field: Field, bot: many_bots.Original) -> Sample:
    """Measure the ladder of a field, once, with copies of a bot."""
    setting.say(f"fields/{field}: {_matches(setting):,} matches")
    with tempfile.TemporaryDirectory(prefix=f"field{field.bots}-", dir=setting.scratch) as folder:
        programs = list(many_bots.copies(bot, field.bots, Path(folder, "copies")))
        return _play(setting, field, programs, Path(folder, "home"))


def _play(setting: BenchSetting, field: Field, programs: Sequence[Program], home: Path) -> Sample:
    with store.open(home, checkpoints=True) as db:
        ladder = enter_ladder(db, home, Case("buttons", field.players), programs, f"bench {field}")
        request = LadderRequest([each.name for each in programs], budget=Budget(_matches(setting)))
        sandbox = probe()
        cpu, firsts = _cpu(), Firsts(db, ladder)
        with PeakMemory() as memory, Workers(LocalHost(setting.jobs, sandbox=sandbox, logs=True)) as workers:
            run = run_ladder(db, home, ladder, request, workers=workers, report=firsts.see)
            seconds = firsts.seconds()
        cpu = _cpu() - cpu - memory.cpu
        forfeits = sum(row.forfeits for row in store.ratings.leaderboard(db, ladder))
    if forfeits:
        setting.say(f"fields/{field}: bots forfeited {forfeits:,} matches, so other work was measured")
    return {
        "matches_per_s": run.played / seconds,
        "cpu_ms_per_match": cpu * 1e3 / run.played,
        "decisions_per_frame": run.decisions / workers.frames,
        "starts": workers.starts,
        "starts_per_match": workers.starts / run.played,
        "bots_mib": memory.bots / 2**20,
        "all_mib": memory.all / 2**20,
        "first_match_seconds": firsts.match,
        "first_rated_seconds": firsts.rated,
        "matches": run.played,
    }


def _matches(setting: BenchSetting) -> int:
    return max(4 * _FEW, int(_RATE * setting.seconds))


class Firsts:
    """When the first match of a new ladder was over, and when the first group was rated, in seconds from now on."""

    def __init__(self, db: Database, ladder: store.Ladder) -> None:
        self._db = db
        self._ladder = ladder
        self._begun = time.perf_counter()
        self.match = 0.0
        self.rated = 0.0

    def seconds(self) -> float:
        """Return how long ago that was."""
        return time.perf_counter() - self._begun

    def see(self, played: int, _total: int) -> None:
        """Take in that so many matches are over."""
        if played and not self.match:
            self.match = self.seconds()
        if played and not self.rated and self._rated_matches() >= self._ladder.key.seats:
            self.rated = self.seconds()

    def _rated_matches(self) -> int:
        begin, _ = store.ratings.rateable_range(self._db, self._ladder)
        return begin


def _cpu() -> float:
    """Return the processor time, in seconds, of this process and of all below it that have ended.

    A process that ends adds its time, with that of those below it, to the one that waits for it. Workers are waited for
    here, bots by their workers, what bots leave behind by whoever adopts it; nobody ignores the end of a process.
    """
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def field_ratios(cases: Mapping[str, Mapping[str, Spread]]) -> Ratios:
    """Return each measure of larger fields as a ratio to that of ten bots of the same kind and number of players."""
    ratios: Ratios = {}
    for field in FIELDS:
        few, many = cases.get(str(field._replace(bots=_FEW)), {}), cases.get(str(field), {})
        for measure in many if field.bots != _FEW else ():
            if measure in few and few[measure].median:
                ratio = rounded(many[measure].median / few[measure].median)
                ratios.setdefault(f"{measure}/ten bots", {})[f"fields/{field}"] = ratio
    return ratios


_COLUMNS = {
    "matches_per_s": ("matches/s", "{:,.0f}"),
    "cpu_ms_per_match": ("CPU a match", "{:,.1f} ms"),
    "decisions_per_frame": ("decisions a frame", "{:,.1f}"),
    "starts_per_match": ("starts a match", "{:.3f}"),
    "bots_mib": ("memory of bots", "{:,.0f} MiB"),
    "all_mib": ("of all", "{:,.0f} MiB"),
    "first_match_seconds": ("first match", "{:,.1f} s"),
    "first_rated_seconds": ("first rated group", "{:,.0f} s"),
}
"""Columns of the table for people: the measure, its heading and how a figure is written."""
_WITH_RATIO = "cpu_ms_per_match"
"""The measure of which the table shows how many times as much it is with ten bots."""


def field_table(figures: Mapping[str, Mapping[str, Mapping[str, float]]], ratios: Ratios) -> Iterator[str]:
    """Yield the lines of a table of fields, as a page has it; the figures are spreads as plain data."""
    of_ten = ratios.get(f"{_WITH_RATIO}/ten bots", {})
    yield f"| bots, seats | {' | '.join(heading for heading, _ in _COLUMNS.values())} | × ten bots |"
    yield f"|---|{'---:|' * (len(_COLUMNS) + 1)}"
    for case, measures in figures.items():
        kind, bots, players = case.split("/")
        cells = [form.format(measures[measure]["median"]) for measure, (_, form) in _COLUMNS.items()]
        ratio = of_ten.get(f"fields/{case}")
        yield f"| {bots} {kind}, {players} | {' | '.join(cells)} | {'' if ratio is None else f'{ratio:.2f}'} |"
