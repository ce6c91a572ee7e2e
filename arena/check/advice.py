"""Advice for the author of a bot on how to mend a fault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.referee.match import Forfeit

if TYPE_CHECKING:
    from arena.submission import Program

ADVICE = {
    Forfeit.TIMEOUT: "think less: `turn.bank` says what is left beside the limit of a decision; look for endless loops",
    Forfeit.ILLEGAL: "choose from `turn.legal`, the legal actions of this very decision",
    Forfeit.CRASH: "see what it printed; `arena match attach: random --game {game}` runs it in a terminal or debugger",
    Forfeit.OOM: "use less memory, or ask for more: `memory_mib` in `[limits]` of bot.toml",
    Forfeit.PROTOCOL: "answer what is asked, once, with its own match and decision number: see docs/protocol.md",
    Forfeit.FLOOD: "send one frame of answers for each frame of decisions, and read what comes",
    Forfeit.OUTPUT: "print less",
    Forfeit.START: "does it run by itself? It has to dial ARENA_ADDR and say Hello with ARENA_TOKEN, and go on running",
}
"""Advice for each reason of a forfeit; `{game}` stands for the name of the game."""
_NO_MORE_TASKS = re.compile(r"pthread_create failed|can't start new thread|Resource temporarily unavailable")
"""What runtimes print when they are refused a thread or a process."""
_NOT_RUN = re.compile(r"cannot be run|exited with code 12[67]")
"""Matches the detail of a program that never began: shells, and others that start programs, exit with 126 or 127."""


def advise(program: Program, game: str, reason: Forfeit, detail: str, output: Sequence[str]) -> str:
    """Return advice on a fault in a match of a game; its detail and the bot's output may tell more than its reason."""
    printed = "\n".join(output)
    if reason in {Forfeit.TIMEOUT, Forfeit.CRASH, Forfeit.START} and _NO_MORE_TASKS.search(printed):
        fewer = "use fewer, or ask for more: `tasks` in `[limits]` of bot.toml"
        return f"its output says that it could not start threads or processes: {fewer}"
    if reason is Forfeit.START:
        return _start(program, detail, printed)
    return ADVICE[reason].format(game=game)


def _start(program: Program, detail: str, printed: str) -> str:
    """Return advice for a bot that did not join: most such programs never get as far as dialling."""
    if not program.is_python and _NOT_RUN.search(detail):
        needed = "has to be there and executable (`chmod +x`)"
        return f"{program.run[0]} {needed}; a script's first line names its interpreter: #!/usr/bin/env …"
    if program.is_python and "Error" in printed:
        return "the last line of what it printed says what is wrong"
    if program.is_python:
        return "end it with run(YourBot), and do before that only what the start limit leaves time for"
    if program.protocol == "stdio":
        return "does it run by itself? It has to read lines until there are no more: see docs/plain-programs.md"
    return ADVICE[Forfeit.START]
