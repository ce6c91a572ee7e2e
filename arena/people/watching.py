"""Shows a match step by step while it is played."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import click

from arena.replay import document
from arena.replay.narration import Teller, frames
from arena.worker.jobs import Played, Task
from arena.worker.matches_in_play import MatchInPlay

_PACE = 0.3
"""Seconds for which a terminal shows a step, at least: most bots play faster than people can look."""


class Watching:
    """Shows the steps of one match, each once and in their order; on a terminal each in the place of the one before."""

    def __init__(self, task: Task, bots: Sequence[str], *, stop: Callable[[], bool]) -> None:
        begun = document.begun(task, bots)
        self._task, self._bots = task, bots
        self._steps, self._teller = document.Steps(begun), Teller(begun)
        self._stop = stop
        self._frames_shown = 0
        self._due = time.monotonic()
        self._paced = sys.stdout.isatty()

    def look(self, in_play: Sequence[MatchInPlay]) -> None:
        """Show the next step of the match in play, if it has one and the step before was shown for long enough.

        This runs between two frames of the referee, so it does no more than one step at a time.
        """
        if in_play and time.monotonic() >= self._due:
            self._teller.annotator.follow(in_play[0])
            if (step := self._steps.next(in_play[0].table.match.choices)) is not None:
                self._show(self._teller.tell(step))

    def finish(self, result: Played) -> None:
        """Show what is left of the match, up to how it ended, or until `stop` says so; nothing if it does not count."""
        if result.outcome is None:
            return
        every = frames(document.unrated(self._task, self._bots, result))
        for frame in every[min(self._frames_shown, len(every) - 1) :]:
            while (wait := self._due - time.monotonic()) > 0 and not self._stop():
                time.sleep(min(wait, 0.05))
            if self._stop():
                return
            self._show(frame)

    def _show(self, frame: str) -> None:
        if self._paced:
            click.clear()
        click.echo(f"{frame}\n")
        self._frames_shown += 1
        self._due = time.monotonic() + (_PACE if self._paced else 0.0)
