"""`arena play --lines`: what happens goes out as lines of JSON, for a program that shows it to a person."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from arena.replay.document import Document
from arena.reports.live_report import LiveReporter, about
from arena.worker.jobs import Task
from arena.worker.matches_in_play import MatchInPlay


class Lines:
    """Tells of one match. Each line is an object; what it does not name is as it was in the line before."""

    def __init__(self, task: Task, names: Sequence[str], seat: int) -> None:
        self._live = LiveReporter(task, names, seat)
        _tell(match=about(task, names, seat))

    def look(self, in_play: Sequence[MatchInPlay]) -> None:
        """Tell what has happened since the last look, if anything has."""
        for playing in in_play:
            if (now := self._live.look(playing)) is not None:
                _tell(**msgspec.structs.asdict(now))

    def end(self, match: Document, ending: Sequence[str], name: str | None) -> None:
        """Tell how the match ended, also in words, and the name under which it is kept."""
        end = {"told": [line for line in ending if line], "kept": name}
        _tell(**msgspec.structs.asdict(self._live.finish(match)), end=end)


def _tell(**what: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.flush()
