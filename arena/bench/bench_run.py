"""The parts of the benchmark, and how they are measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from math import ceil
from typing import Any

from arena import games
from arena.bench import one_process, raw, real_ladders, scale, starts
from arena.bench.cases import REFERENCE, BenchSetting, Case, Say
from arena.bench.fields import field_parts, field_ratios
from arena.bench.figures import Figures, LeftOut, Part, Sample, machine_figures, ratios, spreads
from arena.bench.many_hosts import intake
from arena.sandbox.run_folder import run_folder

BENCH_KINDS = (
    "ladder",
    "unbatched",
    "raw_grpc",
    "raw_single",
    "rules",
    "ratings",
    "store",
    "startup",
    "lone_match",
    "scale",
    "intake",
    "fields",
)
"""Kinds of parts, as `--only` takes them."""
_SECONDS = 2.0
"""The usual length of a repeat of a ladder, in seconds; sizes of `scale` shrink if it is set shorter."""
_LARGER = 0.5
"""Share of a repeat's seconds for ladders of more than two players, whose rates nobody compares; any would do."""
_UNBATCHED = 0.3
"""Share of a repeat's seconds where every frame has one decision, so that no frames have to fill first."""
_HOSTS = 64
"""Number of hosts that are simulated to measure a cluster's coordinator."""
_LOOP = 0.1
"""Share of a repeat's seconds where only one process works; so little suffices as no bots start."""

_NOTES = (
    "workers start outside of what is timed, and in playbacks bots too; a ladder starts its bots anew in every phase",
    "a repeat of a ladder is a new one, from its plan to its last rating; it has as many matches on any machine",
    "raw_grpc and raw_single play back what a ladder of the same number of matches sent",
    "frames empty towards the end of a repeat: the more --seconds, the more decisions a frame and a second",
    "unbatched: one match at a time in each bot process, so one decision a frame",
    "cost of a decision: CPU of all sides, less 0.3 ms for each match, against two-player Buttons",
    "ladders of more than two players have one worker and one repeat: compare their CPU, not their rates",
    "scale, intake and fields are measured only where --only names them",
    "scale and intake: their results are made up, their store is real",
    "intake: the coordinator of a cluster on one core, fed by 64 simulated hosts of 8 cores over Dask",
    "fields: 5,000 matches for each of --seconds; bots_mib has the sandboxes around the bots, all_mib every process",
    "mib: proportional set size (PSS) of a process of the kind, the mean; the coordinator is the benchmark itself",
)
"""What one must know to read the figures; it is printed with them."""


def parts(setting: BenchSetting) -> Iterator[Part]:
    """Yield every part that can be measured."""
    cases = [Case(name, players) for name in games.names() for players in games.game(name).seats]
    two = [case for case in cases if case.players == 2]
    loop = setting.seconds * _LOOP
    for case in cases:
        if case in two:
            yield Part("ladder", str(case), partial(real_ladders.time_ladder, setting, case, None))
        else:  # many bots to start and long matches, of which only the costs are compared
            large_setting = setting.shorter(_LARGER)._replace(jobs=1)
            yield Part("ladder", str(case), partial(real_ladders.time_ladder, large_setting, case, None), once=True)
    yield Part("raw_grpc", str(REFERENCE), partial(raw.playback, setting, REFERENCE, None))
    yield Part(
        "unbatched", str(REFERENCE), partial(real_ladders.time_ladder, setting.shorter(_UNBATCHED), REFERENCE, 1)
    )
    yield Part("raw_single", str(REFERENCE), partial(raw.playback, setting.shorter(_UNBATCHED), REFERENCE, 1))
    for case in two:
        yield Part("lone_match", str(case), partial(starts.lone_match, case, loop))
    for case in cases:
        yield Part("rules", str(case), partial(one_process.rules, case, loop))
    for players in range(2, 6):
        yield Part("ratings", str(players), partial(one_process.ratings, players, loop))
    yield Part(
        "store",
        "buttons/2",
        partial(one_process.time_results, setting.scratch, max(scale.SCALE_BATCH, int(500 * loop))),
    )
    yield Part("startup", "help", starts.help_page)
    yield Part("startup", "bot", partial(starts.bot, setting.scratch))
    for bots, matches in scale.SIZES.items():
        sizes = [ceil(size * min(1.0, setting.seconds / _SECONDS)) for size in matches]
        yield Part("scale", str(bots), partial(scale.growth, setting.scratch, bots, sizes), True, True)
    yield Part("intake", str(_HOSTS), partial(intake, setting, _HOSTS), on_demand=True)
    yield from field_parts(setting)


def chosen_parts(only: Sequence[str], setting: BenchSetting) -> list[Part]:
    """Return the parts with these names, whole or up to a slash; without names, all that are not on demand.

    Raises ValueError for a name that fits no part.
    """
    everything = list(parts(setting))
    for wanted in only:
        if not any(_fits(part, wanted) for part in everything):
            raise ValueError(f"nothing to measure is called {wanted!r}: parts are {', '.join(BENCH_KINDS)}")
    if not only:
        return [part for part in everything if not part.on_demand]
    return [part for part in everything if any(_fits(part, wanted) for wanted in only)]


def _fits(part: Part, wanted: str) -> bool:
    return f"{part.name}/".startswith(f"{wanted}/")


def run_bench(only: Sequence[str], *, jobs: int, seconds: float, repeats: int, say: Say) -> dict[str, Any]:
    """Measure, and return plain data, the ratios first. Raises ValueError for an unknown part in `only`."""
    with run_folder() as scratch:
        setting = BenchSetting(jobs, seconds, scratch, say)
        where = machine_figures()
        figures = measure(chosen_parts(only, setting), repeats, say)
    return {
        "ratios": ratios(figures) | field_ratios(figures.get("fields", {})),
        "machine": where,
        "method": {"jobs": jobs, "seconds": seconds, "repeats": repeats, "notes": _NOTES},
        "figures": _plain(figures),
    }


def measure(wanted: Sequence[Part], repeats: int, say: Say) -> Figures:
    """Open all parts, then sample them one after the other, round and round."""
    samples: dict[Part, list[Sample]] = {}
    with ExitStack() as stack:
        samplers = {}
        for part in wanted:
            say(f"starting {part.name}")
            try:
                samplers[part] = stack.enter_context(part.open())
            except LeftOut as why:
                say(f"leaving out {part.name}: {why}")
        for repeat in range(repeats):
            say(f"repeat {repeat + 1} of {repeats}")
            for part, sample in samplers.items():
                if not (part.once and repeat):
                    samples.setdefault(part, []).append(sample())
        say("ending what was started")
    figures: Figures = {}
    for part, samples_of_part in samples.items():
        figures.setdefault(part.kind, {})[part.case] = spreads(samples_of_part)
    return figures


def _plain(figures: Figures) -> dict[str, Any]:
    """Return the figures as plain data for JSON."""
    return {
        kind: {
            case: {measure: spread._asdict() for measure, spread in measures.items()}
            for case, measures in cases.items()
        }
        for kind, cases in figures.items()
    }
