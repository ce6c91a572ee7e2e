"""Whoever opens connections and sends nothing keeps nobody else out of the site."""

from __future__ import annotations

import asyncio
import errno
import select
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from arena.site import connections
from tests.site import homes


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Where a site listens that waits half a second for a request."""
    monkeypatch.setattr(connections, "REQUEST_PATIENCE", 0.5)
    homes.make(tmp_path, ("ann", "bob"), 1)
    with homes.Served(tmp_path) as address:
        found = urlsplit(address)
        assert found.hostname
        assert found.port
        yield found.hostname, found.port


def to_the_end(own: socket.socket) -> bytes:
    """All that comes until the other side closes the connection."""
    own.settimeout(20)
    received = b""
    try:
        while part := own.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: "])
def test_a_connection_without_a_request_is_closed(site: tuple[str, int], sent: bytes) -> None:
    """Also one in which a request begins and never ends; it gets no answer."""
    begun = time.monotonic()
    with socket.create_connection(site) as own:
        own.sendall(sent)
        assert to_the_end(own) == b""
    assert connections.REQUEST_PATIENCE * 0.9 < time.monotonic() - begun < 10


def test_a_form_that_never_ends_is_closed(site: tuple[str, int]) -> None:
    """Whoever names a length and sends less gets an answer that needs nothing of what is missing, and then the end."""
    begun = time.monotonic()
    with socket.create_connection(site) as own:
        own.sendall(b"POST /play HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nless")
        assert to_the_end(own).startswith(b"HTTP/1.1 405 ")
    assert time.monotonic() - begun < 10


def test_a_stream_of_events_lasts(site: tuple[str, int]) -> None:
    """Its request is complete: it is closed by who reads it, or when the site ends."""
    with socket.create_connection(site) as own:
        own.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        end = time.monotonic() + 4 * connections.REQUEST_PATIENCE
        while (left := end - time.monotonic()) > 0:
            if select.select([own], [], [], left)[0]:
                assert own.recv(65536)


def test_a_request_with_two_lengths_gets_one_answer(site: tuple[str, int]) -> None:
    """Else its rest could be taken for a request of somebody else, where a program stands between."""
    both = b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with socket.create_connection(site) as own:
        own.sendall(both + b"GET /compare HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers = to_the_end(own)
    assert answers.startswith(b"HTTP/1.1 400 ")
    assert answers.count(b"HTTP/1.1") == 1


def test_a_lack_of_files_is_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """Not a traceback for each connection that could not be accepted; other errors are told as ever."""
    loop = asyncio.new_event_loop()
    with closing(loop):
        connections.say_little(loop)
        for _ in range(100):
            loop.call_exception_handler(
                {"message": "no more", "exception": OSError(errno.EMFILE, "Too many open files")}
            )
        assert [each.getMessage() for each in caplog.records] == [
            "no connection can be accepted now: Too many open files"
        ]
        loop.call_exception_handler({"message": "a fault", "exception": OSError(errno.EIO, "I/O error")})
        assert "a fault" in caplog.text
