"""Tables and data that say how sure a leaderboard is: head to head, chances of places, seats, shared dice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from arena.cli.output import console, measured, table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from arena.reports.leaderboard import Estimate, HeadToHead


def percent(estimate: Estimate | HeadToHead | None) -> str:
    """Return a share of points with its interval, in percent: "53.1±1.4", or "98.2 (93–100)" if it is not symmetric.

    Return "–" if nothing is known.
    """
    if estimate is None or (estimate.low, estimate.high) == (0.0, 1.0):
        return "–"
    mean, low, high = (100 * value for value in (estimate.mean, estimate.low, estimate.high))
    if math.isclose(high - mean, mean - low, abs_tol=0.05):
        return f"{mean:.1f}±{high - mean:.1f}"
    digits = 0 if high - low > 1 else 1  # with none, 99.8 would seem to lie between 100 and 100
    return f"{mean:.1f} ({low:.{digits}f}–{high:.{digits}f})"


def cross_picture(
    met: Sequence[HeadToHead], bots: Sequence[str], places: Mapping[str, Sequence[float]]
) -> list[RenderableType]:
    """Make two tables: points that the row's bot took from the column's, in percent; and the chances of each place."""
    columns = [str(place) for place in range(1, len(bots) + 1)]
    cells = {(each.bot, each.other): f"{percent(each)} of {each.groups:,}" for each in met}
    cross = _cross(cells, bots, columns)
    if measured(cross).maximum > console().width:
        cross = _cross({pair: _stacked(cell) for pair, cell in cells.items()}, bots, columns)
    most = max(map(len, places.values()), default=0)
    chances = table("bot", *columns[:most], right=columns)
    for bot, own in places.items():
        chances.add_row(bot, *(f"{100 * chance:.0f}" if chance >= 0.005 else "" for chance in own))
    pictures: list[RenderableType] = ["\n% of the points taken from the bot of each rank, of how many groups", cross]
    return [*pictures, "\n% chance of each place in the field, by points", chances] if chances.rows else pictures


def _cross(cells: Mapping[tuple[str, str], str], bots: Sequence[str], columns: Sequence[str]) -> Table:
    cross = table("rank", "bot", *columns, right=["rank", *columns])
    for place, bot in enumerate(bots, 1):
        row = [cells.get((bot, other), "–") if other != bot else "" for other in bots]
        cross.add_row(str(place), bot, *row)
    return cross


def _stacked(cell: str) -> str:
    """Break a cell into three lines, for a narrow terminal."""
    for part in ("±", " (", " of"):
        cell = cell.replace(part, "\n" + part.strip())
    return cell


def seat_picture(seats: Sequence[Estimate], saved: float | None) -> list[RenderableType]:
    """Make a table of what each seat is worth, and a line about what the shared dice saved."""
    rows = table("seat", "points", "groups", right=["seat", "points", "groups"])
    for seat, estimate in enumerate(seats):
        rows.add_row(str(seat), percent(estimate), f"{estimate.groups:,}")
    pictures: list[RenderableType] = ["\n% of the points by seat", rows]
    return pictures if saved is None else [*pictures, _saved(saved)]


def _saved(saved: float) -> str:
    if saved == 1:
        return "the shared dice saved all of the variance: every group was split alike"
    part = f"{100 * abs(saved):.0f} % of the variance"
    worth = f"{1 / (1 - saved):.2f} on dice of their own"
    return f"the shared dice {'saved' if saved >= 0 else 'added'} {part}: a match on them says as much as {worth}"
