"""Plots, as SVG made on the server: they need no script, and can be printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from arena.reports.bot_card import TimeBucket
    from arena.reports.history_report import BotHistory, RatingHistory
    from arena.reports.leaderboard_report import EstimateColumns

_WIDTH, HEIGHT = 800, 320
"""Size of a plot, in units that all distances here have."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 150, 10, 34
"""Space around a plot for its axes and, on the right, for names."""
_COLOURS = 5
"""Colours of bots: `--seat-0` and so on. After the last one they begin anew, so bots are also named at their lines."""
BANDED = 6
"""Lines that have bands at most: more bands would hide each other."""
PLOT_LINES = 12
"""Lines at most: more would hide each other, and their names would not fit at the right."""
NAMES_APART = 14
"""Least distance of two names at the right."""


def interval(points: EstimateColumns | None) -> Markup:
    """Draw a share of points, 0 to 1, as a dot, and its interval as a bar; the line in the middle is a half."""
    if points is None:
        return Markup("")
    low, mean, high = (round(100 * value, 1) for value in (points.low, points.mean, points.high))
    return Markup(
        '<svg class="interval" viewBox="0 0 100 12" aria-hidden="true" focusable="false" preserveAspectRatio="none">'
        '<path class="half" d="M50,0v12"/><path class="axis" d="M0,6h100"/>'
        f'<rect x="{low}" y="3" width="{max(high - low, 0.6):.1f}" height="6"/>'
        f'<path class="mean" d="M{mean},0v12"/></svg>'
    )


def rating_plot(history: RatingHistory) -> Markup:
    """Draw mu of every bot over the matches of the ladder, in a band of two sigma to either side."""
    lines = [bot for bot in history.bots if len(bot.points) > 1]
    if not lines:
        return Markup("")
    values = [
        value for bot in lines for point in bot.points[len(bot.points) // 4 :] for value in _band(point.mu, point.sigma)
    ]
    first = min(bot.points[0].matches for bot in lines)
    plot = _Plot(first, history.matches, min(values), max(values), banded=len(lines) <= BANDED)
    drawn = [*plot.axes(), *(part for number, bot in enumerate(lines) for part in plot.line(number, bot))]
    return _svg(_WIDTH, HEIGHT, "Ratings over the matches of the ladder", [*drawn, *plot.names(lines)])


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> Markup:
    head = f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    return Markup(f"{head}{''.join(parts)}</svg>")


def _band(mu: float, sigma: float) -> tuple[float, float]:
    return mu - 2 * sigma, mu + 2 * sigma


def _class(number: int) -> str:
    """Name the colour and the dashes of a line: no two lines have both in common."""
    return f"line-{number % _COLOURS} dash-{(number + number // _COLOURS) % _COLOURS}"


class _Plot:
    """Places of numbers in a plot."""

    def __init__(self, first: int, last: int, low: float, high: float, *, banded: bool) -> None:
        self._banded = banded
        self._first, self._last = first, max(last, first + 1)
        self._low, self._high = low, max(high, low + 1)

    def x(self, matches: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * (matches - self._first) / (self._last - self._first), 1)

    def y(self, value: float) -> float:
        inside = min(max(value, self._low), self._high)
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * (inside - self._low) / (self._high - self._low), 1)

    def axes(self) -> Iterator[str]:
        for value in _ticks(self._low, self._high):
            y = self.y(value)
            yield f'<path class="grid" d="M{_LEFT},{y}H{_WIDTH - _RIGHT}"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{value:+zg}</text>'
        for value in _ticks(self._first, self._last):
            yield f'<text x="{self.x(value)}" y="{HEIGHT - 16}" text-anchor="middle">{value:,.0f}</text>'
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        yield f'<text x="{middle}" y="{HEIGHT - 2}" text-anchor="middle">rated matches of the ladder</text>'

    def line(self, number: int, bot: BotHistory) -> Iterator[str]:
        colour = _class(number)
        above = [f"{self.x(point.matches)},{self.y(point.mu + 2 * point.sigma)}" for point in bot.points]
        below = [f"{self.x(point.matches)},{self.y(point.mu - 2 * point.sigma)}" for point in reversed(bot.points)]
        middle = " ".join(f"{self.x(point.matches)},{self.y(point.mu)}" for point in bot.points)
        if self._banded:
            yield f'<polygon class="band {colour}" points="{" ".join(above + below)}"/>'
        yield f'<polyline class="line {colour}" points="{middle}"><title>{escape(bot.bot)}</title></polyline>'

    def names(self, bots: Sequence[BotHistory]) -> Iterator[str]:
        """Yield the names at the ends of the lines, moved where they would lie on each other or below the plot."""
        ends = sorted((self.y(bot.points[-1].mu), number, bot) for number, bot in enumerate(bots))
        free, last = 0.0, HEIGHT - 4 - NAMES_APART * len(ends)
        for end, number, bot in ends:
            last += NAMES_APART
            y = min(max(end + 4, free), last)
            free = y + NAMES_APART
            yield f'<path class="line {_class(number)}" d="M{_WIDTH - _RIGHT + 4},{y - 4}h16"/>'
            yield f'<text x="{_WIDTH - _RIGHT + 24}" y="{y}">{escape(bot.bot[:20])}</text>'


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers between two others."""
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough)) if rough > 0 else 1
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step) + 1)]


def histogram(buckets: Sequence[TimeBucket], limit_ms: float) -> Markup:
    """Draw how many decisions took how long; both axes are logarithmic, and a line marks the limit."""
    if not buckets:
        return Markup("")
    first = math.log10(buckets[0].up_to_ms) - 0.1
    last = max(math.log10(buckets[-1].up_to_ms), math.log10(limit_ms)) + 0.15
    most = math.log10(1 + max(bucket.decisions for bucket in buckets))
    width, height, margin = 800, 170, 10

    def x(milliseconds: float) -> float:
        return round(margin + (width - 2 * margin) * (math.log10(milliseconds) - first) / (last - first), 1)

    bars = [_bar(x(bucket.up_to_ms / 2**0.25), x(bucket.up_to_ms), bucket, most) for bucket in buckets]
    ticks = [10.0**power for power in range(math.ceil(first), math.floor(last) + 1)]
    axis = [f'<text x="{x(tick)}" y="166" text-anchor="middle">{_ms(tick)}</text>' for tick in ticks]
    at = x(limit_ms)
    mark = f'<path class="limit" d="M{at},6V146"/><text x="{at - 5}" y="16" text-anchor="end">limit</text>'
    ground = f'<path class="grid" d="M{margin},146H{width - margin}"/>'
    return _svg(width, height, "Times of decisions", [ground, *bars, *axis, mark])


def _bar(begin: float, end: float, bucket: TimeBucket, most: float) -> str:
    height = round(125 * math.log10(1 + bucket.decisions) / most, 1)
    tooltip = f"up to {bucket.up_to_ms:.3g} ms: {bucket.decisions:,} decisions"
    return (
        f'<rect class="bar" x="{begin}" y="{146 - height}" width="{max(end - begin - 1, 1):.1f}" height="{height}">'
        f"<title>{tooltip}</title></rect>"
    )


def _ms(milliseconds: float) -> str:
    return f"{milliseconds / 1000:g} s" if milliseconds >= 1000 else f"{milliseconds:g} ms"
