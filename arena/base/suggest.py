"""Text from users and bots in messages: made harmless and, if it is an unknown name, with a suggestion."""

from __future__ import annotations

import shlex
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_CLONE = Path(__file__).parents[2]
"""Where the arena lies; in a clone there is its `pyproject.toml`."""
_NAMES = 30
"""Number of known names that an error lists."""


def short(text: str) -> str:
    """Quote text from a user for a message; a long one is cut, and what is not printable is escaped.

    Letters of any language stay as they are: standard error escapes those that its encoding lacks.
    """
    return repr(text) if len(text) <= 40 else f"{text[:40]!r} …"


def printable(text: str) -> str:
    """Escape everything in a text from outside the arena that could move the cursor or change colours."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def unknown(what: str, name: str, choices: Iterable[str], where: str = "") -> str:
    """Return the error message for an unknown name: where it was sought, a suggestion, and names that are known."""
    names = list(choices)
    more = f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return f"unknown {what} {short(name)}{where}{meant(name, names)}: {what}s are {', '.join(names[:_NAMES])}{more}"


def meant(name: str, choices: Iterable[str]) -> str:
    """Return a remark that suggests the most similar known name; empty if none is similar."""
    from difflib import get_close_matches  # imported here, because few names are wrong

    close = get_close_matches(_plain(name), choices, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _plain(text: str) -> str:
    """Return a text as names of bots are written: in small letters, without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(char))


def to_install(extra: str, packages: str, clone: Path = _CLONE) -> str:
    """Return the command that installs an extra of the arena, as a clone's documentation does, or else its packages."""
    wanted = ["--editable", f"{clone}[{extra}]"] if (clone / "pyproject.toml").is_file() else packages.split()
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])
