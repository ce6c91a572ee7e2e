"""How much a check asks of a bot, and how long that lasts by what is known of the bot's pace."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from arena.check.trials import Trial

_SENSIBLE = 300.0
"""Seconds that `arena check` may last by its own forecast; what would last longer is left out."""
_FAST = 0.001
"""Seconds that a decision is taken to last before the bot has made any."""
_OVERHEAD = 0.001
"""Seconds of the arena's own for each decision of the bot, about: the rules, the frames and the other seats."""


class Extent(NamedTuple):
    """How much a check asks."""

    one_match: bool = False
    """Whether one match of each game is enough."""
    late: bool = True
    """Whether the question that comes late is put, which takes seconds."""
    seconds: float = math.inf
    """How long the check may last by its forecast."""
    why: str = ""
    """Why it asks no more: it is given for what is left out."""


FULL_CHECK = Extent(seconds=_SENSIBLE)
"""What `arena check` asks."""
QUICK_CHECK = Extent(one_match=True, late=False, seconds=_SENSIBLE, why="--quick leaves it out")
"""What `arena check --quick` asks."""
SUBMISSION = Extent(late=False, why="it takes seconds and is not required of a submission")
"""What is asked of a bot that is handed in."""


class Untried(NamedTuple):
    """A check that was left out, as `play birth` or `birth with 3 players`, and why."""

    check: str
    why: str


class CheckPace:
    """How many seconds the bot takes for a decision: for the first of a match, and for others by game."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, int], Sequence[float]] = {}

    def learn(self, trial: Trial, times: Sequence[float]) -> None:
        """Take in the times of the decisions of a match, all or those so far."""
        self._times[trial.game, trial.players] = times

    def __bool__(self) -> bool:
        return any(len(times) > 1 for times in self._times.values())

    def decision(self, game: str = "") -> float:
        """Return the mean in a game, or in all games if none is known there."""
        later_times = {key: times[1:] for key, times in self._times.items()}
        of_game = [seconds for (where, _), times in later_times.items() if where == game for seconds in times]
        return fmean(of_game or [seconds for times in later_times.values() for seconds in times] or [_FAST])

    def match(self, game: str, decisions: int) -> float:
        """Return how long a match with so many decisions of the bot lasts."""
        return self.thinking(game, decisions) + decisions * _OVERHEAD

    def thinking(self, game: str, decisions: int) -> float:
        """Return how long the bot thinks in such a match, which is nearly all of its time where many share a frame."""
        first = fmean([times[0] for times in self._times.values() if times] or [_FAST])
        return first + (decisions - 1) * self.decision(game)


class Course:
    """The matches of a check that are left to play, the shortest of each game first; keeps why others were left out."""

    def __init__(self, matches: Sequence[Trial], extent: Extent) -> None:
        shortest = [
            min(of_game, key=attrgetter("decisions")) for _, of_game in groupby(matches, key=attrgetter("game"))
        ]
        longer = [trial for trial in matches if trial not in shortest]
        self._all = matches
        self._longer = longer
        self._why: dict[tuple[str, int], str] = {}
        self._seconds = extent.seconds
        self._begun = time.monotonic()
        self.pace = CheckPace()
        self.remaining = shortest + longer
        if extent.one_match:
            self.leave_out(longer, extent.why)

    @property
    def seconds(self) -> float:
        """How long the matches that are left last, about."""
        return self._lasts(self.remaining)

    def _lasts(self, trials: Sequence[Trial]) -> float:
        return sum(self.pace.match(trial.game, trial.decisions) for trial in trials)

    def leave_out(self, trials: Sequence[Trial], why: str) -> None:
        """Play none of these matches."""
        self._why |= {(trial.game, trial.players): why for trial in trials}
        self.remaining = [trial for trial in self.remaining if (trial.game, trial.players) not in self._why]

    def fit(self) -> None:
        """Leave out what would last too long: game by game all but the shortest match, then whole games."""
        why = self.too_long(self.seconds)
        while self.remaining and self.too_long(self.seconds):
            spared = [trial for trial in self.remaining if trial in self._longer] or self.remaining
            of_games = [
                [candidate for candidate in spared if candidate.game == game]
                for game in sorted({trial.game for trial in spared})
            ]
            self.leave_out(max(of_games, key=self._lasts), why)

    def too_long(self, seconds: float) -> str:
        """Return why there is no time left for what lasts so many seconds; empty if there is."""
        if not self.pace or time.monotonic() - self._begun + seconds <= self._seconds:
            return ""
        lasts = f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
        return f"a decision takes about {1000 * self.pace.decision():,.0f} ms, and the rest would last {lasts}"

    def untried(self) -> Iterator[Untried]:
        """Yield what was left out, game by game."""
        for game, of_game in groupby(self._all, key=attrgetter("game")):
            trials = list(of_game)
            left_out = [trial for trial in trials if (game, trial.players) in self._why]
            for why, group in groupby(left_out, key=lambda trial: self._why[trial.game, trial.players]):
                players = [str(trial.players) for trial in group]
                some = f"{game} with {', '.join(players)} players"
                yield Untried(f"play {game}" if len(players) == len(trials) else some, why)
