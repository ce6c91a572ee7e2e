"""By which names a site is called."""

from __future__ import annotations

import socket

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from arena.site import server
from arena.site.security import Guard


@pytest.mark.parametrize(
    ("host", "called", "status"),
    [
        ("192.0.2.7", "192.0.2.7:8080", 404),
        ("192.0.2.7", "192.0.2.8:8080", 421),
        ("lab.example", "LAB.example", 404),
        ("lab.example", "other.example", 421),
        ("2001:db8::1", "[2001:db8::1]:8080", 404),
        ("0.0.0.0", "192.0.2.8", 404),
        ("0.0.0.0", "[2001:db8::1]:8080", 404),
        ("0.0.0.0", socket.gethostname(), 404),
        ("0.0.0.0", "other.example", 421),
        ("0.0.0.0", "1.2.3.4.other.example", 421),
        ("::", "[::1]", 404),
    ],
)
def test_a_site_answers_to_the_names_of_its_host(host: str, called: str, status: int) -> None:
    """To every address if it listens at all of them, since no other site can own one of these; never to other names."""
    site = TestClient(Guard(Starlette(), host))
    assert site.get("/", headers={"Host": called}).status_code == status


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::", "http://[::1]:80/"),
        ("lab.example", "http://lab.example:80/"),
    ],
)
def test_the_address_can_be_opened_here(host: str, address: str) -> None:
    """A browser cannot visit every address of a machine."""
    assert server.address(host, 80) == address
