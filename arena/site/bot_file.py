"""The page of a bot as one file that needs nothing else, to send to people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.requests import Request

from arena.site import bot_page
from arena.site.page_shell import policy, static_text
from arena.site.static_page import static_page

if TYPE_CHECKING:
    from sqlite_utils import Database

_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n')
"""Matches a link to a file of styles, with its address."""
_NAVIGATION = re.compile(r'<a class="skip".*?</nav>\n?', re.DOTALL)
"""Matches what leads to other pages, at the top of a page."""


def bot_file(db: Database, label: str) -> str:
    """Return the page of a version as the site shows it, with its styles inside and without links to other pages."""
    page = bot_page.page(db, Request({"type": "http", "path_params": {"bot": label}}), False).text
    style = "".join(map(static_text, _STYLE.findall(page)))
    page = _NAVIGATION.sub("", _STYLE.sub("", page))
    alone = static_page(page, f"/bot/{label}", lambda _: None, policy([], style)).text
    return alone.replace("</head>", f"<style>{style}</style>\n</head>", 1)
