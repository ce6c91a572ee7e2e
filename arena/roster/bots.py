"""The built-in bots and those submitted to a data directory ("home"), and how each is started."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena import submission
from arena.base import suggest
from arena.games.rules import Game
from arena.sandbox.grades import UNCONFINED, NoSandbox
from arena.submission import BadSubmission, Program
from arena.submission.program import missing_tools_of
from arena.worker.jobs import Entrant
from ladder import store
from ladder.schedule import TooFewBots
from ladder.store.home import close_home, make_home

if TYPE_CHECKING:
    from sqlite_utils import Database

    from arena.sandbox import Sandbox
    from arena.submission.build import Building

_OR_A_PATH = ", or a path such as ./mine.py"
"""What an error adds where the name of a bot could also be a path."""

# Entering


def enter_built_ins(db: Database, home: Path) -> None:
    """Enter the built-in bots, as this arena has them, as versions like those of all other bots."""
    for program in builtin_bots(db).values():
        enter_bot(db, home, program, "built-in")


def enter_bot(db: Database, home: Path, program: Program, origin: str) -> tuple[store.Version, bool]:
    """Store a program and make it a version; return its newest version, and whether that is new."""
    submission.store(program, folder(home))
    return store.bots.add(
        db,
        store.bots.NewBot(
            program.name,
            program.digest,
            games=program.games,
            run=program.run,
            origin=origin,
            built=program.built,
            packed=program.packed,
        ),
    )


def check_known(home: Path, names: Iterable[str]) -> None:
    """Raise BadSubmission for a name that is no bot's, nor that of a version."""
    with store.open_read(home) as db:
        for name in names:
            if name not in builtin_bots(db):
                find_version(db, home, name)


def retire_bot(home: Path, name: str, *, undo: bool = False) -> store.retirement.Retired:
    """Retire a bot or one version of it: leave it out of future fields and drop its scheduled matches.

    With `undo`, put it back into the field. Return the versions whose state changed, and how many matches were
    dropped. Raises BadSubmission.
    """
    with store.open_read(home) as db:
        built_in = name in builtin_bots(db)
        if not built_in:
            find_version(db, home, name)
    with store.open(home) as db:
        if built_in:  # one that never played may have no version yet
            enter_built_ins(db, home)
        if undo:
            return store.retirement.Retired(store.retirement.reinstate(db, name), 0)
        retired = store.retirement.retire(db, name)
        for ladder in store.ladders.all(db) if retired.dropped else ():
            store.ratings.apply(db, ladder)  # rate the matches that waited for dropped ones
        return retired


def folder(home: Path) -> Path:
    """Return the folder where a home keeps the programs, each under its digest."""
    return home / "bots"


def build_log(home: Path, digest: str) -> Path:
    """Return the file where a home keeps the output of the latest build of a submission with this digest."""
    return home / "builds" / f"{digest}.log"


def builtin_bots(db: Database) -> dict[str, Program]:
    """Return the built-in bots by name, except those whose name a submitted bot took before the arena had them."""
    names_taken = {version.name for version in store.bots.versions(db) if version.origin == "submitted"}
    return {name: program for name, program in submission.built_ins().items() if name not in names_taken}


def bot_names(db: Database) -> set[str]:
    """Return the names of all bots, submitted or built in."""
    return {version.name for version in store.bots.versions(db)} | submission.built_ins().keys()


def closest_name(db: Database, name: str, *, entered: bool) -> str:
    """Return a remark that suggests the bot of the most similar name, of those `entered` or else of all; or nothing."""
    return suggest.meant(name, {version.name for version in store.bots.versions(db)} if entered else bot_names(db))


def comes_along(label: str) -> bool:
    """Tell whether a name or label is of a bot that comes with the arena, entered in a home or not."""
    return label.partition("@")[0] in submission.built_ins()


# Listing


class RosterEntry(NamedTuple):
    """A line of `arena bots`; a built-in has one line, for its newest version, even if it is not entered yet."""

    bot: str
    origin: str
    games: tuple[str, ...]
    about: str
    language: str
    retired: bool
    only_named: tuple[str, ...]
    """Games in which the bot thinks long: it is in the field of their ladders only if it is named."""
    banned: bool
    title: str | None
    """The name that the bot was given for people."""


def listed(db: Database, home: Path) -> list[RosterEntry]:
    """Return every bot: the built-ins, then the submitted ones, version by version."""
    retired_bots, banned, titles = _retired(db), store.journal.bans(db), store.journal.titles(db)

    def entry(bot: str, origin: str, program: Program, retired: bool) -> RosterEntry:
        said = program.games, program.about, program.language, retired, program.slow
        return RosterEntry(bot, origin, *said, program.name in banned, titles.get(program.name))

    entries = [
        entry(name, "built-in", bot, (name, bot.digest) in retired_bots) for name, bot in builtin_bots(db).items()
    ]
    for version in store.bots.versions(db):
        if version.origin == "submitted":
            retired = version.retired is not None
            entries.append(entry(version.label, version.origin, program_of(home, version), retired))
    return entries


