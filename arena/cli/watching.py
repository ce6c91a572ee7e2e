"""Shows a match step by step while it is played."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from arena.cli.replay import frames

if TYPE_CHECKING:
    from arena.replay.document import Document
    from arena.worker.matches import MatchInPlay

PACE = 0.3
"""Seconds for which a terminal shows a step, at least: most bots play faster than people can look."""


class Watching:
    """Shows the steps of one match, each once and in their order; on a terminal each in the place of the one before."""

    def __init__(self, bots: Sequence[str], *, stop: Callable[[], bool]) -> None:
        self._bots = bots
        self._stop = stop
        self._shown = 0
        self._due = time.monotonic()
        self._paced = sys.stdout.isatty()

    def look(self, in_play: Iterable[MatchInPlay]) -> None:
        """Show the next step of the match in play, if it has one and the step before was shown for long enough."""
        from arena.replay import document

        if time.monotonic() >= self._due:
            for playing in in_play:
                so_far = document.so_far(playing.task, self._bots, playing.table)
                self._show(list(frames(so_far))[self._shown : self._shown + 1])

    def finish(self, match: Document) -> None:
        """Show what is left of the match, which is over, up to how it ended; or until `stop` says so."""
        every = list(frames(match))
        for frame in every[min(self._shown, len(every) - 1) :]:
            while (left := self._due - time.monotonic()) > 0 and not self._stop():
                time.sleep(min(left, 0.05))
            if self._stop():
                return
            self._show([frame])

    def _show(self, some: Sequence[str]) -> None:
        for frame in some:
            if self._paced:
                click.clear()
            click.echo(f"{frame}\n")
            self._shown += 1
            self._due = time.monotonic() + (PACE if self._paced else 0.0)
