"""What is made of samples."""

from __future__ import annotations

import pytest

from arena.bench import bench_run, simulated_hosts
from arena.bench import figures as measuring
from arena.bench.figures import SIDES, Figures, ratios, spreads


def rates(matches: float, decisions: float) -> dict[str, float]:
    cpu = {f"{side}_cpu_us_per_decision": 25.0 for side in SIDES}
    return {"matches_per_s": matches, "decisions_per_s": decisions, **cpu}


def figures(**kinds: dict[str, dict[str, float]]) -> Figures:
    return {kind: {case: spreads([sample]) for case, sample in cases.items()} for kind, cases in kinds.items()}


def test_a_spread_is_median_least_and_most() -> None:
    """One slow repeat must show without moving the figure."""
    (spread,) = spreads([{"x": 5.0}, {"x": 1.0}, {"x": 4.0}]).values()
    assert spread == (4.0, 1.0, 5.0)


def test_parts_are_compared_case_by_case() -> None:
    """A game's ladder says nothing beside another game's floor."""
    measured = figures(
        ladder={"birth/2": rates(100, 2000), "buttons/2": rates(10, 1000)}, raw_grpc={"birth/2": rates(1, 8000)}
    )
    assert ratios(measured)["ladder/raw_grpc"] == {"birth/2": 0.25}


def test_what_was_not_measured_is_not_compared() -> None:
    """`--only` leaves out either side."""
    assert ratios(figures(raw_grpc={"birth/2": rates(1, 8000)})) == {}


def test_a_match_takes_its_own_time_before_decisions_are_compared() -> None:
    """Short matches have more starts and ends, which must not make their decisions look dear."""
    measured = figures(ladder={"buttons/2": rates(100, 10000), "birth/2": rates(1000, 10000)})
    assert ratios(measured)["cost of a decision/buttons/2"]["birth/2"] == pytest.approx(45 / 72, rel=1e-3)


def test_the_notes_name_what_was_assumed() -> None:
    """They stand beside the figures, which mean nothing without."""
    notes = "\n".join(bench_run._NOTES)
    assert f"less {measuring._PER_MATCH * 1000:g} ms for each match" in notes
    assert f"fed by {bench_run._HOSTS} simulated hosts of {simulated_hosts._CORES} cores" in notes
