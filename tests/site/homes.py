"""Homes that sites are tried with, and sites of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from arena.cli import bot_card
from arena.site.app import Site
from ladder import store
from tests.tournament import playing

BASE = "http://127.0.0.1"


def make(home: Path, bots: tuple[str, ...] = ("ann", "bob", "cid"), rounds: int = 2) -> store.Ladder:
    """Make a home with a ladder of Buttons in which bots forfeit now and then; it is ready for cards."""
    ladder = playing.make(home, "buttons", bots, rounds, forfeits=0.3)
    with store.open(home, checkpoints=True) as db:
        bot_card.complete(db)
        store.settle(db, ladder)
        store.sign(db, ladder)
    return ladder


@contextmanager
def site(home: Path) -> Iterator[TestClient]:
    """The site of a home, which looks for changes before every answer."""
    with TestClient(Site(home, "127.0.0.1", look=0.0).app, base_url=BASE) as client:
        yield client
