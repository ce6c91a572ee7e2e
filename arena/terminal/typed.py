"""What people type: commands of the arena with the program as they call it, in a clone by its path."""

from __future__ import annotations

import os
import shlex


def typed_as(*words: object) -> str:
    """Return a command of the arena for people to type; without words, the program alone."""
    return shlex.join([os.environ.get("ARENA_TYPED") or "arena", *map(str, words)])


def as_typed(text: str) -> str:
    """Return a text for people in which a command between backquotes begins as they have to type it.

    So a message can name `arena log` wherever it is made, also where nobody knows how the arena was called.
    """
    return text.replace("`arena ", f"`{typed_as()} ")
