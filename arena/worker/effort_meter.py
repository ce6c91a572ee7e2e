"""Measures what decisions cost bots in processor time, which the clock on the wall does not tell where many wait."""

from __future__ import annotations

import random
from collections.abc import Collection

from arena.worker.bot_process import Bot
from arena.worker.jobs import Effort

_ENOUGH = 20
"""Decisions between two looks at a bot at least: fewer would weigh what it does beside them. Dozens would do, too."""


class EffortMeter:
    """Looks at one bot of a worker at two moments, then at another, since a look costs as much as a small frame."""

    def __init__(self) -> None:
        self._bot: Bot | None = None
        self._before = Effort()
        """What the bot had used, and how many decisions it had been asked, when it was chosen."""

    def look(self, bots: Collection[Bot]) -> Effort:
        """Return what decisions cost a bot since the first look at it; nothing if it has made too few yet."""
        bot = self._bot
        if bot is not None and (now := _so_far(bot)) is not None:
            spent = Effort(now.cpu - self._before.cpu, now.decisions - self._before.decisions)
            if spent.decisions < _ENOUGH and not bot.idle:
                return Effort()
        else:
            spent = Effort()
        self._choose(bots)
        return spent if spent.decisions >= _ENOUGH else Effort()

    def _choose(self, bots: Collection[Bot]) -> None:
        playing = [bot for bot in bots if bot.stream is not None and not bot.idle]
        self._bot = random.choice(playing) if playing else None
        if self._bot is not None:
            self._before = _so_far(self._bot) or Effort()


def _so_far(bot: Bot) -> Effort | None:
    """Return what a bot has used and been asked; None if that cannot be seen, or no more."""
    if bot.over or bot.stream is None or (usage := bot.usage()) is None:
        return None
    return Effort(usage.cpu, bot.stream.decisions)
