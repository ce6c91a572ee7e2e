"""Pages of a few words."""

from __future__ import annotations

from starlette.responses import Response

from arena.site.rendering import render


def told(status: int, head: str, text: str) -> Response:
    """Return a page that says why there is no other one."""
    page = render("error.html", head=head, text=text)
    return Response(page, status, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")
