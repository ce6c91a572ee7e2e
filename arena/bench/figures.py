"""What the benchmark reports: samples, the figures and ratios computed from them, and the machine they come from."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from arena.bench.cases import REFERENCE
from arena.core.compilation import find_core

Sample: TypeAlias = Mapping[str, float]
"""Measures of one repeat of a part, by name; each name contains the unit."""
Sampler: TypeAlias = Callable[[], Sample]
"""Function that measures a part once."""

SIDES = ("referee", "bots", "coordinator")
"""Groups of processes whose CPU time is measured; the coordinator is the benchmark's own process."""
_PER_MATCH = 0.0003
"""CPU time that a match of two players costs in addition to its decisions, in seconds.

docs/performance.md says how that was measured. More players cost more, which is left in the cost of their decisions.
"""


class LeftOut(Exception):
    """Error for a part that this machine cannot measure; the message says why."""


class Part(NamedTuple):
    """One thing that the benchmark measures.

    `kind` says what is measured. `case` tells the parts of a kind apart: mostly a game and its number of players, as in
    "buttons/2". `open` prepares the part and gives the function that measures it, or raises LeftOut.
    """

    kind: str
    case: str
    open: Callable[[], AbstractContextManager[Sampler]]
    once: bool = False
    """Whether one repeat is enough, since the part takes long and its rates are not compared."""
    on_demand: bool = False
    """Whether the part takes so long that it is measured only if it is named."""

    @property
    def name(self) -> str:
        """The name that `--only` takes, whole or up to a slash."""
        return f"{self.kind}/{self.case}"


class Spread(NamedTuple):
    """Median, least and greatest value of a measure over all repeats."""

    median: float
    min: float
    max: float


Figures: TypeAlias = dict[str, dict[str, dict[str, Spread]]]
"""Spreads by kind, case and measure."""
Ratios: TypeAlias = dict[str, dict[str, float]]
"""Ratios by what is compared, and by case."""


def spreads(samples: Sequence[Sample]) -> dict[str, Spread]:
    """Return median, least and greatest value of each measure over the samples, to four significant digits."""
    values = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {
        name: Spread(*(rounded(measure(column)) for measure in (median, min, max))) for name, column in values.items()
    }


def ratios(figures: Figures) -> Ratios:
    """Return the speed of ladders relative to simpler parts, and the cost of a decision relative to `REFERENCE`.

    A ratio is computed from the medians as they are printed, and left out unless both of its parts were measured.
    """
    by_name: Ratios = {}
    for simpler in ("raw_grpc", "raw_single", "unbatched"):
        for case, ladder in figures.get("ladder", {}).items():
            if part := figures.get(simpler, {}).get(case):
                share = ladder["decisions_per_s"].median / part["decisions_per_s"].median
                by_name.setdefault(f"ladder/{simpler}", {})[case] = rounded(share)
    costs = {case: _cost(ladder) for case, ladder in figures.get("ladder", {}).items()}
    if reference := costs.get(str(REFERENCE)):
        by_name[f"cost of a decision/{REFERENCE}"] = {case: rounded(cost / reference) for case, cost in costs.items()}
    return by_name


def _cost(ladder: Mapping[str, Spread]) -> float:
    """Return the CPU time of a decision, over all `SIDES`, in seconds; `_PER_MATCH` is subtracted for each match."""
    per_decision = sum(ladder[f"{side}_cpu_us_per_decision"].median for side in SIDES) / 1e6
    return per_decision - _PER_MATCH * ladder["matches_per_s"].median / ladder["decisions_per_s"].median


def machine_figures() -> dict[str, Any]:
    """Return a description of this machine, its load, and the versions of the packages that are measured."""
    packages = ("arena", "grpcio", "protobuf", "trueskill", "sqlite-utils")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load_before": rounded(os.getloadavg()[0]),
        "core": "on" if find_core().on else f"off ({find_core().why})",
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    with open("/proc/cpuinfo") as lines:
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return next(names, platform.machine())


def rounded(value: float) -> float:
    """Return the value to four significant digits."""
    return float(f"{value:.4g}")
