"""Measures what the statistics promise, on a thousand simulated ladders for each figure: `python -m tests.statistics`.

It takes about ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from tests.statistics.promises import comparisons, coverage, crowd, equal_called_different, order, shuffled
from tests.statistics.simulated import Size

LADDERS = 1000
SPREAD = 2.0
"""Standard deviation of the bots' strengths; that of the luck in a match is 3.5 for each bot."""
STEP = 0.7
"""Difference in strength between two neighbours, where the order of the bots is tested."""
GROUPS = 1000
SIZES = (Size(4, 2, 5), Size(4, 2, 20), Size(6, 2, 20), Size(5, 3, 1), Size(6, 4, 1))
PARTLY = ((Size(4, 2, 2), 0.75), (Size(12, 2, 2), 0.6), (Size(30, 2, 2), 0.55))
"""Ladders that end on a budget in the second round, and what part of the two rounds they play."""
CROWDS = ((Size(300, 2, 1), 5), (Size(30, 2, 1), 100), (Size(30, 4, 1), 30))
"""Ladders of one round of many bots, and how many of them are played."""
FEW = (Size(2, 2, 5), Size(4, 2, 1), Size(4, 2, 3))


def main() -> None:
    """Measure and print all figures, one line for each."""
    click.echo(f"{LADDERS:,} simulated ladders or comparisons behind each line")
    for size in SIZES:
        _line(f"95 % intervals hold the truth, {size}", partial(coverage, size, SPREAD, LADDERS))
    for size, part in PARTLY:
        measure = partial(coverage, size, SPREAD, LADDERS // 10, part=part)
        _line(f"95 % intervals hold the truth, {part} of {size}, {LADDERS // 10} ladders", measure)
    for size, ladders in CROWDS:
        _line(f"95 % intervals of points, {size}, {ladders} ladders", partial(crowd, size, SPREAD, ladders))
    for size in (*FEW, *SIZES):
        _line(f"equal bots called different, {size}", partial(equal_called_different, size, LADDERS))
    for size in (Size(6, 2, 20), Size(5, 3, 3)):
        _line(f"pairs in the right order, bots {STEP} apart, {size}", partial(order, size, STEP, LADDERS))
    for size in (Size(6, 2, 5), Size(5, 3, 1)):
        _line(f"most that shuffling moves a settled mu, {size}", partial(shuffled, size, SPREAD, LADDERS))
    for gap in (0.0, 0.5, 1.0):
        _line(f"comparisons of bots {gap} apart, up to {GROUPS:,} groups", partial(comparisons, gap, GROUPS, LADDERS))


def _line(what: str, measure: Callable[[], object]) -> None:
    found = measure()
    named = found._asdict().items() if isinstance(found, tuple) and hasattr(found, "_asdict") else [("", found)]
    click.echo(f"{what}: " + ", ".join(f"{name.replace('_', ' ')} {value:.4g}".strip() for name, value in named))


if __name__ == "__main__":
    main()
