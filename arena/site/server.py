"""Serves the site until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from arena.site import connections
from arena.site.app import Site
from arena.site.tables import Tables

_GRACE = 2
"""Seconds that answers in progress have when the site ends."""
_STOPS = (signal.SIGINT, signal.SIGTERM)
"""Signals that end the site."""


class CannotListen(Exception):
    """Error if the address cannot be used; the message says why."""


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Listen at an address, and yield the socket and the address for browsers. Raises CannotListen.

    Port 0 stands for any that is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With TCP named, asyncio sends the parts of an answer at once; else the second one waits 40 ms for the first.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # from now on, so that whoever follows the address that is printed next can be answered
        except OSError as error:
            raise CannotListen(_why(host, port, error)) from error
        yield listener, address(host, listener.getsockname()[1])


def address(host: str, port: int) -> str:
    """Return where a browser on this machine finds a site that listens at a host."""
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{shown_host}]' if ':' in shown_host else shown_host}:{port}/"


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use: end what uses it, or choose another one with --port"
    return f"cannot listen at {host} port {port}: {error.strerror}"


def serve_site(home: Path, host: str, listener: socket.socket, tables: Tables | None) -> None:
    """Serve the site of a home until Ctrl-C; people can play if there are tables."""
    site = Site(home, host, tables=tables)
    # Until the server hears them, signals wait: in the middle of a start they would leave the loop of events half made.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        _Server(config(site), site).run([listener])
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def config(site: Site) -> uvicorn.Config:
    """Return how a site is served."""
    return uvicorn.Config(
        site.app,
        log_level="error",
        access_log=False,
        server_header=False,
        http=connections.protocol(),  # type: ignore[arg-type]  # it is only called
        ws="none",
        loop="arena.base.loops:new_loop",
        backlog=connections.BACKLOG,
        timeout_graceful_shutdown=_GRACE,
    )


class _Server(uvicorn.Server):
    """A server that ends the streams of events first."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def main_loop(self) -> None:
        """Wait for the end, from now on with signals."""
        connections.say_little(asyncio.get_running_loop())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        await super().main_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at a signal."""
        self._site.end_streams()
        super().handle_exit(sig, frame)
