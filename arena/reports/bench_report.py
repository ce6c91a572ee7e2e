"""What `arena bench` measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.reports.base import Report


class Bench(Report):
    """Figures of every part, by part, case and measure; the unit is in each measure's name."""

    ratios: Mapping[str, Mapping[str, float]]
    """Ratios of two parts, by name and case."""
    machine: Mapping[str, Any]
    """What it was measured on."""
    method: Mapping[str, Any]
    """How it was measured."""
    figures: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]
    """The median, the least and the most of the repeats."""
