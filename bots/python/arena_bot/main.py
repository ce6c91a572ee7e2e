"""The bot's process, from its start to its end."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from arena_bot.bot import Bot


def run(bot_class: type[Bot]) -> None:
    """Play every match that the arena sends this process; return when the arena says Goodbye.

    An exception of the bot's own code is raised again once the stream is closed. Raises SystemExit, with one line for
    people, if there is no arena, if it breaks off, or if `choose` returns what is no action.
    """
    address = os.environ.get("ARENA_ADDR") or _no_arena()

    import asyncio

    from arena_bot.stream import StreamBroken, play
    from arena_bot.table import NoAction, Table

    try:
        asyncio.run(play(address, os.environ.get("ARENA_TOKEN", ""), Table(bot_class)))
    except StreamBroken as broken:
        raise SystemExit(f"the arena at {address} {broken}") from None
    except NoAction as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # whoever pressed Ctrl-C wants no traceback of each bot
    except Exception as error:
        error.__traceback__ = _of_the_author(error.__traceback__)
        raise


def _of_the_author(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame that is not in arena_bot or asyncio; all of it if there is none."""
    own = trace
    while own is not None and own.tb_frame.f_globals["__name__"].partition(".")[0] in {"arena_bot", "asyncio"}:
        own = own.tb_next
    return own or trace


def _no_arena() -> str:
    program = sys.argv[0]
    sys.stderr.write(f"the arena starts this bot: try `arena match {program} random --game buttons`\n")
    raise SystemExit(2)
