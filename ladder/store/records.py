"""The values that go into the store and come out of it. Times are seconds since 1970, durations seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ladder.ratings import Rating
from ladder.schedule import ladder_id


class Version(NamedTuple):
    """One content digest of a bot; only `retired` (when, or None) ever changes."""

    name: str
    number: int
    digest: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    origin: str
    created: float
    retired: float | None
    built: str | None = None
    """The digest of what a build made of it, and runs; None if it runs as it was handed in."""
    packed: bool = False
    """Whether it came as an archive, as programs of strangers do."""

    @property
    def label(self) -> str:
        """Its name everywhere: "greedy@2"."""
        return f"{self.name}@{self.number}"


class LadderKey(NamedTuple):
    """What makes two ladders the same one; `options` and `limits` are plain JSON data, every one with its value."""

    game: str
    seats: int
    options: Mapping[str, Any]
    limits: Mapping[str, Any]
    rules_version: int

    @property
    def id(self) -> str:
        """The same in every home."""
        return ladder_id(*self)


class Ladder(NamedTuple):
    """A rated competition; `seed_text` is None where the operating system made the event seed."""

    id: str
    key: LadderKey
    draw_probability: float
    event_seed: bytes
    seed_text: str | None
    created: float
    last_played: float | None


class Counts(NamedTuple):
    """The matches of a ladder by status."""

    scheduled: int
    done: int
    unplayable: int
    dropped: int = 0


class ScheduledMatch(NamedTuple):
    """A match to play: labels by seat, how often it was void before, and its place in the schedule."""

    id: str
    seed: bytes
    rotation: int
    line_up: tuple[str, ...]
    attempts: int
    seq: int


class SeatOutcome(NamedTuple):
    """How a match ended for one seat; `forfeit` is the reason, None without one, and `evidence` plain JSON data."""

    rank: int
    score: int
    forfeit: str | None = None
    evidence: Mapping[str, Any] | None = None
    decisions: int = 0
    think_total: float = 0.0
    think_max: float = 0.0


class FinishedMatch(NamedTuple):
    """A match that counts: outcomes by seat, its choices as canonical bytes, its replay as the caller packed it."""

    id: str
    seats: tuple[SeatOutcome, ...]
    choices: bytes
    replay: bytes


class VoidMatch(NamedTuple):
    """An attempt that does not count, through the arena's fault."""

    id: str
    reason: str


class Match(NamedTuple):
    """All that is known of one match.

    `seed` is None until every match of the group is done: whoever knows it foresees the dice of the others.
    `ratings` are those of its bots after it, by label, and None before it is folded. Digests are SHA-256.
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


class MatchLine(NamedTuple):
    """A finished match as one bot saw it from its seat."""

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
    """What went wrong in a version's matches: forfeits by reason, and attempts that were void while it played."""

    label: str
    matches: int
    forfeits: Mapping[str, int]
    voids: int


class Row(NamedTuple):
    """A version on the leaderboard; `place` and `mean_rank` count from 1.

    A win is the first place alone, a tie the first place shared, a loss anything else. `current` is False once
    the bot has a newer version.
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
