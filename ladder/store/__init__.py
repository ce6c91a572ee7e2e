"""Everything that the arena stores: one SQLite database in its data directory ("home"), `HOME/arena.db`.

Each noun has a module: `store.bots.find`, `store.matches.record`. Functions take the connection first, show their SQL,
and return values. Writes that belong together are one transaction, and what a function has written survives kill -9 and
power loss as soon as it returns.
"""

from ladder.store import (
    annulment,
    bots,
    cards,
    chances,
    database,
    evidence,
    journal,
    ladders,
    logs,
    matches,
    notable_matches,
    phases,
    ratings,
    records,
    retirement,
    sums,
    times,
    watching,
)
from ladder.store.database import NotFound, StoreError, open, open_read
from ladder.store.records import Ladder, Match, Version

__all__ = [
    "Ladder",
    "Match",
    "NotFound",
    "StoreError",
    "Version",
    "annulment",
    "bots",
    "cards",
    "chances",
    "database",
    "evidence",
    "journal",
    "ladders",
    "logs",
    "matches",
    "notable_matches",
    "open",
    "open_read",
    "phases",
    "ratings",
    "records",
    "retirement",
    "sums",
    "times",
    "watching",
]
