"""A page of the site as a file: what needs a server is left out, and links lead to other files."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from posixpath import dirname, relpath
from typing import NamedTuple, TypeAlias
from urllib.parse import urldefrag, urljoin

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of a file; a browser takes the folder for the site, on a server and on a disk."""

_SERVED = re.compile(r"<(\w+)\b[^>]* data-served\b[^>]*>.*?</\1>\n?", re.DOTALL)
"""Matches an element that needs a server.

In a page of ours each "<" begins a tag, and each tag ends at the next ">": what comes from elsewhere is escaped.
"""
_LINK = re.compile(r'(<(?:a|link|script|img)\b[^>]*?) (href|src)="([^"]*)"')
"""Matches a tag with a link: how it begins, the attribute and the address."""
_ELSEWHERE = re.compile(r"#|[a-z]+:")
"""Matches how a link begins that stays on its page or names its scheme."""

FileOf: TypeAlias = Callable[[str], "str | None"]
"""Function that returns the file that an address of the site becomes; None if it becomes none."""


class StaticPage(NamedTuple):
    """A page as a file, and the addresses to which it leads."""

    text: str
    leads_to: tuple[str, ...]


def static_page(page: str, address: str, file_of: FileOf, policy: str = _POLICY) -> StaticPage:
    """Return the page at an address as a file.

    Elements with the attribute `data-served` are left out; none may be in another one of its kind. A link to an address
    that becomes no file is one no more: its text stays. `policy` is the Content-Security-Policy of the file.
    """
    folder = dirname(file_of(address) or "")
    leads_to: dict[str, None] = {}

    def led(tag_match: re.Match[str]) -> str:
        tag, name, link = tag_match.groups()
        if _ELSEWHERE.match(link):
            return tag_match[0]
        target, anchor = urldefrag(urljoin(address, unescape(link)))
        file = file_of(target)
        if file is None:
            return tag
        leads_to[target] = None
        path = relpath(file, folder or ".") + (anchor and f"#{anchor}")
        return f'{tag} {name}="{escape(path)}"'

    text = _LINK.sub(led, _SERVED.sub("", page))
    head = '<meta charset="utf-8">\n'
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    return StaticPage(text.replace(head, head + meta, 1), tuple(leads_to))
