"""Result of a run: what it added to a ladder, and how busy the machine was meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from arena.referee.match import VoidReason
from arena.worker.jobs import Played
from ladder import store

ALARM = 0.01
"""Share of matches that the machine's load may affect before fewer jobs are advised: a few in a thousand are normal."""


class Health(NamedTuple):
    """How busy the machine was during a run, and how that affected the matches."""

    matches: int = 0
    pressure: float = 0.0
    """Sum over the matches: percentage of the time in which something waited for a processor."""
    relieved: int = 0
    """Matches in which a bot was charged another time than elapsed, mostly less, since it waited for a processor."""
    overloads: int = 0
    """Attempts that were void because the machine was too busy."""

    def merge(self, results: Sequence[Played]) -> Health:
        """Return the health with more matches counted."""
        return Health(
            self.matches + len(results),
            self.pressure + sum(result.conditions.get("pressure") or 0.0 for result in results),
            self.relieved + sum(any(seat.charged for seat in result.seats) for result in results),
            self.overloads + sum(result.is_void_by(VoidReason.OVERLOAD) for result in results),
        )

    @property
    def line(self) -> str:
        """The health in one line for people."""
        busy = self.pressure / max(self.matches, 1)
        said = f"the machine was busy {busy:.0f} % of the time (something waited for a processor)"
        if self.relieved:
            said += f"; bots were not charged for waiting in {self.relieved:,} matches"
        if self.overloads:
            said += f"; too busy to judge {self.overloads:,} attempts"
        many = self.relieved + self.overloads > ALARM * self.matches
        return f"{said}: use fewer --jobs, or a quieter machine" if many else said


class Run(NamedTuple):
    """Result of a run: how many matches and decisions it added, and the last attempt that was void."""

    played: int = 0
    decisions: int = 0
    void: store.records.VoidMatch | None = None
    health: Health = Health()
    chances: tuple[tuple[str, str], ...] = ()
    """Labels of bots that used their second chance, each with what had happened."""
    retired: tuple[str, ...] = ()
    """Labels of bots that were retired during the run."""
    joined: tuple[str, ...] = ()
    """Labels of bots that came during the run and played."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Labels of bots that came during the run and cannot play, each with the reason."""
    beyond: int = 0
    """About how many matches of the run were not planned yet when it was stopped, unless a budget ended it."""
