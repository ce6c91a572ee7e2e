"""What bots print, sorted by the matches that their processes hold.

A process holds many matches at once. A line belongs to one of them if its tag says so, which the `log` of the SDKs puts
before it, or if the process held no other match when it came. What else it prints is kept per process, in numbered
pieces; a match knows which of them came while it was in play.
"""

from __future__ import annotations

import re
import secrets
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from arena.referee.seat import BotSeat

Line: TypeAlias = tuple[int | None, str]
"""The number of the decision that a line belongs to, None if it belongs to none, and the line."""

_TAG = re.compile(rb"\x1e(\d{1,10})(?::(\d{1,10}))?(?: (.*))?", re.DOTALL)
"""A tagged line: the byte 30, the number of the match on the stream, and perhaps that of the decision."""
HALF = 30 * 1024
"""Bytes kept of the first, and again of the last, that a bot prints in a match. With `LATE_BYTES` they are 64 KiB."""
LATE_BYTES = 4 * 1024
"""Bytes kept of what a bot prints about a match that has ended."""
WIDTH = 4096
"""Bytes kept of a line."""
LINE = 48
"""Bytes that a line counts for beyond its text: many short lines are as much work as a few long ones."""
A_SECOND = 1024 * 1024
"""Bytes that are sorted for one process within one second, so that no bot keeps the referee busy by printing."""
REMEMBERED = 512
"""Number of matches of a process that may still be printed about when they have ended. It bounds memory."""


class Logged(NamedTuple):
    """What a bot printed in a match that has a result; what it prints later comes as another one."""

    match: str
    seat: int
    label: str
    lines: tuple[Line, ...]
    process: str
    since: int
    """Number of the first of the process's pieces that came while the match was in play."""
    until: int
    """Number of the first piece that came later."""


class Piece(NamedTuple):
    """What a process printed, between two beginnings or ends of matches, that belongs to no match by itself."""

    process: str
    number: int
    label: str
    lines: tuple[Line, ...]


Sink: TypeAlias = list[Logged | Piece]


class _Page:
    """The first and the last of some lines, kept as the bytes that they count for."""

    def __init__(self, half: int = HALF) -> None:
        self._half = half
        self._first: list[tuple[int | None, bytes]] = []
        self._last: deque[tuple[int | None, bytes]] = deque()
        self._room, self._size, self._left_out = half, 0, 0

    def __bool__(self) -> bool:
        return bool(self._first or self._last)

    def add(self, decision: int | None, line: bytes) -> None:
        size = len(line) + LINE
        if not self._last and size <= self._room:
            self._room -= size
            self._first.append((decision, line))
            return
        self._last.append((decision, line))
        self._size += size
        while self._size > self._half and len(self._last) > 1:
            self._size -= len(self._last.popleft()[1]) + LINE
            self._left_out += 1

    def lines(self) -> tuple[Line, ...]:
        gap: list[Line] = [(None, f"[{self._left_out:,} lines left out]")] if self._left_out else []
        first, last = ([(at, _text(line)) for at, line in half] for half in (self._first, self._last))
        return (*first, *gap, *last)


class _Held:
    """A match that the process holds, or held a moment ago."""

    __slots__ = ("at", "late", "match", "page", "seat", "since", "skipped")

    def __init__(self, at: BotSeat, match: str, since: int, skipped: int) -> None:
        self.at: BotSeat | None = at
        """None when the match has ended: it holds all times and answers."""
        self.seat = at.seat
        self.match = match
        self.page: _Page | None = None
        self.since = since
        self.skipped = skipped
        self.late = LATE_BYTES
        """Bytes that may still be kept when the match has ended."""

    def add(self, decision: int | None, line: bytes) -> None:
        if self.page is None:
            self.page = _Page()
        self.page.add(decision, line)

    def lines(self) -> tuple[Line, ...]:
        return self.page.lines() if self.page is not None else ()


