"""Which bots there are: the built-ins and what was submitted to a home, and how each is started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena import games, submission
from arena.casual import Failure, qualify
from arena.clock import Limits
from arena.games.rules import Game
from arena.seated import Entrant
from arena.submission import BadSubmission, Program
from ladder import store

if TYPE_CHECKING:
    from typing import Any

    from sqlite_utils import Database


def folder(home: Path) -> Path:
    """Where a home keeps the programs, each under its digest."""
    return home / "bots"


def enter(db: Database, home: Path, program: Program, origin: str) -> tuple[store.Version, bool]:
    """Keep a program and enter it in the store; gives its version, and whether that is new."""
    submission.store(program, folder(home))
    return store.add_version(db, program.name, program.digest, games=program.games, run=program.run, origin=origin)


def enter_built_ins(db: Database, home: Path) -> None:
    """Make the built-in bots, as this arena has them, versions like all others."""
    for program in submission.built_ins().values():
        enter(db, home, program, "built-in")


def names(db: Database, game: Game[Any]) -> list[str]:
    """The names that make up the field of a game, before anything is written."""
    built_in = {name for name, program in submission.built_ins().items() if game.name in program.games}
    retired = {v.name for v in store.versions(db) if v.retired is not None}
    entered = {version.name for version in store.field(db, game.name)}
    return sorted((built_in - retired) | entered)


class Entry(NamedTuple):
    """A line of `arena bots`; a built-in that was never played has no version yet."""

    bot: str
    origin: str
    games: tuple[str, ...]
    about: str
    retired: bool


def listed(db: Database) -> list[Entry]:
    """Every bot there is: the built-ins, then what was submitted, version by version."""
    versions = store.versions(db)
    retired = {version.name for version in versions if version.origin == "built-in" and version.retired is not None}
    built_in = [
        Entry(name, "built-in", program.games, program.about, name in retired)
        for name, program in submission.built_ins().items()
    ]
    submitted = [
        Entry(version.label, "submitted", version.games, "", version.retired is not None)
        for version in versions
        if version.origin == "submitted"
    ]
    return built_in + submitted


def check_names(db: Database, game: Game[Any], wanted: Sequence[str]) -> list[str]:
    """Bots named for a field, each once. Raises BadSubmission for one that is unknown or does not play the game."""
    built_in = submission.built_ins()
    for name in wanted:
        if name in built_in:
            plays: Sequence[str] = built_in[name].games
        else:
            plays = _known(db, name).games
        if game.name not in plays:
            raise BadSubmission(f"{name!r} does not play {game.name}: it plays {', '.join(plays)}")
    return list(dict.fromkeys(wanted))


def starter(db: Database, home: Path) -> Callable[[str], Entrant]:
    """From the label of a version in the store to the bot as a worker starts it."""

    @cache
    def entrant(label: str) -> Entrant:
        version = store.version(db, label)
        return submission.entrant(version.label, version.digest, version.run, folder(home) / version.digest)

    return entrant


def find(db: Database, home: Path, text: str, game: Game[Any]) -> Entrant:
    """A bot as people name one: a built-in, a name or label in the home, a path, or `attach:`.

    Raises BadSubmission.
    """
    if text == "attach:":
        return Entrant("attach", "attach", ())
    built_in = submission.built_ins().get(text)
    if built_in is not None:
        program = built_in
    elif "/" in text or text.endswith(".py") or Path(text).exists():
        program = submission.read(Path(text))
    else:
        version = _known(db, text)
        return _playing(starter(db, home)(version.label), version.games, game)
    return _playing(program.entrant(), program.games, game)


def _playing(entrant: Entrant, plays: Sequence[str], game: Game[Any]) -> Entrant:
    if game.name not in plays:
        raise BadSubmission(f"{entrant.label!r} does not play {game.name}: it plays {', '.join(plays)}")
    return entrant


def _known(db: Database, name: str) -> store.Version:
    try:
        return store.version(db, name)
    except store.NotFound:
        entered = {version.name for version in store.versions(db)}
        there = ", ".join(sorted(entered | submission.built_ins().keys()))
        raise BadSubmission(
            f"unknown bot {submission.short(name)}: bots are {there}, or a path such as ./mine.py"
        ) from None


class Admission(NamedTuple):
    """What became of a submission: a version, or why not."""

    version: store.Version | None
    new: bool
    failures: list[Failure]


def admit(home: Path, program: Program, limits: Limits, say: Callable[[str], None]) -> Admission:
    """Qualify a program and enter it as a version. What is entered already, and newest, is not tried again."""
    with store.open_read(home) as db:
        known = [version for version in store.versions(db) if version.name == program.name]
    if not known or known[-1].digest != program.digest:
        matches = sum(len(games.game(name).seats) for name in program.games)
        say(f"{program.name}: playing {matches} qualification matches …")
        if failures := qualify(program.entrant(), program.games, limits):
            return Admission(None, False, failures)
    with store.open(home) as db:
        return Admission(*enter(db, home, program, "submitted"), [])
