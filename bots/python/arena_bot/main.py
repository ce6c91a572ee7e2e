"""The bot's process, from its start to its end."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from arena_bot.bot import Bot
from arena_bot.processes import is_imported_by_child


def run(bot_class: type[Bot]) -> None:
    """Play every match that the arena sends this process; return when the arena says Goodbye.

    An exception of the bot's own code is raised again once the stream is closed. Raises SystemExit, with one line for
    people, if this is no bot's class, if there is no arena, if it breaks off, or if `choose` returns what is no action.
    Does nothing where a child process of `multiprocessing` imports the bot, of which it wants the functions only.
    """
    if is_imported_by_child():
        return
    if wrong := _no_bot(bot_class):
        raise SystemExit(wrong)
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


def _no_bot(given: object) -> str:
    """Return one line for the author if what `run` was given cannot be played; empty if it can."""
    if isinstance(given, Bot):
        name = type(given).__name__
        return f"run({name}()) has to be run({name}): the arena makes an instance for every match"
    if not (isinstance(given, type) and issubclass(given, Bot)):
        name = getattr(given, "__name__", repr(given))
        return f"run({name}): {name} is no class derived from Bot; a bot begins with class Mine(Bot):"
    if "choose" in getattr(given, "__abstractmethods__", ()):
        return f"{given.__name__} has no method choose(self, turn){_instead(given)}"
    return ""


def _instead(bot_class: type[Bot]) -> str:
    """Return which method of a class may have been meant to be `choose`; empty if none has a name like that."""
    from difflib import get_close_matches

    close = get_close_matches("choose", vars(bot_class), n=1)
    return f": is {close[0]} meant to be it?" if close else ""


def _of_the_author(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame that is not in arena_bot or asyncio; the last frame if all are.

    That one calls what the author wrote, with arguments that do not fit.
    """
    last = own = trace
    while own is not None and own.tb_frame.f_globals["__name__"].partition(".")[0] in {"arena_bot", "asyncio"}:
        last, own = own, own.tb_next
    return own or last


def _no_arena() -> str:
    program = sys.argv[0]
    sys.stderr.write(f"the arena starts this bot: try `arena match {program} random --game buttons`\n")
    raise SystemExit(2)
