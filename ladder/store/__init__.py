"""Everything that the arena stores: one SQLite database in its data directory ("home"), `HOME/arena.db`.

Functions take the connection first, show their SQL, and return values. Writes that belong together are one transaction,
and what a function has written survives kill -9 and power loss as soon as it returns.
"""

from ladder.store.board import apply_ratings, ladder_hash, leaderboard, provisional, reach, sign
from ladder.store.chances import Chance, chances, chances_of, forgive, use_chance
from ladder.store.checks import Mismatch
from ladder.store.database import (
    NotFound,
    StoreError,
    exclusive,
    is_stored,
    one_state,
    open,
    open_copy,
    open_read,
    write,
)
from ladder.store.evidence import Settled, evidence, find_settled, settle
from ladder.store.export import backup
from ladder.store.home import close_home, make_home
from ladder.store.ladders import awaited, counts, find_ladder, ladder, ladders, plan, scheduled, waiting
from ladder.store.phases import Phase, close_block, matches_left, next_phase
from ladder.store.records import (
    Counts,
    Faults,
    FinishedMatch,
    Ladder,
    LadderKey,
    Match,
    MatchLine,
    Row,
    ScheduledMatch,
    SeatOutcome,
    Version,
    VoidMatch,
)
from ladder.store.results import ATTEMPTS, faults, match, matches_of, record
from ladder.store.retirement import Retired, drop, reinstate, retire, retirements
from ladder.store.versions import add_version, field, version, versions

__all__ = [
    "ATTEMPTS",
    "Chance",
    "Counts",
    "Faults",
    "FinishedMatch",
    "Ladder",
    "LadderKey",
    "Match",
    "MatchLine",
    "Mismatch",
    "NotFound",
    "Phase",
    "Retired",
    "Row",
    "ScheduledMatch",
    "SeatOutcome",
    "Settled",
    "StoreError",
    "Version",
    "VoidMatch",
    "add_version",
    "apply_ratings",
    "awaited",
    "backup",
    "chances",
    "chances_of",
    "close_block",
    "close_home",
    "counts",
    "drop",
    "evidence",
    "exclusive",
    "faults",
    "field",
    "find_ladder",
    "find_settled",
    "forgive",
    "is_stored",
    "ladder",
    "ladder_hash",
    "ladders",
    "leaderboard",
    "make_home",
    "match",
    "matches_left",
    "matches_of",
    "next_phase",
    "one_state",
    "open",
    "open_copy",
    "open_read",
    "plan",
    "provisional",
    "reach",
    "record",
    "reinstate",
    "retire",
    "retirements",
    "scheduled",
    "settle",
    "sign",
    "use_chance",
    "version",
    "versions",
    "waiting",
    "write",
]
