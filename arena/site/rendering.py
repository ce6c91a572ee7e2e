"""How pages are made of templates: what they may use besides what they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from arena.base.suggest import printable
from arena.reports import words
from arena.site import plots

PLAYS: ContextVar[bool] = ContextVar("plays", default=False)
"""Whether people can play on the site that answers the request: then its pages lead to the tables.

Pages are made only to answer a request, so nobody else need set it.
"""


_NEGATIVE_ZERO = re.compile(r"-(?=0(\.0*)?(?![\d.]))")
"""The sign of a number that is 0 as it is written."""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("arena.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "by_rank": _by_rank,
        "called": words.called,
        "count": "{:,}".format,
        "format": formatted,
        "milliseconds": words.milliseconds_text,
        "moment": _moment,
        "more_groups": words.more_groups,
        "pace": words.pace_text,
        "percent": words.percent,
        "printable": printable,
        "probability": percent_text,
        "span": words.span,
        "when": time_element,
        "why": words.why,
        "zero_bots": words.zero_bots,
    }
    environment.globals |= {"game_title": words.game_title, "interval": plots.interval, "words": words}
    return environment


def render(template: str, **values: Any) -> str:
    """Return a page made of a template."""
    return _environment().get_template(template).render(values, plays=PLAYS.get())


def formatted(pattern: str, *values: object) -> str:
    """Return values as text; what is rounded to 0 from below has no minus."""
    return _NEGATIVE_ZERO.sub("+" if "%+" in pattern else "", pattern % values)


def time_element(seconds: float | None) -> str:
    """Return a point in time, in seconds since 1970, as text."""
    return "never" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _moment(seconds: float) -> str:
    """Return a point in time as short text, for lists."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%d %b %H:%M")


def percent_text(value: float) -> str:
    """Return a probability in percent; never all or nothing, since it is computed from what was played."""
    if 0.001 <= value <= 0.999:
        return f"{100 * value:.1f} %"
    return "more than 99.9 %" if value > 0.5 else "less than 0.1 %"


def _by_rank(ranks: Sequence[int]) -> Sequence[int]:
    """Return the seats in the order of their ranks."""
    return sorted(range(len(ranks)), key=ranks.__getitem__)
