"""What happened in a match: its record, the document that people exchange, and its questions put again."""

from arena.replay.record import Breach, Forfeited, Replay, Unreadable, pack, packed_json, plain, replayed, unpack

__all__ = ["Breach", "Forfeited", "Replay", "Unreadable", "pack", "packed_json", "plain", "replayed", "unpack"]
