"""What an organiser corrects by hand: matches that are not to count, bots that are not to play, names for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.cells import cell_len

from arena import submission
from arena.base import suggest
from arena.replay import Unreadable, unpack
from arena.roster.bots import bot_names, builtin_bots, enter_built_ins, find_version
from arena.submission import BadSubmission
from ladder import store

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database

_TITLE = 32
"""Width of a bot's name for people, in columns of a terminal, at most."""
_SIGNS = frozenset(" -_.,'&+!#")
"""What a name for people may have but letters and digits. Brackets are not part of it: what the arena says of a bot is
in them."""
_RIGHT_TO_LEFT = {"R", "AL", "AN"}
"""Kinds of characters, as Unicode has them, that a terminal may show in another order, with what stands beside them."""
_ALIKE = str.maketrans("аеорсхукмтвніѕјοαρνικτχυɡı", "aeopcxykmtbhisjoapviktxugi")
"""Letters of other scripts that look like Latin ones."""
_PREFIX = 6
"""Characters of a match's id that annulling takes at least, since it cannot be undone."""


def annul_matches(
    home: Path, what: str, why: str, *, ladder: str | None = None, since: float | None = None
) -> store.annulment.Annulled:
    """Annul a match, by the beginning of its id, or those matches of a bot or version that count.

    `ladder` and `since` choose among the matches of a bot. The caller has the ratings computed anew. Raises
    BadSubmission and StoreError.
    """
    with store.open_read(home, must_exist=True) as db:
        is_bot = what.partition("@")[0] in {version.name for version in store.bots.versions(db)} and not _is_id(
            db, what
        )
        if not is_bot:
            _check_match(db, home, what, chosen=ladder is not None or since is not None)
        _check_ladder(db, ladder)
    with store.open(home) as db:
        if is_bot:
            return store.annulment.annul_bot(db, what, why, ladder=ladder, since=since)
        return store.annulment.annul_match(db, what, why)


def annul_host(
    home: Path, host: str, why: str, *, ladder: str | None = None, since: float | None = None
) -> store.annulment.Annulled:
    """Annul those matches that a host of a cluster has played; otherwise as `annul`."""

    def was_played_there(packed: bytes) -> bool:
        try:
            return unpack(packed).conditions.get("host") == host
        except Unreadable:
            return False

    with store.open_read(home, must_exist=True) as db:
        _check_ladder(db, ladder)
    with store.open(home) as db:
        return store.annulment.annul_those(db, f"host {host}", why, was_played_there, ladder=ladder, since=since)


def _check_ladder(db: Database, ladder: str | None) -> None:
    """Raise NotFound if no ladder has this id."""
    if ladder is not None and store.ladders.find(db, ladder) is None:
        ids = ", ".join(entry.id for entry in store.ladders.all(db)) or "none yet"
        raise store.NotFound(f"no ladder {suggest.short(ladder)}: there is {ids}")


def _is_id(db: Database, what: str) -> bool:
    """Tell whether this is a whole id of a match. It means the match, even if somebody has called a bot so."""
    try:
        return store.matches.find(db, what).id == what
    except store.NotFound:
        return False


def _check_match(db: Database, home: Path, what: str, *, chosen: bool) -> None:
    """Raise StoreError unless there is a match whose id begins so; BadSubmission if matches of a bot are meant."""
    if chosen:
        raise BadSubmission(f"{suggest.short(what)} is no bot: --ladder and --since choose among the matches of one")
    nobody = f"no bot in {str(home)!r} that played is called so{suggest.meant(what, bot_names(db) - {what})}"
    if len(what) < _PREFIX:
        raise store.NotFound(f"{suggest.short(what)} is less than {_PREFIX} characters of a match's id, and {nobody}")
    try:
        store.matches.find(db, what)
    except store.NotFound as error:
        raise store.NotFound(f"{error}, and {nobody}") from error


def ban_bot(
    home: Path, name: str, why: str, *, since: float | None = None, keep: bool = False
) -> store.annulment.Annulled:
    """Retire all versions of a bot for good, and annul its groups, or those with a match finished at a time or later.

    With `keep` what it played goes on counting. The caller has the ratings computed anew. Raises BadSubmission and
    StoreError.
    """
    with _with_bot(home, name) as db:
        return store.annulment.ban(db, name, why, since=since, keep=keep)


def unban_bot(home: Path, name: str, why: str) -> store.annulment.Annulled:
    """Lift a ban. Raises BadSubmission and StoreError."""
    with _with_bot(home, name) as db:
        return store.annulment.unban(db, name, why)


def rename_bot(home: Path, name: str, title: str) -> store.journal.Correction:
    """Give a bot a name for people; its own name takes that away again. Raises BadSubmission and StoreError."""
    title = unicodedata.normalize("NFKC", " ".join(title.split()))
    _check_title(title)
    with _with_bot(home, name) as db:
        titles = store.journal.titles(db)
        for bot in sorted(bot_names(db) - {name}):
            for name_used in filter(None, (bot, titles.get(bot))):
                if looks(name_used) == looks(title):
                    like = f"{suggest.short(title)} could be taken for {suggest.short(name_used)}"
                    raise BadSubmission(f"{like}, a name of {bot}: choose another")
        return store.bots.rename(db, name, title)


def _check_title(title: str) -> None:
    """Raise BadSubmission for a name that could upset a table, or that pretends to be in another script."""
    visible = [
        character for character in title if character.isalnum() and "FILLER" not in unicodedata.name(character, "")
    ]
    signs = [character for character in title if character in _SIGNS]
    if not visible or len(visible) + len(signs) < len(title) or cell_len(title) > _TITLE:
        allowed = f"1 to {_TITLE} letters, digits and signs of {''.join(sorted(_SIGNS))!r}"
        raise BadSubmission(f"{suggest.short(title)} is no name for people: it has {allowed}")
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in visible):
        raise BadSubmission(f"{suggest.short(title)} would turn the rows of tables around: choose another")
    scripts = sorted({_script(character) for character in visible if character.isalpha()})
    if len(scripts) > 1:
        raise BadSubmission(f"{suggest.short(title)} mixes letters of {' and '.join(scripts)}: choose another")


def looks(name: str) -> str:
    """Return a name for people as a hasty reader sees it: without accents and signs, and with alike letters alike."""
    letters = unicodedata.normalize("NFKD", name.casefold()).translate(_ALIKE)
    return submission.skeleton("".join(filter(str.isalnum, letters)))


def _script(letter: str) -> str:
    """Return whose letter it is, as the first word of its name in Unicode: LATIN, GREEK, CJK."""
    script = unicodedata.name(letter, "unknown").split()[0]
    return "CJK" if script.startswith(("HIRAGANA", "KATAKANA", "HANGUL")) else script


@contextmanager
def _with_bot(home: Path, name: str) -> Iterator[Database]:
    """Open the database of a home for writing, once it is known to have a bot. Raises BadSubmission and StoreError.

    A built-in bot that never played is entered first.
    """
    with store.open_read(home) as db:
        built_in = name in builtin_bots(db)
        if not built_in:
            find_version(db, home, name)
    with store.open(home) as db:
        if built_in:
            enter_built_ins(db, home)
        yield db
