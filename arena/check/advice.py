"""Advice for the author of a bot on how to mend a fault."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from arena.referee.match import Forfeit
from arena.submission.machine_code import built_for
from arena.submission.program import OF_THE_SDK, Program, environment, is_executable
from arena.submission.tools import install_hint

LAST_LINE = "the last line of what it printed says what is wrong"
"""Advice for a program that ended with an error: runtimes print it last."""
_DEBUGGER = "with `arena match attach: random --game {game}` you can run it in a debugger"
"""Advice where nothing else is known; `{game}` stands for the name of the game."""
ADVICE = {
    Forfeit.TIMEOUT: "think less: `turn.bank` says what is left beside the limit of a decision; look for endless loops",
    Forfeit.ILLEGAL: "choose from `turn.legal`, the legal actions of this very decision",
    Forfeit.CRASH: f"see what it printed; {_DEBUGGER}",
    Forfeit.OOM: "use less memory, or ask for more: `memory_mib` in `[limits]` of bot.toml",
    Forfeit.PROTOCOL: "answer what is asked, once, with its own match and decision number: see docs/protocol.md",
    Forfeit.FLOOD: "send one frame of answers for each frame of decisions, and read what comes",
    Forfeit.OUTPUT: "print less",
    Forfeit.START: "does it run by itself? It has to dial ARENA_ADDR and say Hello with ARENA_TOKEN, and go on running",
}
"""Advice for each reason of a forfeit; `{game}` stands for the name of the game."""
_NO_MORE_TASKS = re.compile(r"pthread_create failed|can't start new thread|Resource temporarily unavailable")
"""What runtimes print when they are refused a thread or a process."""
_NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '([^'.]+)|FileNotFoundError: .*: '([^'/]+)'")
"""What Python prints when it does not find a module, or a file in the bot's own folder."""
_FAILED = re.compile(r"exited with code [1-9]")
"""Matches the detail of a program that ended by itself and said that something was wrong."""
_NOT_RUN = re.compile(r"cannot be run|exited with code 12[67]")
"""Matches the detail of a program that never began: shells, and others that start programs, exit with 126 or 127."""


def advise(program: Program, game: str, reason: Forfeit, detail: str, output: Sequence[str]) -> str:
    """Return advice on a fault in a match of a game; its detail and the bot's output may tell more than its reason."""
    printed = "\n".join(output)
    if reason in {Forfeit.TIMEOUT, Forfeit.CRASH, Forfeit.START} and _NO_MORE_TASKS.search(printed):
        fewer = "use fewer, or ask for more: `tasks` in `[limits]` of bot.toml"
        return f"its output says that it could not start threads or processes: {fewer}"
    if reason in {Forfeit.CRASH, Forfeit.START} and program.is_python and (missing := _NOT_FOUND.search(printed)):
        return _not_found(program, missing[1] or missing[2])
    if reason is Forfeit.START:
        return _start(program, detail, printed)
    if reason is Forfeit.CRASH and program.is_python and printed and _FAILED.search(detail):
        return f"{LAST_LINE}; {_DEBUGGER.format(game=game)}"
    if reason is Forfeit.CRASH and not printed:
        return f"it printed nothing: {_DEBUGGER.format(game=game)}"
    return ADVICE[reason].format(game=game)


def _start(program: Program, detail: str, printed: str) -> str:
    """Return advice for a bot that did not join: most such programs never get as far as dialling."""
    if not program.is_python and _NOT_RUN.search(detail):
        return _not_run(program)
    reads_lines = f"if it reads and prints lines: {_stdio(program)}"
    if program.is_python and "EOFError" in printed and program.protocol == "grpc":
        return f"it reads lines, and there are none: {reads_lines}"
    if program.is_python and printed and _FAILED.search(detail):
        return LAST_LINE
    if program.protocol == "stdio":
        return "does it run by itself? It has to read lines until there are no more: see docs/plain-programs.md"
    if program.is_python:
        advice = "end it with run(YourBot), and do before that only what the start limit leaves time for"
    else:
        advice = ADVICE[Forfeit.START]
        path = program.root / program.run[0]
        if "/" in program.run[0] and path.is_file() and _is_text(path) and _interpreter(path) is None:
            advice = f"a shell ran it, since its first line names no interpreter (#!/usr/bin/env …); {advice}"
    return f"{advice}; {reads_lines}"


def _stdio(program: Program) -> str:
    return "`--protocol stdio`" if _is_lone_file(program) else '`protocol = "stdio"` in bot.toml'


def _is_text(path: Path) -> bool:
    """Tell whether a file begins without the bytes that programs of a machine have."""
    with path.open("rb") as file:
        return b"\0" not in file.read(512)


def _not_run(program: Program) -> str:
    """Return advice for a program that could not be started at all, or that could not start another."""
    first = program.run[0]
    path = program.root / first
    if "/" not in first:
        if shutil.which(first, path=environment()["PATH"]) is None:
            how = install_hint([first]) or "install it"
            return f"this machine has no program {first}: {how}, or put it into the folder and run ./{first}"
    elif not path.is_file():
        return f"there is no file {first} in what was handed in: `run` in bot.toml names it"
    elif not is_executable(path):
        return f"{first} has to be executable (`chmod +x`)"
    elif mismatch := built_for(path):
        return f"{first} was {mismatch}: build it for this one"
    elif _ends_as_on_windows(path):
        return f"the first line of {first} ends as on Windows: save it with the line ends of Linux"
    elif (interpreter := _interpreter(path)) is None:
        script = "the first line of a script has to name its interpreter: #!/usr/bin/env …"
        return f"the system cannot start {first}: {script}"
    elif shutil.which(interpreter, path=environment()["PATH"]) is None:
        return f"the first line of {first} names {interpreter}, which is not on this machine"
    return "what it printed says what could not be started; a bot finds only what its own folder and the system have"


def _ends_as_on_windows(path: Path) -> bool:
    """Tell whether the system would look for an interpreter whose name ends with a carriage return.

    Scripts that are handed in are mended, but a build may make others.
    """
    with path.open("rb") as file:
        first = file.readline(200)
    return first.startswith(b"#!") and first.endswith(b"\r\n")


def _interpreter(path: Path) -> str | None:
    """Return the interpreter that the first line of a script names; None for any other file."""
    with path.open("rb") as file:
        first = file.readline(200)
    words = first.removeprefix(b"#!").decode(errors="replace").split()
    if not (first.startswith(b"#!") and words):
        return None
    if words[0] != "/usr/bin/env":
        return words[0]
    named = [word.removeprefix("-S") for word in words[1:] if "=" not in word]
    return next((word for word in named if word and not word.startswith("-")), words[0])


def _not_found(program: Program, name: str) -> str:
    """Return advice for a program in Python that did not find a module or a file."""
    if name in OF_THE_SDK:
        return f"{name} in the bot's folder hides the SDK's own module of that name: rename it"
    if _is_lone_file(program):
        both = f"put {program.run[1]} and its files into a folder, with a requirements.txt if it needs packages"
        line = f'run = ["python", "{program.run[1]}"]'
        return f"{name} was not handed in with {program.run[1]}: {both}, and a bot.toml that says {line}"
    return f"put {name} into the bot's folder or, if it is of a package, name that in requirements.txt beside bot.toml"


def _is_lone_file(program: Program) -> bool:
    return len(program.files) == 1
