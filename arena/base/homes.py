"""Find the data directory ("home") if nobody names one: the nearest `.arena` here or above, as git finds `.git`."""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

HOME_NAME = Path(".arena")
"""The home in the current folder; it is made there if no folder above has one either."""


class ForeignHome(Exception):
    """Error for a home of another user that nobody named; the message says how to name it."""


def nearest_home() -> Path:
    """Return the nearest home of this folder and those above, or else `HERE`. Raises as `check_owner` does."""
    home = next(_homes_above(), HOME_NAME)
    check_owner(home, trusted())
    return home


def _homes_above() -> Iterator[Path]:
    """Yield every home of this folder and of those above, the nearest first, whoever owns them."""
    if os.path.isdir(HOME_NAME):
        yield HOME_NAME
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # the current folder was removed
        return
    for above in folder.parents:
        if os.path.isdir(above / HOME_NAME):  # and if it may be looked at
            yield above / HOME_NAME


def trusted() -> Set[int]:
    """Return the users whose homes are used unnamed: this one and, for root under sudo, the one who called sudo."""
    user, caller = os.geteuid(), os.environ.get("SUDO_UID", "")
    return {user, int(caller)} if user == 0 and caller.isdecimal() else {user}


def check_owner(home: Path, users: Set[int]) -> None:
    """Raise ForeignHome for a home that belongs to none of these users; one that is missing is fine.

    In a folder that others may write to, somebody could have put it there for others to find, with programs in it that
    a ladder would start. The owner of a link counts as well as that of its target.
    """
    try:
        owners = [home.lstat().st_uid, home.stat().st_uid]
    except FileNotFoundError:
        return
    if strange := [owner for owner in owners if owner not in users]:
        named = f"--home {shlex.quote(str(home))} or ARENA_HOME"
        advice = "another folder" if home == HOME_NAME else f"--home {HOME_NAME} for one of your own"
        whose = f"{str(home)!r} belongs to another user ({_name(strange[0])}), and nobody named it"
        raise ForeignHome(f"{whose}: say {named} to use it all the same, or {advice}")


def hidden(home: Path) -> Sequence[str]:
    """Return the folders that no bot may see: the home in use, and every other one that could be meant here."""
    homes = {home, HOME_NAME, Path(os.environ.get("ARENA_HOME") or HOME_NAME), *_homes_above()}
    return [str(folder.resolve()) for folder in homes]


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
