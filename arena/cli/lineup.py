"""The bots that a command names, as matches to play."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena import roster
from arena.roster import Workshop
from arena.terminal.options import Setting, seed_bytes
from arena.worker import unrated
from arena.worker.jobs import Task
from ladder import store


def line_up_tasks(
    bots: Sequence[str], setting: Setting, home: Path, workshop: Workshop, *, seed: str, count: int = 1
) -> list[Task]:
    """Make matches of these bots, in their order; whoever lies at a path is copied and built.

    Raises BadSubmission and NoSandbox.
    """
    game, options, limits = setting
    with store.open_read(home) as db:
        lineup = [roster.find_bot(db, home, bot, game, workshop) for bot in bots]
    return unrated.tasks(game, lineup, options=options, limits=limits, seed=seed_bytes(seed), count=count)
