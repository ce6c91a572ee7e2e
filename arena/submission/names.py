"""Names for bots, made from what people call their files and folders."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
"""The names that a bot may have."""
_LONGEST = 32
"""Characters of the longest of them."""
ALLOWED = "1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit"
"""The same in words."""
_SPELLED = str.maketrans(
    {
        "ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "å": "aa", "þ": "th",
        "ð": "d", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ŋ": "n", "ŧ": "t", "+": "p",
    }
)  # fmt: skip
"""Letters as passports spell them (ICAO document 9303); all others there lose their accents. And c++ is cpp."""


def proposed(text: str) -> str | None:
    """Return the name for a bot that is closest to a text, such as "mueller-fritz" to "Müller, Fritz".

    None if a letter or digit would be lost, or more than there is room for: what remains could be somebody else's name.
    """
    lower = re.sub(r"_assignsubmission_[a-z]+_?$", "", text.lower())  # as Moodle calls what it has received
    if NAME.fullmatch(lower):
        return lower
    spelled = unicodedata.normalize("NFC", lower).translate(_SPELLED)
    plain = "".join(char for char in unicodedata.normalize("NFKD", spelled) if unicodedata.category(char) != "Mn")
    if any(char.isalnum() and not char.isascii() for char in plain):
        return None
    words = re.sub(r"[^a-z0-9._]+", "-", plain)
    name = re.sub(r"[._]*-[._-]*", "-", words).strip("._-")
    return name if 0 < len(name) <= _LONGEST else None


def spelled(path: Path) -> Path:
    """Return a path as an absolute one in which links keep their names, also those that led to the current folder."""
    if ".." in path.parts:  # of a link's folder the real one is meant
        return path.parent.resolve() / path.name if path.name != ".." else path.resolve()
    return Path(os.path.normpath(_current_folder() / path))


def _current_folder() -> Path:
    """Return the current folder as the shell calls it, if it has not moved since."""
    shell = Path(os.environ.get("PWD", ""))
    return shell if shell.is_absolute() and shell.is_dir() and shell.samefile(os.curdir) else Path.cwd()
