"""A home in which the template of a language was made a bot by `arena new`, and entered by `arena submit`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from arena import games, roster
from arena.submission.manifest import load
from arena.submission.templates import templates
from arena.worker.jobs import Entrant
from ladder import store
from tests.cli.commands import ARENA, Ran, environment

BUILD = 900
"""Seconds that a command may take which builds."""


PATIENT = ("--start-limit", "120s", "--limit", "10s", "--bank", "120s")
"""How long bots may think where nobody asks how fast they are."""


class Entered(NamedTuple):
    """What became of a language's template; one that could not be built is not tried again."""

    name: str
    error: str = ""


class Home:
    """Enters a language's bot when it is first asked for: one that cannot be built fails its own tests only.

    It is submitted with some options, by an arena with some words before its name. `changes` has, by language, a file
    of the template and what is replaced in it before it is built.
    """

    def __init__(
        self,
        cwd: Path,
        *options: str,
        before: Sequence[str] = (),
        changes: Mapping[str, tuple[str, Mapping[str, str]]] | None = None,
    ) -> None:
        self.cwd = cwd
        self._changes = changes or {}
        self._options = options
        self._before = before
        self._entered = cache(self._enter)

    def _enter(self, language: str) -> Entered:
        name = language.replace("+", "p")
        made = self.arena("new", name, "--language", language)
        assert made.code == 0, made.err
        if language in self._changes:
            file, replacements = self._changes[language]
            change(self.cwd / name / file, replacements)
        submitted = self.arena("submit", name, *PATIENT, *self._options)
        return Entered(name, submitted.err if submitted.code else "")

    def enter(self, language: str) -> str:
        """The name under which the bot of a language is entered."""
        entered = self._entered(language)
        assert not entered.error, entered.error
        return entered.name

    def entrant(self, language: str) -> Entrant:
        """The bot of a language as a worker starts it."""
        name, home = self.enter(language), self.cwd / ".arena"
        with store.open_read(home) as db:
            return roster.Starter(db, home)(f"{name}@1")

    def arena(self, *words: str) -> Ran:
        """A command in this home, as people type it."""
        typed = [*self._before, str(ARENA), *words]
        done = subprocess.run(
            typed, cwd=self.cwd, env=environment(), capture_output=True, text=True, timeout=BUILD, check=False
        )
        return Ran.of(done.returncode, done.stdout, done.stderr)


def change(source: Path, replacements: Mapping[str, str]) -> None:
    """Replace each text, which stands once in the file, by another."""
    text = source.read_text()
    for before, after in replacements.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    source.write_text(text)


def claimed(language: str) -> tuple[str, ...]:
    """The games that a language's template plays."""
    toml = templates()[language] / "bot.toml"
    return tuple(load(toml, str(toml)).games or games.names())
