"""What protects whoever looks at the site: strict headers, only names that are ours, and hardly anything to send."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Set

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.site.rendering import PLAYS

_LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names that only this machine gives to itself."""
_EVERYWHERE = frozenset({"0.0.0.0", "::"})
"""Hosts of a site that listens at every address of this machine."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the site: nothing of other sites, and no script that stands in a page."""
FORM = "application/x-www-form-urlencoded"
"""Type of what a form sends."""
LARGEST = 4096
"""Bytes that can be sent at once. It is far more than a form of ours has, and little for a server to hold."""
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:\[\]]+)(:[0-9]*)?")
"""Matches the header Host: a name or an address, and perhaps a port."""
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-cache",  # ask whether it has changed, or a new arena would be shown by old scripts
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every answer that does not have them with other values."""


class Guard:
    """Wraps the site. Refuses requests to a name that is not its own, and whatever is sent but forms of its pages.

    Another site could let a name of its own lead to this machine, and then read what only this machine may (DNS
    rebinding): its name is in the header Host. It could also send forms here: its address is in the header Origin.
    Forms are there only where people play, below /play.
    """

    def __init__(self, site: ASGIApp, host: str, *, plays: bool = False) -> None:
        self._site = site
        self._plays = plays
        self._names = _LOCAL | host_names(host)
        self._any_address = host in _EVERYWHERE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            return await self._site(scope, receive, send)
        PLAYS.set(self._plays)  # for the pages that are made to answer this request

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        return await (refusal or self._site)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # two programs on the way may disagree on where such a request ends, and take its rest for another one
            only = "A request has one length.\n"
            return PlainTextResponse(only, 400, {"Connection": "close"})
        if scope["method"] not in ("GET", "HEAD") and not self._is_for_forms(scope):
            return PlainTextResponse("This page can only be read.\n", 405, {"Allow": "GET, HEAD"})
        host = _hostname(headers.get("host", ""))
        if host not in self._names and not (self._any_address and _is_address(host)):
            return PlainTextResponse("This site has another name: ask for it by the address that was printed.\n", 421)
        return _refused_form(headers) if scope["method"] == "POST" else None

    def _is_for_forms(self, scope: Scope) -> bool:
        path: str = scope["path"]
        return self._plays and scope["method"] == "POST" and (path == "/play" or path.startswith("/play/"))


def _refused_form(headers: Headers) -> PlainTextResponse | None:
    """Return why a form is not taken: it must be small, and come from a page of this site."""
    host = headers["host"].lower()
    if headers.get("origin", "").lower() not in (f"http://{host}", f"https://{host}"):
        return PlainTextResponse("Only pages of this site can send something.\n", 403)
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return PlainTextResponse(f"What is sent must be {FORM}.\n", 415)
    length = headers.get("content-length", "")
    if "transfer-encoding" in headers:  # or it would be as long as its sender likes, whatever length is named beside it
        return PlainTextResponse("What is sent must come in one piece.\n", 413)
    if not length.isascii() or not length.isdecimal() or int(length) > LARGEST:
        return PlainTextResponse(f"What is sent must say its length, at most {LARGEST} bytes.\n", 413)
    return None


def _hostname(host: str) -> str:
    """Return the name in a Host header, without its port; an address of IPv6 stays in brackets.

    Empty for what is no name: the name of no site.
    """
    name_match = _HOST.fullmatch(host.lower())
    return name_match["name"] if name_match else ""


def host_names(host: str) -> Set[str]:
    """Return the names by which a site is called that listens at a host."""
    if host in _EVERYWHERE:
        hostname = socket.gethostname().lower()
        return {hostname, f"{hostname}.local"}
    return {f"[{host.lower()}]" if ":" in host else host.lower()}


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