def _retired(db: Database) -> set[tuple[str, str]]:
    return {(version.name, version.digest) for version in store.bots.versions(db) if version.retired is not None}


# Who plays


def check_field(home: Path, game: Game[Any], seats: int, wanted: Sequence[str] | None) -> list[str]:
    """Return the bots of a ladder's field, by name or label, without writing anything to the database.

    They are those `wanted` or, if that is None, the built-ins that are not slow at the game and the newest unretired
    version of every submitted bot. Raises BadSubmission for a bot that cannot be in the field, and TooFewBots.
    """
    with store.open_read(home) as db:
        field = players(db, game, slow=False) if wanted is None else _checked(db, home, game, wanted)
        if len(field) < seats:
            names = ", ".join(field) or "none"
            raise TooFewBots(f"{seats} players need {seats} bots that play {game.name}; the field has only {names}")
    return field


def players(db: Database, game: Game[Any], *, slow: bool = True) -> list[str]:
    """Return the bots that play a game and are not retired: the built-ins, then the newest version of each other one.

    Built-ins that are slow at the game are left out unless `slow`.
    """
    retired_bots, banned = _retired(db), store.journal.bans(db)
    candidates = {
        name: bot
        for name, bot in builtin_bots(db).items()
        if name not in banned and (slow or game.name not in bot.slow)
    }
    built_in = [
        name for name, bot in candidates.items() if game.name in bot.games and (name, bot.digest) not in retired_bots
    ]
    return built_in + [version.label for version in store.bots.field(db, game.name) if version.origin == "submitted"]


def _checked(db: Database, home: Path, game: Game[Any], wanted: Sequence[str]) -> list[str]:
    built_ins, banned = builtin_bots(db), store.journal.bans(db)
    met: Counter[tuple[str, str]] = Counter()
    for name in wanted:
        bot = built_ins[name] if name in built_ins else find_version(db, home, name)
        if bot.name in banned:
            raise BadSubmission(f"{name!r} cannot play: it was banned {banned[bot.name].account}")
        _check_plays(name, bot.games, game.name)
        met[bot.name, bot.digest] += 1
        if met[bot.name, bot.digest] > 1:
            raise BadSubmission(f"{name!r} is in the field twice: name every bot once")
    return list(wanted)


class Starter:
    """The bots of a home as a worker starts them, by the label of a stored version."""

    def __init__(self, db: Database, home: Path, sandbox: Sandbox = UNCONFINED) -> None:
        """Prepare to start bots in this sandbox."""
        self._db = db
        self._home = home
        self._sandbox = sandbox
        self._programs: dict[str, Program] = {}
        self._entrants: dict[str, Entrant] = {}
        """Those whose programs are what was entered."""

    def __call__(self, label: str) -> Entrant:
        """Return a bot whose program is there as it was entered. Raises BadSubmission and NoSandbox."""
        if label not in self._entrants:
            expected, program = self.expected(label), self._programs[label]
            if not submission.intact(program):
                changed = f"the program of {label} is not what was entered"
                raise BadSubmission(f"{changed}: remove {str(program.root)!r}, submit it again")
            self._entrants[label] = expected
        return self._entrants[label]

    def expected(self, label: str) -> Entrant:
        """Return a bot without reading its program, which takes milliseconds: a field may have thousands.

        Raises BadSubmission and NoSandbox, as far as that says that it cannot be started.
        """
        if label not in self._programs:
            version = store.bots.find(self._db, label)
            program = program_of(self._home, version)
            _check_held(program, self._sandbox)
            program = replace(program, name=version.label)
            check_wishes(program, self._sandbox)
            if not program.root.is_dir():
                raise BadSubmission(f"the program of {label} is gone from {str(program.root)!r}: submit it again")
            self._programs[label] = program
        return self._programs[label].entrant()


def program_of(home: Path, version: store.Version) -> Program:
    """Return the program of a version as the home keeps it."""
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
    """Where and how bots that are named by a path are copied and built."""

    scratch: Path
    sandbox: Sandbox
    building: Building


