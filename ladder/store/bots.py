"""Bots that have entered, version by version."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ladder.schedule import canonical_json
from ladder.store.database import NotFound, StoreError, where, write
from ladder.store.journal import Correction, NewEntry, bans, correction, note
from ladder.store.records import Version

if TYPE_CHECKING:
    from sqlite_utils import Database

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
"""Matches the name of a bot: at most 32 characters, and no sign at the beginning."""


class NewBot(NamedTuple):
    """A bot that enters, under its name: what is stored of a version."""

    name: str
    digest: str
    """Of what was handed in, in hexadecimal digits."""
    games: Sequence[str]
    run: Sequence[str]
    """The words of the command that starts it."""
    origin: str
    """ "built-in" or "submitted"; a name belongs to one of them for ever."""
    built: str | None = None
    """Digest of what was built of it; None for a bot that needs no build."""
    packed: bool = False
    """Whether it came as one file that unpacks itself."""


def add(db: Database, bot: NewBot) -> tuple[Version, bool]:
    """Enter a bot; return its new version and True, or its newest one and False if that has the same digests.

    A submitted version that comes again is no longer retired, and no longer `packed` if it now comes unpacked. Of a
    banned bot nothing is taken, but a built-in one enters retired. Raises StoreError.
    """
    name, origin = bot.name, bot.origin
    if not _NAME.fullmatch(name):
        raise StoreError(f"a bot's name is 1 to 32 of a-z 0-9 . _ - and begins with a-z or 0-9, not {name!r}")
    with write(db):
        if origin == "submitted":
            check_not_banned(db, name)
        newest = next(reversed(versions(db, name)), None)
        if newest and newest.origin != origin:
            raise StoreError(f"the name {name!r} belongs to a {newest.origin} bot: choose another")
        if newest and (newest.digest, newest.built) == (bot.digest, bot.built):
            return (_again(db, newest, bot.packed) if origin == "submitted" else newest), False
        number = newest.number + 1 if newest else 1
        now = time.time()
        retired = now if name in bans(db) else None
        games, run = tuple(bot.games), tuple(bot.run)
        new = Version(name, number, bot.digest, games, run, origin, now, retired, bot.built, bot.packed)
        _insert(db, new)
        if origin == "submitted":
            note(db, NewEntry("submit", new.label))
        return new, True


def versions(db: Database, name: str | None = None) -> tuple[Version, ...]:
    """Return every version, or those of one bot, by name and then from the first to the newest."""
    where = "" if name is None else "WHERE name = ?"
    rows = db.query(f"SELECT * FROM versions {where} ORDER BY name, number", [] if name is None else [name])
    return tuple(_version(row) for row in rows)


def find(db: Database, name: str) -> Version:
    """Return the version with a label ("greedy@2"), or the newest with a name ("greedy"). Raises NotFound."""
    return named(db, name)[-1]


def known_name(db: Database, name: str) -> tuple[Version, ...]:
    """Return all versions of a bot, by its name alone ("greedy"). Raises NotFound, and StoreError for a label."""
    bot_versions = named(db, name)
    if name != bot_versions[0].name:
        raise StoreError(f"{name} is one version: name the bot, {bot_versions[0].name}, which means all of them")
    return bot_versions


def rename(db: Database, name: str, title: str) -> Correction:
    """Give a bot a name for people; its own name takes that away again. Raises NotFound, and StoreError for a label."""
    with write(db):
        known_name(db, name)
        return correction(db, note(db, NewEntry("rename", name, title=title)))


def check_not_banned(db: Database, name: str) -> None:
    """Raise StoreError for a banned bot, or a version of one."""
    bot = name.partition("@")[0]
    if (ban := bans(db).get(bot)) is not None:
        raise StoreError(f"{bot} was banned {ban.account} (to lift it: `arena ban {bot} --undo --why TEXT`)")


def field(db: Database, game: str) -> tuple[Version, ...]:
    """Return the bots that play a game: of each bot the newest version that is not retired, if it plays the game."""
    newest = {version.name: version for version in versions(db) if version.retired is None}
    return tuple(version for version in newest.values() if game in version.games)


def named(db: Database, name: str) -> tuple[Version, ...]:
    """Return the versions that a name (all of the bot) or a label (one) means; at least one. Raises NotFound."""
    bot, at, _ = name.partition("@")
    candidates = versions(db, bot) if bot.isascii() else ()  # bytes that are no text cannot be looked for
    if not candidates:
        names = ", ".join(sorted({version.name for version in versions(db)})) or "none yet"
        raise NotFound(f"no bot {bot!r}{where(db)}: bots are {names}")
    named = tuple(version for version in candidates if not at or version.label == name)
    if not named:
        raise NotFound(f"no version {name!r}{where(db)}: there is {', '.join(version.label for version in candidates)}")
    return named


def _insert(db: Database, new: Version) -> None:
    games, run = canonical_json(new.games), canonical_json(new.run)
    db.execute(
        "INSERT INTO versions (label, name, number, digest, games, run, origin, created, retired, built, packed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [new.label, *new[:3], games, run, *new[5:]],
    )


def _again(db: Database, old: Version, packed: bool) -> Version:
    """Update and return a version that is submitted once more; it is not `packed` once it was handed in as a folder."""
    db.execute("UPDATE versions SET packed = packed AND ?, retired = NULL WHERE label = ?", [packed, old.label])
    if old.retired is not None:
        note(db, NewEntry("submit", old.label))
    return old._replace(packed=old.packed and packed, retired=None)


def _version(row: Mapping[str, Any]) -> Version:
    values = {name: row[name] for name in Version._fields}
    lists = {name: tuple(json.loads(row[name])) for name in ("games", "run")}
    return Version(**values | lists | {"packed": bool(row["packed"])})
