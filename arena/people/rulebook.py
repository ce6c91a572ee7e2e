"""The rules of a game for people who play it in a terminal, from the documentation of a clone."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.text import Text

from arena.games.rules import Game

GAMES_PAGE = Path(__file__).parents[2] / "docs" / "games.md"
"""Where a clone has the rules; an arena that was installed has them only in the code of its games."""


def rules_text(game: Game[Any]) -> str:
    """Return the rules in Markdown: how it is played and who wins, without what only authors of bots need."""
    if GAMES_PAGE.is_file():
        page = GAMES_PAGE.read_text("utf-8")
        if section := re.search(
            rf"^## {re.escape(game.title)}\n(.*?)(?=^\| action |^## |\Z)", page, re.DOTALL | re.MULTILINE
        ):
            return _LINK.sub(r"\1", _PICTURE.sub("", section[1])).strip()
    return (type(game).__doc__ or sys.modules[type(game).__module__].__doc__ or "nobody has written them down").strip()


_PICTURE = re.compile(r"^!\[.*?\]\(.*?\)\n\n\*.*?\*\n\n", re.DOTALL | re.MULTILINE)
"""A picture with its caption."""
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
"""A link to another page, which leads nowhere from a terminal."""


def show_rules(game: Game[Any], *, on_terminal: bool) -> RenderableType:
    """Return the rules as a terminal shows them or, where there is none, as plain text."""
    return Markdown(rules_text(game)) if on_terminal else Text(rules_text(game).replace("**", ""))
