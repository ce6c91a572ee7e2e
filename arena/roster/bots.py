"""Which bots there are: the built-ins and what was submitted to a home, and how each is started."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import submission, suggest
from arena.games.rules import Game
from arena.sandbox.grades import UNCONFINED, NoSandbox
from arena.submission import BadSubmission, Program
from arena.worker.jobs import Entrant
from ladder import store
from ladder.schedule import TooFewBots

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.sandbox import Sandbox
    from arena.submission.build import Building

# Entering


def enter_built_ins(db: Database, home: Path) -> None:
    """Make the built-in bots, as this arena has them, versions like all others."""
    for program in built_ins(db).values():
        enter(db, home, program, "built-in")


def enter(db: Database, home: Path, program: Program, origin: str) -> tuple[store.Version, bool]:
    """Keep a program and make it a version; gives its newest version, and whether that is new."""
    submission.store(program, folder(home))
    return store.add_version(
        db,
        program.name,
        program.digest,
        games=program.games,
        run=program.run,
        origin=origin,
        built=program.built,
        packed=program.packed,
    )


def retire(home: Path, name: str, *, undo: bool = False) -> store.Retired:
    """Take a bot or one version out of future fields and of what is to be played, or put it back.

    Gives the versions that were not yet, and how many matches are not played now. Raises BadSubmission.
    """
    with store.open_read(home) as db:
        built_in = name in built_ins(db)
        if not built_in:
            _known(db, name)
    with store.open(home) as db:
        if built_in:  # perhaps it never played
            enter_built_ins(db, home)
        if undo:
            return store.Retired(store.reinstate(db, name), 0)
        retired = store.retire(db, name)
        for ladder in store.ladders(db) if retired.dropped else ():
            store.fold(db, ladder)  # what waited for matches that nobody plays now
        return retired


def folder(home: Path) -> Path:
    """Where a home keeps the programs, each under its digest."""
    return home / "bots"


def built_ins(db: Database) -> dict[str, Program]:
    """The built-in bots whose names nobody took before the arena had them."""
    taken = {version.name for version in store.versions(db) if version.origin == "submitted"}
    return {name: program for name, program in submission.built_ins().items() if name not in taken}


def names(db: Database) -> set[str]:
    """What every bot is called, submitted or built in."""
    return {version.name for version in store.versions(db)} | submission.built_ins().keys()


# Listing


class Entry(NamedTuple):
    """A line of `arena bots`; a built-in stands for its newest version, which it may not have yet."""

    bot: str
    origin: str
    games: tuple[str, ...]
    about: str
    language: str
    retired: bool
    only_named: tuple[str, ...]
    """Games that it thinks long about: it is in the field of their ladders only when it is named."""


def listed(db: Database, home: Path) -> list[Entry]:
    """Every bot there is: the built-ins, then what was submitted, version by version."""
    gone = _retired(db)
    entries = [_entry(name, "built-in", bot, (name, bot.digest) in gone) for name, bot in built_ins(db).items()]
    for version in store.versions(db):
        if version.origin == "submitted":
            retired = version.retired is not None
            entries.append(_entry(version.label, version.origin, program_of(home, version), retired))
    return entries


def _entry(bot: str, origin: str, program: Program, retired: bool) -> Entry:
    return Entry(bot, origin, program.games, program.about, program.language, retired, program.slow)


def _retired(db: Database) -> set[tuple[str, str]]:
    return {(version.name, version.digest) for version in store.versions(db) if version.retired is not None}


# Who plays


def check_field(home: Path, game: Game[Any], seats: int, wanted: Sequence[str] | None) -> list[str]:
    """The bots of a ladder's field by name or label, looked up without writing anything.

    They are those `wanted`, or the quick built-ins and the newest version of everything submitted. Raises BadSubmission
    for a bot that cannot be in the field, and TooFewBots.
    """
    with store.open_read(home) as db:
        field = _everybody(db, game) if wanted is None else _checked(db, game, wanted)
    if len(field) < seats:
        there = ", ".join(field) or "none"
        raise TooFewBots(f"{seats} players need {seats} bots that play {game.name}; the field has only {there}")
    return field


def _everybody(db: Database, game: Game[Any]) -> list[str]:
    gone = _retired(db)
    quick = {name: bot for name, bot in built_ins(db).items() if game.name not in bot.slow}
    built_in = [name for name, bot in quick.items() if game.name in bot.games and (name, bot.digest) not in gone]
    return built_in + [version.label for version in store.field(db, game.name) if version.origin == "submitted"]


def _checked(db: Database, game: Game[Any], wanted: Sequence[str]) -> list[str]:
    own = built_ins(db)
    met: Counter[tuple[str, str]] = Counter()
    for name in wanted:
        bot = own[name] if name in own else _known(db, name)
        _check_plays(name, bot.games, game)
        met[bot.name, bot.digest] += 1
        if met[bot.name, bot.digest] > 1:
            raise BadSubmission(f"{name!r} is in the field twice: name every bot once")
    return list(wanted)


def starter(db: Database, home: Path, sandbox: Sandbox = UNCONFINED) -> Callable[[str], Entrant]:
    """From the label of a version in the store to the bot as a worker starts it. Raises BadSubmission, NoSandbox."""

    @cache
    def entrant(label: str) -> Entrant:
        version = store.version(db, label)
        program = program_of(home, version)
        _check_held(program, sandbox)
        check_wishes(replace(program, name=version.label), sandbox)
        if not program.root.is_dir():
            raise BadSubmission(f"the program of {version.label} is gone from {str(program.root)!r}: submit it again")
        if not submission.intact(program):
            changed = f"the program of {version.label} is not what was entered"
            raise BadSubmission(f"{changed}: remove {str(program.root)!r}, submit it again")
        return replace(program, name=label).entrant()

    return entrant


def program_of(home: Path, version: store.Version) -> Program:
    """A version's program as the home keeps it."""
    root = folder(home) / (version.built or version.digest)
    said = submission.manifest(root)
    return Program(
        version.name,
        version.games,
        version.run,
        root,
        (),
        version.digest,
        said.about,
        said.language,
        needs=said.limits,
        protocol=said.protocol,
        built=version.built,
        packed=version.packed,
    )