class ProcessLog:
    """Sorts what one process prints. What is complete goes into `sink`; without one nothing is kept."""

    def __init__(self, label: str, sink: Sink | None, clock: Callable[[], float]) -> None:
        self.is_untagged = False
        """Whether it has printed anything without a tag while it had a match."""
        self._label, self._sink, self._clock = label, sink, clock
        self._process = secrets.token_hex(8)
        self._held: dict[int, _Held] = {}
        self._ended: dict[int, _Held] = {}
        self._late: dict[int, _Held] = {}
        """Of those that have ended, the ones with lines that are not in the sink."""
        self._alone: int | None = None
        """The match that ended last, if the process held no other then."""
        self._begun = b""
        """The beginning of a line whose end has not come."""
        self._shared = _Page()
        self._number = 0
        self._second, self._spent, self._skipped = 0, 0, 0

    def began(self, at: BotSeat, match: str) -> None:
        """Note that the process was given a match."""
        if self._sink is not None:
            self._sort_begun()
            self._cut()
            self._held[at.number] = _Held(at, match, self._number, self._skipped)

    def ended(self, at: BotSeat, *, has_result: bool) -> None:
        """Note that a match is over; what was printed in one without a result is forgotten."""
        if self._sink is None:
            return
        self._sort_begun()
        self._cut()
        held = self._held.pop(at.number)
        self._alone = None
        if not has_result:
            return
        if self._skipped > held.skipped:
            held.add(None, b"[lines left out: the process printed more than %d MiB in a second]" % (A_SECOND >> 20))
        if held.page is not None or held.since < self._number:
            span = (self._process, held.since, self._number)
            self._sink.append(Logged(held.match, at.seat, self._label, held.lines(), *span))
            held.page = None
        held.at = None
        self._ended[at.number] = held
        if not self._held:
            self._alone = at.number
        if len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]

    def add(self, data: bytes) -> None:
        """Sort what the process has printed, in parts of any size."""
        if self._sink is None:
            return
        lines = data.count(b"\n")
        if not self._has_time(len(data) + lines * LINE):
            self._skipped += 1
            begun = data.rpartition(b"\n")[2] if lines else self._begun + data
            self._begun = begun[: 2 * WIDTH]
            return
        *complete, begun = (self._begun + data).split(b"\n")
        self._begun = begun[: 2 * WIDTH]
        for line in complete:
            self._sort(line)

    def close(self) -> None:
        """Pass on what is left: the process has ended."""
        if self._sink is not None:
            if self._begun:
                self._sort(self._begun)
                self._begun = b""
            self._cut()

    def _has_time(self, cost: int) -> bool:
        if (second := int(self._clock())) != self._second:
            self._second, self._spent = second, 0
        self._spent += cost
        return self._spent <= A_SECOND

    def _sort(self, line: bytes) -> None:
        if (tag := _TAG.fullmatch(line)) is not None:
            number, decision = int(tag[1]), int(tag[2]) if tag[2] else None
            if held := self._held.get(number):
                held.add(decision, _cut_off(tag[3] or b""))
            elif number in self._ended:
                self._add_late(number, decision, _cut_off(tag[3] or b""))
            return
        line = _cut_off(line)
        self.is_untagged |= bool(self._held)
        if len(self._held) == 1:
            (held,) = self._held.values()
            held.add(held.at.last_asked if held.at is not None else None, line)
        elif self._held:
            self._shared.add(None, line)
        elif self._alone is not None:
            self._add_late(self._alone, None, line)

    def _sort_begun(self) -> None:
        """Sort a line that was begun before a match began or ended; a tagged one says itself where it belongs."""
        if self._begun and not self._begun.startswith(b"\x1e"):
            self._sort(self._begun)
            self._begun = b""

    def _add_late(self, number: int, decision: int | None, line: bytes) -> None:
        held = self._ended.get(number)
        if held is not None and held.late > 0:
            held.late -= len(line) + LINE
            held.add(decision, line)
            self._late[number] = held

    def _cut(self) -> None:
        """Pass on what belongs to no match in play, and what came late."""
        assert self._sink is not None
        for held in self._late.values():
            self._sink.append(Logged(held.match, held.seat, self._label, held.lines(), self._process, 0, 0))
            held.page = None
        self._late.clear()
        if self._shared:
            self._sink.append(Piece(self._process, self._number, self._label, self._shared.lines()))
            self._shared = _Page()
            self._number += 1


def _cut_off(line: bytes) -> bytes:
    """Return what is kept of a line, without the end of a line of Windows."""
    return line.removesuffix(b"\r") if len(line) <= WIDTH else line[:WIDTH] + " …".encode()


def _text(line: bytes) -> str:
    """Return a line as text; bytes that are not UTF-8 are escaped."""
    return line.decode("utf-8", "backslashreplace")


def readable(line: str) -> str:
    """Return a printed line with its tag in words."""
    if (tag := _TAG.fullmatch(line.encode("utf-8", "surrogatepass"))) is None:
        return line
    where = f"match {int(tag[1])}" + (f", decision {int(tag[2])}" if tag[2] else "")
    return f"{where}: {(tag[3] or b'').decode('utf-8', 'surrogatepass')}"


def by_decision(lines: Iterable[Line]) -> dict[int, list[str]]:
    """Sort lines by decision; one that names none belongs to that of the line before, 0 stands for before all."""
    lines_by_decision: dict[int, list[str]] = {}
    at = 0
    for decision, text in lines:
        at = at if decision is None else decision
        lines_by_decision.setdefault(at, []).append(text)
    return lines_by_decision
