"""The documentation as pages, from the files of a clone."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from arena.site.rendering import render

ROOT = Path(__file__).parent.parent.parent
"""The folder of the clone; an installed arena has no documentation there."""
PICTURES = ROOT / "docs/pictures"
"""The folder of the pictures in the documentation."""
GROUPS = {
    "For players": (
        "README.md",
        "docs/writing-a-bot.md",
        "docs/games.md",
        "docs/numbers.md",
        "docs/learning.md",
        "docs/playing.md",
        "bots/README.md",
    ),
    "For organisers": ("docs/contest.md", "docs/machine.md", "docs/site.md", "docs/cluster.md", "docs/data.md"),
    "Reference": ("docs/reference/commands.md", "docs/reference/json.md", "docs/reference/database.md"),
    "Design notes": (
        "docs/how-it-is-built.md",
        "docs/statistics.md",
        "docs/performance.md",
        "docs/security.md",
        "docs/verify.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ),
}
"""The pages in the order in which people read them: two books, then what they look up. All others are reference."""
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
"""What makes HTML of a page; HTML that stands in the page is shown as text."""


def index(_: Request) -> Response:
    """Answer with the list of all pages."""
    return HTMLResponse(text(""))


def page(request: Request) -> Response:
    """Answer with one page; links on it lead to the others. Without any it is said why."""
    name = request.path_params["page"]
    if not pages():
        return HTMLResponse(text(""), 404)
    if name not in pages():
        raise HTTPException(404)
    return HTMLResponse(text(name))


def text(name: str) -> str:
    """Return the page with a path in the clone, or the list of all pages if it is empty."""
    title = pages()[name].title if name else "Documentation"
    return render("docs.html", groups=_grouped(), text=_rendered(name) if name else None, title=title, here=name)


class PageEntry(NamedTuple):
    """A page in the list of all pages."""

    title: str
    about: str
    """Its first sentence."""


@cache
def pages() -> dict[str, PageEntry]:
    """Return what is listed of each page by its path in the clone; none if the arena was installed without them."""
    if not (ROOT / "docs/games.md").is_file():
        return {}
    others = [path for pattern in ("docs/**/*.md", "*.md", "bots/*/README.md") for path in sorted(ROOT.glob(pattern))]
    found = [*chain(*GROUPS.values()), *(str(path.relative_to(ROOT)) for path in others)]
    there = [name for name in dict.fromkeys(found) if (ROOT / name).is_file()]
    return {name: _entry((ROOT / name).read_text("utf-8")) for name in there}


def _grouped() -> dict[str, dict[str, PageEntry]]:
    """Return the pages by their group; no group without any."""
    found = pages()
    own = {name: group for group, names in GROUPS.items() for name in names}
    grouped = {group: {name: found[name] for name in found if own.get(name, "Reference") == group} for group in GROUPS}
    return {group: listed for group, listed in grouped.items() if listed}


def _entry(text: str) -> PageEntry:
    """Return the first heading and the first sentence; one that goes on from a command has it in front."""
    title = command = ""
    for token, following in pairwise(_MARKDOWN.parse(text)):
        if token.type == "heading_open":
            title = title or _plain(following.content)
        elif token.type in ("fence", "code_block"):
            command = token.content.strip().split("\n")[-1]
        elif token.type == "paragraph_open":
            said = _plain(following.content)
            sentence = re.match(r".*?[.](?=\s|$)", said)
            about = sentence[0] if sentence else said.rstrip(":") + "."
            return PageEntry(title, f"{command} {about}" if about[0].islower() else about)
    return PageEntry(title or "Documentation", "")


def _plain(text: str) -> str:
    """Return a piece of Markdown as one line of text."""
    return " ".join(re.sub(r"`|\*|\[([^]]*)\]\([^)]*\)", r"\1", text).split())


@cache
def _rendered(name: str) -> Markup:
    """Return a page as HTML. The files are ours, so what they say is trusted; comments in them are left out."""
    tokens = _MARKDOWN.parse(re.sub(r"<!--.*?-->\n?", "", (ROOT / name).read_text("utf-8"), flags=re.DOTALL))
    _name_headings(tokens)
    for token in tokens:
        _lead_links(token.children or [], name)
        if token.attrs.pop("style", "") == "text-align:right":  # the site's policy forbids styles in place
            token.attrs["class"] = "number"
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return Markup(_boxed(html).replace("<pre>", '<pre tabindex="0">'))


def _boxed(html: str) -> str:
    """Put each table into a box that scrolls if the table is wide, and can be reached by keys."""
    html = re.sub(r"<th( class=\"number\")?></th>", "<td></td>", html)  # an empty corner heads nothing
    first, *others = html.replace("</table>", "</table></div>").split("<table>")
    box = '<div class="wide" tabindex="0" role="region" aria-label="Table {}"><table>'
    return first + "".join(box.format(number) + other for number, other in enumerate(others, 1))


def _name_headings(tokens: list[Token]) -> None:
    """Give headings the ids that links to them use."""
    for token, text in pairwise(tokens):
        if token.type == "heading_open":
            plain = _plain(text.content).lower()
            token.attrSet("id", re.sub(r"[^\w -]", "", plain).replace(" ", "-"))


def _lead_links(tokens: list[Token], page: str) -> None:
    """Let links lead to the pages here; one to another file of the project becomes plain text."""
    address: str | None = None
    for token in tokens:
        if token.type == "image":
            token.attrs["src"] = f"/docs/pictures/{basename(str(token.attrs['src']))}"
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), page)
            token.attrs = {"href": address} if address else {}
        if token.type in ("link_open", "link_close") and address is None:
            token.tag = "span"


def _address(link: str, page: str) -> str | None:
    """Return where a link on a page leads on the site; None if that is no page."""
    path, hash_, anchor = link.partition("#")
    if not path or ":" in path:
        return link
    target = normpath(join(dirname(page), path))
    return f"/docs/{target}{hash_}{anchor}" if target in pages() else None