class Workshop(NamedTuple):
    """Where and how bots that lie at a path are made ready."""

    scratch: Path
    sandbox: Sandbox
    building: Building


def built(home: Path, program: Program, sandbox: Sandbox, building: Building, *, cached: bool = False) -> Program:
    """A program, built if it has a build, where it lies; the log stays in the home. Raises BadSubmission, NoSandbox.

    If `cached`, with what builds of that name left at home: only of a name that nobody else can build under.
    """
    from arena.submission.build import build  # here, because most commands build nothing

    _check_held(program, sandbox)
    check_wishes(program, sandbox)
    if program.build:
        store.make_home(home)
        store.close_home(home)
    cache = home / "caches" / program.name if cached else None
    return build(program, home / "builds" / f"{program.digest}.log", sandbox, building, cache)


def find(db: Database, home: Path, text: str, game: Game[Any], workshop: Workshop) -> Entrant:
    """A bot as people name one: a built-in, a name or label in the home, a path, or `attach:`.

    What lies at a path is copied: the bot is to see its own files, not what else is in the folder.
    Raises BadSubmission.
    """
    if text == "attach:":
        return Entrant("attach", "attach", ())
    own = built_ins(db)
    if text in own:
        program = own[text]
    elif "/" in text or text.endswith(".py") or (os.path.exists(text) and not _is_known(db, text)):
        from arena.submission.intake import take

        program = take(Path(text), Path(tempfile.mkdtemp(dir=workshop.scratch))).program
        _check_plays(text, program.games, game)
        program = built(home, program, workshop.sandbox, workshop.building)
    else:
        version = _known(db, text, ", or a path such as ./mine.py")
        _check_plays(text, version.games, game)
        return starter(db, home, workshop.sandbox)(version.label)
    _check_plays(text, program.games, game)
    return program.entrant()


def _check_held(program: Program, sandbox: Sandbox) -> None:
    """Raises NoSandbox for a stranger's program where nothing would hold it and nobody trusts it."""
    if program.packed and not sandbox.is_for_strangers:
        raise NoSandbox(
            f"{program.name} came as an archive, perhaps from a stranger, and grade {sandbox.grade} holds nobody:"
            " install bubblewrap (see arena doctor), or say --i-trust-these-bots"
        )


def check_wishes(program: Program, sandbox: Sandbox) -> None:
    """Raises BadSubmission for a program that wishes for more than the organiser allows: it is not given less."""
    needs, allowed = program.needs, sandbox.allowed
    for key, wish, most, unit, option in (
        ("memory_mib", needs.memory_mib, allowed.memory_mib, " MiB", "--max-memory or ARENA_MAX_MEMORY"),
        ("tasks", needs.tasks, allowed.tasks, "", "--max-tasks or ARENA_MAX_TASKS"),
    ):
        if wish is not None and wish > most:
            wished = f"{program.name} wishes for {key} = {wish}, and at most {most}{unit} are allowed"
            instead = f"ask for less in its bot.toml, or allow more with {option}"
            raise BadSubmission(f"{wished}: {instead}")


def _check_plays(name: str, plays: Sequence[str], game: Game[Any]) -> None:
    if game.name not in plays:
        raise BadSubmission(f"{name!r} does not play {game.name}: it plays {', '.join(plays)}")


def _is_known(db: Database, text: str) -> bool:
    return any(text in (version.name, version.label) for version in store.versions(db))


def _known(db: Database, name: str, or_else: str = "") -> store.Version:
    try:
        return store.version(db, name)
    except store.NotFound as error:
        if name.partition("@")[0] in {version.name for version in store.versions(db)}:
            raise BadSubmission(str(error)) from None
        raise BadSubmission(suggest.unknown("bot", name, sorted(names(db))) + or_else) from None
