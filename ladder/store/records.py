"""Values that are stored in the database and read from it. Times are seconds since 1970, durations seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ladder.pairing import DEFAULT_PAIRING, Pairing, pairing_named
from ladder.schedule import ladder_id
from ladder.store.journal import Correction
from ladder.trueskill_ratings import Rating


class Version(NamedTuple):
    """A version of a bot with its own content digest; only `retired` (when, or None) and `packed` can change."""

    name: str
    number: int
    digest: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    origin: str
    created: float
    retired: float | None
    built: str | None = None
    """Digest of what a build made of the bot, which is what runs; None if it runs as it was handed in."""
    packed: bool = False
    """Whether the bot came as an archive, as strangers' programs do."""

    @property
    def label(self) -> str:
        """Name of the version everywhere: "greedy@2"."""
        return f"{self.name}@{self.number}"


class LadderKey(NamedTuple):
    """What identifies a ladder; `options` and `limits` are plain JSON data, complete with all their values."""

    game: str
    seats: int
    options: Mapping[str, Any]
    limits: Mapping[str, Any]
    rules_version: int
    pairing: str = DEFAULT_PAIRING
    """Name of what decides who meets whom."""

    @property
    def id(self) -> str:
        """Id of the ladder, the same in every data directory ("home")."""
        return ladder_id(*self[:5], None if self.pairing == DEFAULT_PAIRING else self.pairing)


class Ladder(NamedTuple):
    """A rated competition; `seed_text` is None if the operating system made the event seed."""

    id: str
    key: LadderKey
    draw_probability: float
    event_seed: bytes
    seed_text: str | None
    created: float
    last_played: float | None

    @property
    def pairing(self) -> Pairing:
        """What decides who meets whom. Raises LookupError if this arena has no such pairing."""
        return pairing_named(self.key.pairing)


class Counts(NamedTuple):
    """Number of matches of a ladder by status."""

    scheduled: int = 0
    done: int = 0
    unplayable: int = 0
    dropped: int = 0
    annulled: int = 0


class Lacking(NamedTuple):
    """About how many groups rounds of a field lack, in all and by the label of a bot that is in them."""

    groups: int
    by_bot: Mapping[str, int]


class ScheduledMatch(NamedTuple):
    """A match to play: labels by seat, how often it was void before, and its position in the schedule."""

    id: str
    seed: bytes
    rotation: int
    line_up: tuple[str, ...]
    attempts: int
    seq: int


class SeatOutcome(NamedTuple):
    """Outcome of a match for one seat; `forfeit` is the reason or None, and `evidence` is plain JSON data."""

    rank: int
    score: int
    forfeit: str | None = None
    evidence: Mapping[str, Any] | None = None
    decisions: int = 0
    think_total: float = 0.0
    think_max: float = 0.0


class FinishedMatch(NamedTuple):
    """A match that counts: outcomes by seat, its choices as canonical bytes, its replay as the caller encoded it."""

    id: str
    seats: tuple[SeatOutcome, ...]
    choices: bytes
    replay: bytes
    times_ms: Sequence[Sequence[float]] = ()
    """By seat, the times of its decisions in milliseconds, as its replay has them."""


ATTEMPTS_UNTIL_UNPLAYABLE = 3
"""Void attempts after which a match is unplayable."""


class VoidMatch(NamedTuple):
    """An attempt to play a match that does not count, through a fault of the arena."""

    id: str
    reason: str


class Match(NamedTuple):
    """Everything that is known of one match.

    `seed` is None until nothing of the group is left to play: whoever knows it can foresee the dice of the
    others. `ratings` are those of its bots after it, by label, and None before the match is rated. Digests are SHA-256.
    """

    id: str
    ladder: Ladder
    status: str
    leg: int
    round: int
    rotation: int
    line_up: tuple[str, ...]
    seats: tuple[SeatOutcome, ...]
    voids: tuple[str, ...]
    seed: bytes | None
    finished: float | None
    choices_digest: bytes | None
    replay_digest: bytes | None
    replay: bytes | None
    ratings: Mapping[str, Rating] | None
    annulled: Correction | None = None
    """Why the match does not count any more; None if it was not annulled."""


class MatchLine(NamedTuple):
    """A finished match as seen by one bot, from its seat."""

    id: str
    ladder: str
    game: str
    line_up: tuple[str, ...]
    seat: int
    rank: int
    score: int
    forfeit: str | None
    finished: float


class Faults(NamedTuple):
    """Faults in a version's matches: forfeits by reason, and void attempts of matches in which it played."""

    label: str
    matches: int
    forfeits: Mapping[str, int]
    voids: int
    annulled: int
    """Number of its matches that were annulled; they are in none of the other numbers."""


class Row(NamedTuple):
    """A version on the leaderboard; `place` and `mean_rank` count from 1.

    A win is the first place alone, a tie a shared first place, a loss anything else. `current` is False once the bot
    has a newer version.
    """

    place: int
    label: str
    name: str
    number: int
    shown: float
    mu: float
    sigma: float
    matches: int
    wins: int
    ties: int
    losses: int
    mean_rank: float
    forfeits: int
    current: bool
    retired: bool


class Pace(NamedTuple):
    """How much a bot plays in a match, on average: seconds for which it thinks, and decisions."""

    seconds: float
    decisions: float
