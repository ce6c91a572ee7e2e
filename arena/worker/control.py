"""A control: a bot of the arena's own, started to find out whether this machine can start any bot now."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

from arena.referee.match import Fault, Void
from arena.referee.stream import Heard
from arena.sandbox.run_folder import open_up, remove
from arena.worker.bot_output import Sink
from arena.worker.bot_process import Bot, BotHost
from arena.worker.jobs import Entrant

CONTROL_PATIENCE = 10.0
"""Seconds that the control, a bot of the arena's own, has to join: a hundred times what it needs on an idle machine.

If they are too few, no bot is blamed for it: the match is void.
"""
PROGRAM = """
from arena_bot import Bot, run
class Control(Bot):
    def choose(self, turn):
        return turn.legal[0]
run(Control)
"""
"""A bot that joins, and is never asked anything."""


async def why_none_starts(root: Path, host: BotHost) -> str | None:
    """Start the control in a folder where the bots of a host start; return why it did not join, None if it did."""
    desk = _Desk(host)
    name = secrets.token_urlsafe(8)
    program = root / f"{name}-program"
    try:
        program.mkdir()
        open_up(program)  # the umask may have closed it
        bot = Bot(
            ("control", 0),
            Entrant("control", "control", (sys.executable, "-c", PROGRAM), str(program)),
            root / name,
            desk,
        )
        try:
            await bot.start(CONTROL_PATIENCE)
            await asyncio.wait_for(bot.started.wait(), 2 * CONTROL_PATIENCE)
            return desk.why
        finally:
            await bot.leave()
    except OSError as error:  # TimeoutError, which has no text, is one
        return str(error) or "it did not join"
    finally:
        remove(program)


class _Desk:
    """Hears of the control what a worker hears of its bots; `why` says how it ended before it joined."""

    def __init__(self, host: BotHost) -> None:
        self.sandbox = host.sandbox
        self.copies = host.copies
        self.clock = host.clock
        self.bug = host.bug
        self.logs: Sink | None = None
        self.why: str | None = None

    def joined(self, bot: Bot) -> None:
        """Do nothing: that it joined is all that is wanted."""

    def hear(self, bot: Bot, news: Heard) -> None:
        """Do nothing: it is asked nothing."""

    def ended(self, bot: Bot, fault: Fault) -> None:
        """Keep how it ended, with what it printed last."""
        last = [line for line in bot.evidence().get("output", ()) if line.strip()][-1:]
        self.why = "; ".join([fault.detail, *last])

    def excused(self, bot: Bot, why: Void) -> None:  # noqa: ARG002 - every host hears which bot
        """Keep why it could not go on."""
        self.why = str(why)

    def not_started(self, bot: Bot, why: Void) -> None:  # noqa: ARG002 - every host hears which bot
        """Keep why the sandbox could not start it."""
        self.why = str(why)

    def waiting(self, bot: Bot, address: str, token: str) -> None:
        """Do nothing: the arena starts the control itself."""
