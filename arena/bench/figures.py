"""Samples, the figures and ratios computed from them, and the machine they come from."""

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

Sample: TypeAlias = Mapping[str, float]
"""What one repeat of a part measured; the unit is in each name."""
Sampler: TypeAlias = Callable[[], Sample]
"""Function that measures a part once."""

SIDES = ("referee", "bots", "coordinator")
"""The sides whose CPU time is measured; the coordinator is the benchmark's own process."""
PER_MATCH = 0.0005
"""Seconds of CPU that a match is taken to cost apart from its decisions."""


class Part(NamedTuple):
    """Something to measure; `case` is a game and its players, as in "buttons/2", or whatever else tells cases apart."""

    kind: str
    case: str
    open: Callable[[], AbstractContextManager[Sampler]]
    once: bool = False
    """Whether one repeat is enough, since the part takes long and its rates are not compared."""
    on_demand: bool = False
    """Whether the part takes so long that it is measured only if it is named."""

    @property
    def name(self) -> str:
        """The name that `--only` takes."""
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
    """Return median, least and greatest value of every measure, to four digits."""
    values = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {name: Spread(*(_digits(of(each)) for of in (median, min, max))) for name, each in values.items()}


def ratios(figures: Figures) -> Ratios:
    """Compare parts by their medians as printed, as far as both sides of a ratio were measured."""
    found: Ratios = {}
    for floor in ("raw_grpc", "raw_single", "unbatched"):
        for case, ladder in figures.get("ladder", {}).items():
            if other := figures.get(floor, {}).get(case):
                share = ladder["decisions_per_s"].median / other["decisions_per_s"].median
                found.setdefault(f"ladder/{floor}", {})[case] = _digits(share)
    costs = {case: cost(ladder) for case, ladder in figures.get("ladder", {}).items()}
    if reference := costs.get(str(REFERENCE)):
        found[f"cost of a decision/{REFERENCE}"] = {case: _digits(own / reference) for case, own in costs.items()}
    return found


def cost(ladder: Mapping[str, Spread]) -> float:
    """Return the seconds of CPU, of all sides, that a decision costs after `PER_MATCH` is taken off for each match."""
    per_decision = sum(ladder[f"{side}_cpu_us_per_decision"].median for side in SIDES) / 1e6
    return per_decision - PER_MATCH * ladder["matches_per_s"].median / ladder["decisions_per_s"].median


def machine() -> dict[str, Any]:
    """Return on which machine and with which packages the figures are measured."""
    packages = ("arena", "grpcio", "protobuf", "trueskill", "sqlite-utils")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "load_before": _digits(os.getloadavg()[0]),
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    with open("/proc/cpuinfo") as lines:
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return next(names, platform.machine())


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
