"""From the start of the process to its end."""

from __future__ import annotations

import os
import sys

from arena_bot.bot import Bot


def run(bot_class: type[Bot]) -> None:
    """Play every match the arena sends this process; returns when the arena says goodbye.

    An exception of the bot's own code passes through once the stream is closed. Without an arena, or when it
    breaks off, raises SystemExit with one line for people.
    """
    address = os.environ.get("ARENA_ADDR") or _no_arena()

    import asyncio

    from arena_bot.stream import StreamBroken, play
    from arena_bot.table import Table

    try:
        asyncio.run(play(address, os.environ.get("ARENA_TOKEN", ""), Table(bot_class)))
    except StreamBroken as broken:
        raise SystemExit(f"the arena at {address} {broken}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # whoever pressed Ctrl-C wants no traceback of each bot


def _no_arena() -> str:
    program = sys.argv[0]
    sys.stderr.write(f"the arena starts this bot: try `arena match {program} random --game buttons`\n")
    raise SystemExit(2)
