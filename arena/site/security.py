"""What protects whoever looks at the site: strict headers, only names that are ours, and nothing but reading."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Set

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})
EVERYWHERE = frozenset({"0.0.0.0", "::"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",  # ask whether it has changed, or a new arena would be shown by old scripts
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Wraps the site. Refuses what is not GET or HEAD, and requests to a name that is not its own.

    Another site could let a name of its own lead to this machine, and then read what only this machine may (DNS
    rebinding): its name is in the header Host.
    """

    def __init__(self, site: ASGIApp, host: str) -> None:
        self._site = site
        self._names = LOCAL | names(host)
        self._any_address = host in EVERYWHERE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            return await self._site(scope, receive, send)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        return await (refusal or self._site)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("This site can only be read.\n", 405, {"Allow": "GET, HEAD"})
        host = hostname(Headers(scope=scope).get("host", ""))
        if host in self._names or (self._any_address and _is_address(host)):
            return None
        return PlainTextResponse("This site has another name: ask for it by the address that was printed.\n", 421)


def hostname(host: str) -> str:
    """Return the name in a Host header, without its port; an address of IPv6 stays in brackets."""
    name = host.lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]


def names(host: str) -> Set[str]:
    """Return the names by which a site is called that listens at a host."""
    if host in EVERYWHERE:
        own = socket.gethostname().lower()
        return {own, f"{own}.local"}
    return {f"[{host.lower()}]" if ":" in host else host.lower()}


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
