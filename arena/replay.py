"""The record of one match: what was chosen and how long it took, packed for the store."""

from __future__ import annotations

import gzip
from typing import Any

import msgspec

from arena.worker import Played

FORMAT = 1


def choices(played: Played) -> bytes:
    """Every action in the order applied, as canonical JSON: [[seat, action], …]."""
    return msgspec.json.encode(played.choices)


def pack(played: Played) -> bytes:
    """The replay: gzipped JSON with the choices and, by seat, the milliseconds of each of its decisions."""
    record = {
        "format": FORMAT,
        "choices": played.choices,
        "times_ms": [[round(seconds * 1000, 2) for seconds in seat.times] for seat in played.seats],
    }
    return gzip.compress(msgspec.json.encode(record), compresslevel=1, mtime=0)


def unpack(replay: bytes) -> dict[str, Any]:
    """What `pack` was given, as plain data."""
    record: dict[str, Any] = msgspec.json.decode(gzip.decompress(replay))
    return record
