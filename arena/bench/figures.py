"""Samples, what is made of them, and the machine they come from."""

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
"""Measures once."""

SIDES = ("referee", "bots", "coordinator")
"""Whose CPU time is measured."""
PER_MATCH = 0.0005
"""Seconds of a match that are not laid at the door of its decisions."""


class Part(NamedTuple):
    """Something to measure; `case` is a game and its players, such as "buttons/2", or what else tells cases apart."""

    kind: str
    case: str
    open: Callable[[], AbstractContextManager[Sampler]]
    once: bool = False
    """Whether one repeat is enough: it takes long, and is not compared by seconds."""
    on_demand: bool = False
    """Whether it takes so long that it is measured only where it is named."""

    @property
    def name(self) -> str:
        """As `--only` takes it."""
        return f"{self.kind}/{self.case}"


class Spread(NamedTuple):
    """A measure over all repeats."""

    median: float
    min: float
    max: float


Figures: TypeAlias = dict[str, dict[str, dict[str, Spread]]]
"""By kind, case and measure."""
Ratios: TypeAlias = dict[str, dict[str, float]]
"""By what is compared, and case."""


def spreads(samples: Sequence[Sample]) -> dict[str, Spread]:
    """Median, least and greatest of every measure, to four digits."""
    values = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {name: Spread(*(_digits(of(each)) for of in (median, min, max))) for name, each in values.items()}


def ratios(figures: Figures) -> Ratios:
    """How parts compare, from the medians as printed; only what was measured on both sides."""
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
    """Seconds of CPU of referees, bots and coordinator for a decision, when each match has had its fixed share."""
    per_decision = sum(ladder[f"{side}_cpu_us_per_decision"].median for side in SIDES) / 1e6
    return per_decision - PER_MATCH * ladder["matches_per_s"].median / ladder["decisions_per_s"].median


def machine() -> dict[str, Any]:
    """Where and with what it was measured."""
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
