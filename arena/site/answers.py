"""Pages of a few words."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.responses import Response

from arena.site.rendering import render


def refusal(status: int, head: str, text: str) -> Response:
    """Return a page that says why there is no other one."""
    page = render("error.html", head=head, text=text)
    return Response(page, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def without_path(error: Exception, home: Path) -> str:
    """Return an error's message for a page: without where the home is, which is nobody's business but the owner's."""
    paths = {str(home), str(home.absolute()), str(home.resolve())} - {"."}
    text = str(error)
    for path in sorted(paths, key=len, reverse=True):
        whole = rf"(?<![\w./-]){re.escape(path)}(?![\w.-])"
        text = text.replace(repr(path), "the home")
        text = re.sub(rf"{whole}/", "", text)
        text = re.sub(whole, "the home", text)
    return text.replace("`", "")  # around commands: on a page nobody types them
