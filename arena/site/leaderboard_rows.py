"""Which rows of a leaderboard a page shows: those that its address asks for, sorted, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from arena.reports.leaderboard_columns import BY_NAME, Zero

if TYPE_CHECKING:
    from starlette.requests import Request

    from arena.reports.leaderboard_report import RankedBot
    from ladder.store.records import Row

_NEAR = 2
"""Pages before and after the one that is shown, to which links lead; others are reached through these."""

_Listed = TypeVar("_Listed")


class Asked(NamedTuple):
    """What an address asks for."""

    sort: str
    """Name of a column."""
    bots: str
    """Labels, names or parts of them, with commas between; all if empty."""
    around: str
    """Part of the label or the name of a bot that the page is to show; the page has a number if empty."""
    number: int
    """Number of the page, from 1."""

    @classmethod
    def of(cls, request: Request) -> Asked:
        """Return what a request asks for; what makes no sense asks for nothing."""
        asked = {name: request.query_params.get(name, "") for name in ("sort", "bots", "around", "page")}
        number = int(asked["page"]) if asked["page"].isascii() and asked["page"].isdigit() else 1
        sort = asked["sort"] if asked["sort"] in BY_NAME else "rank"
        return cls(sort, asked["bots"], asked["around"].strip(), number)


class Rows:
    """The rows of a page; what it says of the pages is known once they were chosen or arranged."""

    def __init__(self, asked: Asked, titles: Mapping[str, str], size: int) -> None:
        self.asked = asked
        self.number = self.pages = 1
        """Number of the page, from 1, and of all of them."""
        self.count = 0
        """Number of bots on all pages."""
        self.marked: str | None = None
        """Label of the bot that was asked for."""
        self._titles = titles
        self._size = size
        self._is_chosen = False

    def choose(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return those rows of a leaderboard that the page shows by rank."""
        self._is_chosen = True
        wanted = [row for row in rows if self._is_wanted(row.label)]
        return self._page(wanted, [row.label for row in wanted])

    def arranged(self, bots: Sequence[RankedBot], zero: Zero) -> Sequence[RankedBot]:
        """Return the bots that the page shows, unless that is what they are already."""
        if self._is_chosen:
            return bots
        wanted = _sorted([bot for bot in bots if self._is_wanted(bot.bot)], self.asked.sort, zero)
        return self._page(wanted, [bot.bot for bot in wanted])

    def address(self, **changed: str | int) -> str:
        """Return the query of another view: the same sorting and search, and what is changed."""
        asked = {"sort": self.asked.sort, "bots": self.asked.bots} | changed
        return "?" + urlencode({name: value for name, value in asked.items() if value})

    def near(self) -> Iterator[int]:
        """Yield the pages to which links lead: the first, the last, and those near the one that is shown."""
        for number in range(1, self.pages + 1):
            if number in (1, self.pages) or abs(number - self.number) <= _NEAR:
                yield number

    @property
    def span(self) -> tuple[int, int]:
        """Which bots of all that are asked for the page shows: the number of the first and of the last, from 1."""
        begin = (self.number - 1) * self._size
        return begin + 1, min(begin + self._size, self.count)

    def _page(self, listed: Sequence[_Listed], labels: Sequence[str]) -> Sequence[_Listed]:
        """Return the page of a list that was asked for, or the one with the bot that was."""
        self.count, self.pages = len(listed), max(1, -(-len(listed) // self._size))
        self.number = min(max(1, self.asked.number), self.pages)
        if self.asked.around:
            place = next(
                (place for place, label in enumerate(labels) if self._is_called(label, self.asked.around)), None
            )
            if place is not None:
                self.marked, self.number = labels[place], place // self._size + 1
        return listed[(self.number - 1) * self._size :][: self._size]

    def _is_wanted(self, label: str) -> bool:
        parts = [part for part in self.asked.bots.split(",") if part.strip()]
        return not parts or any(self._is_called(label, part) for part in parts)

    def _is_called(self, label: str, part: str) -> bool:
        """Tell whether a text is part of the label of a bot, or of its name for people."""
        return part.strip().lower() in f"{label} {self._titles.get(label.partition('@')[0], '')}".lower()


def _sorted(bots: Sequence[RankedBot], name: str, zero: Zero) -> Sequence[RankedBot]:
    """Return the bots by a column; those without a value come last."""
    column = BY_NAME[name]
    values: dict[str, Any] = {bot.bot: column.value(bot, zero) for bot in bots}
    known = [bot for bot in bots if values[bot.bot] is not None]
    unknown = [bot for bot in bots if values[bot.bot] is None]
    return [*sorted(known, key=lambda bot: values[bot.bot], reverse=not column.is_rising), *unknown]
