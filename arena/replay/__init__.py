"""Replays: the record of a match, the document that people exchange, and the questions of a match asked again."""

from arena.replay.record import (
    Breach,
    Forfeited,
    Replay,
    Unreadable,
    pack,
    packed_json,
    plain,
    recorded,
    replayed,
    times_of,
    unpack,
)

__all__ = [
    "Breach",
    "Forfeited",
    "Replay",
    "Unreadable",
    "pack",
    "packed_json",
    "plain",
    "recorded",
    "replayed",
    "times_of",
    "unpack",
]