def built(home: Path, program: Program, sandbox: Sandbox, building: Building, *, cached: bool = False) -> Program:
    """Build a program in its own folder, if it has a build, and return it. The log is kept in the home.

    If `cached`, the build gets the files that earlier builds of that name left in their folder HOME: only for a name
    under which nobody else can build. What the same build made of the same files is used again; without that cache it
    is also kept for the next. Raises BadSubmission and NoSandbox.
    """
    from arena.submission import build_results  # here, because most commands build nothing
    from arena.submission.build import build

    _check_held(program, sandbox)
    check_wishes(program, sandbox)
    if not program.build:
        return program
    make_home(home)
    close_home(home)
    key = build_results.key(program, sandbox)
    if (earlier := build_results.find_result(program, home / "built", key)) is not None:
        building.say(f"{program.name} is built already, from the same files with the same tools")
        return earlier
    cache = home / "caches" / program.name if cached else None
    result = build(program, build_log(home, program.digest), sandbox, building, cache)
    if not cached:
        build_results.keep_result(result, home / "built", key)
    return result


def find_bot(db: Database, home: Path, text: str, game: str, workshop: Workshop) -> Entrant:
    """Return the bot that a person names: a built-in, a name or label in the home, a path, or `attach:`.

    What lies at a path is copied: the bot is to see its own files, not what else is in the folder.
    Raises BadSubmission and NoSandbox.
    """
    if text == "attach:":
        return Entrant("attach", "attach", ())
    built_ins = builtin_bots(db)
    if text in built_ins:
        program = built_ins[text]
    elif _is_path(db, text):
        from arena.submission.intake import take_in

        program = take_in(Path(text), Path(tempfile.mkdtemp(dir=workshop.scratch))).program
        _check_plays(text, program.games, game)
        program = built(home, program, workshop.sandbox, workshop.building)
    else:
        version = find_version(db, home, text, _OR_A_PATH)
        _check_plays(text, version.games, game)
        if os.path.exists(text):
            workshop.building.say(f"{text} is {version.label}, as it was submitted; what lies here is ./{text}")
        return Starter(db, home, workshop.sandbox)(version.label)
    _check_plays(text, program.games, game)
    return program.entrant()


def check(db: Database, home: Path, text: str, game: str) -> None:
    """Raise BadSubmission if `find` would for a name; of a path, only whether something is there."""
    built_ins = builtin_bots(db)
    if text in built_ins:
        _check_plays(text, built_ins[text].games, game)
    elif not _is_path(db, text):
        _check_plays(text, find_version(db, home, text, _OR_A_PATH).games, game)
    elif not os.path.exists(text):
        raise missing_tools_of(Path(text))


def _is_path(db: Database, text: str) -> bool:
    return "/" in text or text.endswith(".py") or (os.path.exists(text) and not _is_known(db, text))


def _check_held(program: Program, sandbox: Sandbox) -> None:
    """Raise NoSandbox for a program that may be a stranger's, if nothing would confine it and nobody trusts it."""
    if program.packed and not sandbox.is_for_strangers:
        raise NoSandbox(
            f"{program.name} came as an archive, perhaps from a stranger, and grade {sandbox.grade} holds nobody:"
            " install bubblewrap (see `arena doctor`), or say --i-trust-these-bots"
        )


def check_wishes(program: Program, sandbox: Sandbox) -> None:
    """Raise BadSubmission for a program that asks for more than the organiser allows: it is not given less instead."""
    needs, allowed = program.needs, sandbox.allowed
    for key, wish, most, unit, option in (
        ("memory_mib", needs.memory_mib, allowed.memory_mib, " MiB", "--max-memory or ARENA_MAX_MEMORY"),
        ("tasks", needs.tasks, allowed.tasks, "", "--max-tasks or ARENA_MAX_TASKS"),
    ):
        if wish is not None and wish > most:
            wished = f"{program.name} asks for {key} = {wish}, and at most {most}{unit} are allowed"
            instead = f"ask for less in its bot.toml, or allow more with {option}"
            raise BadSubmission(f"{wished}: {instead}")


def _check_plays(name: str, plays: Sequence[str], game: str) -> None:
    if game not in plays:
        raise BadSubmission(f"{name!r} does not play {game}: it plays {', '.join(plays)}")


def _is_known(db: Database, text: str) -> bool:
    return any(text in (version.name, version.label) for version in store.bots.versions(db))


def find_version(db: Database, home: Path, name: str, or_else: str = "") -> store.Version:
    """Return the version that a name or label means. Raises BadSubmission if there is none."""
    try:
        return store.bots.find(db, name)
    except store.NotFound as error:
        if name.partition("@")[0] in {version.name for version in store.bots.versions(db)}:
            raise BadSubmission(str(error)) from None
        where = f" in {str(home)!r}"
        raise BadSubmission(suggest.unknown("bot", name, sorted(bot_names(db)), where) + or_else) from None
