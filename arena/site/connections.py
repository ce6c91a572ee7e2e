"""Connections to the site: bounded in number, and none is kept for somebody who sends nothing.

Each connection takes a file, of which a process usually may have 1,024. Without bounds, a thousand connections that
send nothing would keep everybody else out, for as long as they last.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_PATIENCE = 10.0
"""Seconds in which a request must come completely: longer than browsers keep a connection open that they do not use."""
BACKLOG = 32
"""Connections that are accepted at once; more wait in the kernel. `RESERVED`, which a page names, follows from it."""
RESERVED = 4 * BACKLOG + 128
"""Files that are left: for what is accepted before others are closed, for the database, and for people who play."""
OPEN_CONNECTIONS = 10_000
"""Connections at most, however many files there may be. It bounds memory."""
_QUIET = 60.0
"""Seconds between two lines about the same trouble."""
_LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
"""Errors of `accept` that say that something is used up for now."""


def most() -> int:
    """Return how many connections a site may have, by the number of files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_CONNECTIONS if files == resource.RLIM_INFINITY else max(min(files - RESERVED, OPEN_CONNECTIONS), 1)


class WaitingRequests:
    """The connections of a site that have not sent all of a request yet, the one that waits longest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        """How many connections there may be, waiting or not."""
        self._ends: dict[Connection, asyncio.TimerHandle] = {}

    def add(self, connection: Connection) -> None:
        """Close a connection in `REQUEST_PATIENCE` seconds unless it is removed; one that waits stays as it is."""
        if connection not in self._ends:
            self._ends[connection] = connection.loop.call_later(REQUEST_PATIENCE, self.close, connection)

    def remove(self, connection: Connection) -> None:
        """Let a connection live, since its request has come, or forget one that has gone."""
        if end := self._ends.pop(connection, None):
            end.cancel()

    def close(self, connection: Connection) -> None:
        """Close a connection at once."""
        self.remove(connection)
        connection.transport.abort()

    def make_room(self, newest: Connection) -> None:
        """Close the connection that has waited longest; where none waits, the newest."""
        self.close(next(iter(self._ends), newest))


class Connection(H11Protocol):
    """A connection of a browser or whoever else."""

    def __init__(self, waiting: WaitingRequests, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._waiting = waiting

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent does
        """Take the connection in, and close another one if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._waiting.most:
            self._waiting.make_room(self)
        if not transport.is_closing():
            self._waiting.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._waiting.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a request, or a part of one."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing():
            self._waiting.add(self)
        else:
            self._waiting.remove(self)


def protocol() -> Callable[..., Connection]:
    """Return what makes the connections of one site."""
    return partial(Connection, WaitingRequests(most()))


def say_little(loop: asyncio.AbstractEventLoop) -> None:
    """Let a loop print one line a minute, not a traceback for each connection, when there are no files left."""
    said = -_QUIET

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _LACKS):
            return loop.default_exception_handler(context)
        if time.monotonic() - said >= _QUIET:
            said = time.monotonic()
            logging.getLogger("uvicorn.error").error("no connection can be accepted now: %s", error.strerror)
        return None

    loop.set_exception_handler(handle)
