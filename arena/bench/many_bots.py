"""Many bots of one program, without a check for each: copies that differ in their names, and so in their digests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena import submission
from arena.bench.cases import Say
from arena.bench.figures import LeftOut
from arena.sandbox import probe
from arena.submission import BadSubmission, Program, templates
from arena.submission.build import Building, build
from arena.submission.tools import missing_tools

KINDS = {"compiled": ("rust", "go"), "python": ("python",)}
"""Languages of bots by kind, the fastest first: the first is taken for which this machine has what it needs."""


class Original(NamedTuple):
    """What copies are made of: the files that each gets, all in one folder, and the command that starts it."""

    files: tuple[Path, ...]
    run: tuple[str, ...]


@cache
def original(kind: str, scratch: Path, say: Say) -> Original:
    """Make and build the template of a bot in a folder, once. Raises LeftOut if it cannot be built here."""
    lacking = {language: _lacking(language) for language in KINDS[kind]}
    language = next((language for language in lacking if not lacking[language]), None)
    if language is None:
        raise LeftOut(f"a bot takes {', or '.join(' and '.join(tools) for tools in lacking.values())}")
    folder = scratch / language
    try:
        templates.make(folder, language)
        program = submission.read_program(folder)
        if program.build:
            say("compiling the bot takes a minute or two")
        return _original(build(program, scratch / f"{language}.log", probe(), Building(say)))
    except BadSubmission as error:
        raise LeftOut(str(error)) from error


def _lacking(language: str) -> Sequence[str]:
    return missing_tools(submission.manifest(templates.templates()[language]))


def _original(program: Program) -> Original:
    """Return what of a program runs: what it was built from is not copied."""
    if program.built:
        return Original((program.root / program.run[0],), (f"./{Path(program.run[0]).name}",))
    return Original(tuple(program.root / file for file in program.files if file.name != "bot.toml"), program.run)


def copies(bot: Original, count: int, folder: Path) -> Iterator[Program]:
    """Yield so many programs, each made in a folder of its own, on the disk of the original."""
    for number in range(count):
        root = folder / f"copy{number:03}"
        root.mkdir(parents=True)
        for file in bot.files:
            os.link(file, root / file.name)
        (root / "bot.toml").write_text(f"name = {json.dumps(root.name)}\nrun = {json.dumps(bot.run)}\n")
        yield submission.read_program(root)
