"""`arena serve` begins with its address, and ends without a trace."""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from arena.site import connections
from arena.site.tables import CLOSED
from tests.cli.commands import ARENA, PATIENCE, arena, environment, everything_in
from tests.site.people import Person


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


@pytest.mark.long
def test_others_are_answered_while_many_connections_send_nothing(home: Path) -> None:
    """There are more of them than the server may open files: the one that is silent longest makes room for the next."""
    words = [str(ARENA), "serve", "--port", str(free_port()), "--home", str(home)]
    files = connections.RESERVED + 64
    few = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (files, files))
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True, preexec_fn=few) as served:
        assert served.stderr is not None
        address = served.stderr.readline().split()[0]
        where = urlsplit(address)
        with ExitStack() as silent:
            for _ in range(files):
                silent.enter_context(socket.create_connection((where.hostname, where.port), PATIENCE))
            begun = time.monotonic()
            assert b"ann@1" in urllib.request.urlopen(address, timeout=PATIENCE).read()
            assert time.monotonic() - begun < connections.REQUEST_PATIENCE / 2
        served.send_signal(signal.SIGINT)
        *lacks, end = served.stderr.read().splitlines()
        assert end == "the site has ended"
        assert len(lacks) <= 1, "there is one line a minute, if more come at once than files are left"


def test_a_home_that_is_not_there_yet_is_named(tmp_path: Path) -> None:
    """It may come, or be a slip of the pen."""
    words = [str(ARENA), "serve", "--port", str(free_port()), "--home", str(tmp_path / "none")]
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        assert f"'{tmp_path / 'none'}', which is not there yet; Ctrl-C ends it" in served.stderr.readline()
        served.send_signal(signal.SIGINT)
        assert served.stderr.read() == "the site has ended\n"
    assert not (tmp_path / "none").exists()


def test_matches_end_with_the_site(home: Path) -> None:
    """With all processes that play in them. What people play is kept in the home, as soon as it is over."""
    words = [str(ARENA), "serve", "--port", str(free_port()), "--home", str(home)]
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        person = Person(served.stderr.readline().split()[0].removesuffix("/"))
        tables = []
        for _ in range(2):
            status, where = person.send("/play", game="birth", bot="random", seat=0)
            assert status == 303
            tables.append(where.removeprefix("/play/"))
        _, seen = person.play(tables[0], lambda choices: choices[0])
        assert seen[-1]["end"]["kept"] == "unrated-1"
        with person.listening(tables[1]) as states:
            assert any(state.get("question") for state in states)
            below = psutil.Process(served.pid).children(recursive=True)
            served.send_signal(signal.SIGINT)
            *_, end = states
        assert end["end"]["told"] == [CLOSED]
        assert served.wait(PATIENCE) == 130
        assert psutil.wait_procs(below, PATIENCE)[1] == []
    assert [path.name for path in (home / "unrated").iterdir()] == ["1.json"]


def test_nobody_plays_where_nobody_may(home: Path) -> None:
    """Beside a ladder, or where strangers look."""
    words = [str(ARENA), "serve", "--no-play", "--port", str(free_port()), "--home", str(home)]
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, text=True) as served:
        assert served.stderr is not None
        address = served.stderr.readline().split()[0].removesuffix("/")
        assert Person(address).send("/play", game="birth", bot="random", seat=0)[0] == 405
        assert b"/play" not in urllib.request.urlopen(address, timeout=PATIENCE).read()
        served.send_signal(signal.SIGINT)


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
