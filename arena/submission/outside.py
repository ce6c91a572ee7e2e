"""Files and folders that lie in a submission, or beside it, and are no part of a bot."""

from __future__ import annotations

import re

LEFT_OUT = {
    "__pycache__", "__MACOSX", ".git", ".venv", ".arena", ".packages", "node_modules", "target",
    ".mypy_cache", ".ruff_cache", ".pytest_cache",
}  # fmt: skip
"""Folders that are no part of a bot.

`.arena` is a data directory ("home"), which grows with every submission; in `.packages` a build installs packages;
`target` is where Cargo and Maven build.
"""
_OF_A_SYSTEM = re.compile(
    r"\._.*|\.DS_Store|\.localized|\.apdisk|__MACOSX|Icon\r|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems"
    r"|desktop\.ini|(?:eh)?thumbs\.db|\$RECYCLE\.BIN|System Volume Information",
    re.IGNORECASE,
)
"""Names that macOS and Windows give to files and folders of their own."""


def is_of_a_system(name: str) -> bool:
    """Tell whether macOS or Windows makes files or folders of this name for itself: nobody means to hand them in."""
    return _OF_A_SYSTEM.fullmatch(name) is not None
