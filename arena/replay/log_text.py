"""What bots printed in their matches: as the store keeps it, and as people read it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from arena.replay.document import Logs
from arena.replay.record import Unreadable
from arena.worker.bot_output import Line, Logged, Piece
from ladder import store

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.worker.jobs import Played

_decode = msgspec.json.Decoder(tuple[Line, ...]).decode


def packed_log(log: Logged | Piece) -> store.logs.Log:
    """Return what a bot printed in the form in which the store keeps it."""
    lines = gzip.compress(msgspec.json.encode(log.lines), compresslevel=1, mtime=0)
    bot = log.label.partition("@")[0]
    if isinstance(log, Piece):
        return store.logs.Log(bot, None, None, log.process, log.number, log.number + 1, lines)
    return store.logs.Log(bot, log.match, log.seat, log.process, log.since, log.until, lines)


def read_log(packed: Iterable[bytes]) -> Iterator[Line]:
    """Yield the lines in what `packed_log` made, one after the other. Raises Unreadable."""
    try:
        for piece in packed:
            yield from _decode(gzip.decompress(piece))
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError) as error:
        raise Unreadable(f"a log cannot be read: {error}") from error


def of_match(db: Database, match: store.Match) -> Logs:
    """Return, by seat, what the bots printed in a match of a ladder; empty where nothing is kept or may be shown yet.

    Raises Unreadable.
    """
    seats = store.logs.seats(db, match) if store.logs.may_be_shown(db, match) else ()
    return tuple(
        tuple(read_log(store.logs.printed(db, match, seat).lines)) if seat in seats else ()
        for seat in range(len(match.seats))
    )


def of_unrated(logs: Sequence[Logged | Piece], result: Played) -> Logs:
    """Return, by seat, what the bots printed in a match, out of all that a worker gathered.

    Of a bot that did not start, it is what the evidence has: it printed that before it had a match.
    """
    lines: list[list[Line]] = [[] for _ in result.seats]
    for log in logs:
        if isinstance(log, Logged) and log.match == result.id:
            lines[log.seat] += log.lines
    for seat, record in zip(lines, result.seats, strict=True):
        if not seat and not record.times:
            seat += ((None, line) for line in (record.evidence or {}).get("output", ()))
    return tuple(map(tuple, lines))
