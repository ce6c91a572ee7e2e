"""Tables and data that say how sure a leaderboard is: head to head, chances of places, seats, shared dice."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from arena.reports.words import percent, zero_bots
from arena.terminal.output import console, measured, table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from arena.reports.leaderboard_report import EstimateColumns, HeadToHead


_SURE = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""
_PLOT = 48
"""Width of a plot in columns, if the terminal has room for that."""


def plot_picture(bots: Mapping[str, tuple[float, float]], zero: Collection[str]) -> list[RenderableType]:
    """Draw the skill of each bot, given as mean and standard deviation, with its 95 % interval, on one scale.

    The line through 0 is the mean of the bots in `zero` or, if there are none, of the field.
    """
    ends = [end for mu, sigma in bots.values() for end in (mu - _SURE * sigma, mu + _SURE * sigma)]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = console().width - max(map(len, bots)) - 4
    width = max(10, min(_PLOT, room))

    def column(value: float) -> int:
        return round((value - low) / (high - low) * (width - 1))

    rows = table("bot", f"mu, {low:+z.1f} to {high:+z.1f}")
    for bot, (mu, sigma) in bots.items():
        line = [" "] * width
        line[column(0.0)] = "┊"
        begin, end = column(mu - _SURE * sigma), column(mu + _SURE * sigma)
        line[begin : end + 1] = ["├", *"─" * (end - begin - 1), "┤"] if end > begin else ["┼"]
        line[column(mu)] = "●"
        rows.add_row(bot, "".join(line))
    return [f"\nestimated skill with its 95 % interval; ┊ is the mean of {zero_bots(zero)}", rows]


def cross_picture(
    met: Sequence[HeadToHead], bots: Mapping[str, tuple[int, str]], places: Mapping[str, Sequence[float]]
) -> list[RenderableType]:
    """Make two tables: points that the row's bot took from the column's, in percent; and the chances of each place.

    `bots` are their ranks and their names for people by label, the best first.
    """
    cells = {(meeting.bot, meeting.other): f"{percent(meeting)} in {meeting.groups:,}" for meeting in met}
    cross = [_cross(cells, bots, range(len(bots)))]
    if measured(cross[0]).maximum > console().width:
        stacked = {pair: _stacked(cell) for pair, cell in cells.items()}
        cross = _pages(partial(_cross, stacked, bots), len(bots))
    title = (
        "\n% of the points that each bot took from the bot of each rank,"
        "\nwith a 95 % interval, in how many groups of matches on the same dice"
    )
    pictures: list[RenderableType] = [title, *_apart(cross)]
    if places:
        most = max(map(len, places.values()))
        chances = _pages(
            partial(_chances, {bots[label][1]: chances_of_bot for label, chances_of_bot in places.items()}), most
        )
        pictures += ["\n% chance of each place among these in the field, by points", *_apart(chances)]
    return pictures


def _apart(tables: Sequence[Table]) -> Iterator[RenderableType]:
    """Yield the tables with an empty line between them."""
    for number, part in enumerate(tables):
        if number:
            yield ""
        yield part


def _pages(make: Callable[[range], Table], columns: int) -> list[Table]:
    """Make as few tables, one below the other, as hold so many columns within the width of the terminal."""
    for count in range(1, columns + 1):
        width = math.ceil(columns / count)
        pages = [make(range(columns)[begin : begin + width]) for begin in range(0, columns, width)]
        if all(measured(page).maximum <= console().width for page in pages):
            break
    return pages


def _chances(places: Mapping[str, Sequence[float]], columns: range) -> Table:
    """Make the table of some places, by their indexes."""
    heads = [str(column + 1) for column in columns]
    chances = table("bot", *heads, right=heads)
    for bot, chances_of_bot in places.items():
        chances.add_row(
            bot,
            *(f"{100 * chances_of_bot[column]:.0f}" if chances_of_bot[column] >= 0.005 else "" for column in columns),
        )
    return chances


def _cross(cells: Mapping[tuple[str, str], str], bots: Mapping[str, tuple[int, str]], columns: range) -> Table:
    """Make the table of some columns, by the indexes of their bots."""
    rivals = [*bots][columns.start : columns.stop]
    heads = [str(bots[rival][0]) for rival in rivals]
    cross = table("rank", "bot", *heads, right=["rank", *heads])
    for bot, (rank, name) in bots.items():
        cross.add_row(str(rank), name, *(cells.get((bot, rival), "–") if rival != bot else "" for rival in rivals))
    return cross


def _stacked(cell: str) -> str:
    """Break a cell into three lines, for a narrow terminal."""
    for part in ("±", " (", " in"):
        cell = cell.replace(part, "\n" + part.strip())
    return cell


def seat_picture(seats: Sequence[EstimateColumns], saved: float | None) -> list[RenderableType]:
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
