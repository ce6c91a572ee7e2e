"""`arena serve` begins with its address, and ends without a trace."""

from __future__ import annotations

import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.cli.commands import ARENA, PATIENCE, arena, environment, everything_in


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(home: Path, end: signal.Signals) -> None:
    """Also while a page listens for news; the home is as it was."""
    before = everything_in(home)
    words = [str(ARENA), "serve", "--port", str(free_port()), "--home", str(home)]
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        address = served.stderr.readline().split()[0]
        assert b"ann@1" in urllib.request.urlopen(address, timeout=PATIENCE).read()
        with urllib.request.urlopen(f"{address}events", timeout=PATIENCE) as news:
            assert news.readline().startswith(b"retry")
            served.send_signal(end)
            assert served.stderr.read() == "the site has ended\n"
        assert served.wait(PATIENCE) == 130
    assert everything_in(home) == before


def test_a_port_in_use_is_one_line(cwd: Path) -> None:
    """With what to do."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ran = arena("serve", "--port", str(port), cwd=cwd)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"Error: port {port} is in use: end what uses it, or choose another one with --port\n"


def test_an_address_of_another_machine_is_one_line(cwd: Path) -> None:
    """It cannot listen there."""
    ran = arena("serve", "--host", "192.0.2.1", cwd=cwd)
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)
    assert "192.0.2.1" in ran.err
