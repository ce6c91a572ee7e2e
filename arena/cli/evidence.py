"""Tables and data that say how sure a leaderboard is: head to head, chances of places, seats, shared dice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.cli.output import console, measured, table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ladder.statistics import Estimate, Evidence


def percent(estimate: Estimate | None) -> str:
    """Return a share of points with its interval, in percent: "53.1±1.4", or "98.2 (93–100)" if it is not symmetric.

    Return "–" if nothing is known.
    """
    if estimate is None or (estimate.low, estimate.high) == (0.0, 1.0):
        return "–"
    mean, low, high = (100 * value for value in estimate[:3])
    if math.isclose(high - mean, mean - low, abs_tol=0.05):
        return f"{mean:.1f}±{high - mean:.1f}"
    digits = 0 if high - low > 1 else 1  # with none, 99.8 would seem to lie between 100 and 100
    return f"{mean:.1f} ({low:.{digits}f}–{high:.{digits}f})"


def cross_data(evidence: Evidence, bots: Sequence[str], field: Sequence[str]) -> dict[str, Any]:
    """Return every bot's result against every other that it met, and the field's chances of each place, best first.

    The places are by points.
    """
    met = [(one, other, evidence.head_to_head(one, other)) for one in bots for other in bots if one != other]
    return {
        "cross": [
            {"bot": one, "other": other, **estimate._asdict(), "above": evidence.above(one, other)}
            for one, other, estimate in met
            if estimate is not None
        ],
        "places": evidence.places(field),
    }


def seat_data(evidence: Evidence) -> dict[str, Any]:
    """Return the share of points of each seat, and the part of the variance that the shared dice saved."""
    return {"seats": [estimate._asdict() for estimate in evidence.seats()], "saved": evidence.saved()}


def cross_picture(evidence: Evidence, bots: Sequence[str], field: Sequence[str]) -> list[RenderableType]:
    """Return tables of the points that each row's bot takes from each column's, and of the field's chances of places.

    Both are in percent; the points come with the number of groups.
    """
    columns = [str(place) for place in range(1, len(bots) + 1)]
    cross = _cross(evidence, bots, columns)
    if measured(cross).maximum > console().width:
        cross = _cross(evidence, bots, columns, stacked=True)
    chances = table("bot", *columns[: len(field)], right=columns)
    for bot, places in evidence.places(field).items():
        chances.add_row(bot, *(f"{100 * chance:.0f}" if chance >= 0.005 else "" for chance in places))
    pictures: list[RenderableType] = ["\n% of the points taken from the bot of each rank, of how many groups", cross]
    return [*pictures, "\n% chance of each place in the field, by points", chances] if chances.rows else pictures


def _cross(evidence: Evidence, bots: Sequence[str], columns: Sequence[str], *, stacked: bool = False) -> Table:
    """Return the table of bots against bots, each cell in one line or, if `stacked`, in three for a narrow terminal."""
    cross = table("rank", "bot", *columns, right=["rank", *columns])
    for place, bot in enumerate(bots, 1):
        cells = [_cell(evidence, bot, other) if other != bot else "" for other in bots]
        cross.add_row(str(place), bot, *(_stacked(cell) if stacked else cell for cell in cells))
    return cross


def _cell(evidence: Evidence, bot: str, other: str) -> str:
    estimate = evidence.head_to_head(bot, other)
    return "–" if estimate is None else f"{percent(estimate)} of {estimate.groups:,}"


def _stacked(cell: str) -> str:
    for part in ("±", " (", " of"):
        cell = cell.replace(part, "\n" + part.strip())
    return cell


def seat_picture(evidence: Evidence) -> list[RenderableType]:
    """Return a table of the points by seat, and a sentence on what the shared dice saved."""
    rows = table("seat", "points", "groups", right=["seat", "points", "groups"])
    for seat, estimate in enumerate(evidence.seats()):
        rows.add_row(str(seat), percent(estimate), f"{estimate.groups:,}")
    saved = evidence.saved()
    pictures: list[RenderableType] = ["\n% of the points by seat", rows]
    return pictures if saved is None else [*pictures, _saved(saved)]


def _saved(saved: float) -> str:
    if saved == 1:
        return "the shared dice saved all of the variance: every group was split alike"
    part = f"{100 * abs(saved):.0f} % of the variance"
    worth = f"{1 / (1 - saved):.2f} on dice of their own"
    return f"the shared dice {'saved' if saved >= 0 else 'added'} {part}: a match on them says as much as {worth}"
