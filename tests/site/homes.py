"""Homes that sites are tried with, and sites of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from arena.cli import card_tables
from arena.site import docs, server
from arena.site.app import Site
from arena.site.tables import Tables
from ladder import store
from tests.tournament import playing

BASE = "http://127.0.0.1"


def make(
    home: Path, bots: tuple[str, ...] = ("ann", "bob", "cid"), rounds: int = 2, *, game: str = "buttons"
) -> store.Ladder:
    """Make a home with a ladder in which bots forfeit now and then; it is ready for cards."""
    ladder = playing.make(home, game, bots, rounds, forfeits=0.3)
    with store.open(home, checkpoints=True) as db:
        card_tables.complete_sums(db)
        store.evidence.settle(db, ladder)
        store.ratings.keep_hash(db, ladder)
    return ladder


@contextmanager
def site(home: Path) -> Iterator[TestClient]:
    """The site of a home, which looks for changes before every answer."""
    with TestClient(Site(home, "127.0.0.1", look=0.0).app, base_url=BASE) as client:
        yield client


@contextmanager
def without_documentation(folder: Path) -> Iterator[None]:
    """An arena whose documentation should lie in this folder, where there is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docs, "ROOT", folder)
        docs.pages.cache_clear()
        try:
            yield
        finally:
            patch.undo()
            docs.pages.cache_clear()


class Served:
    """A site on a free port, in a thread."""

    def __init__(self, home: Path, tables: Tables | None = None) -> None:
        site = Site(home, "127.0.0.1", look=0.1, tables=tables)
        self._server = uvicorn.Server(server.config(site))

    def __enter__(self) -> str:
        self._listening = server.listening("127.0.0.1", 0)
        socket, _ = self._listening.__enter__()
        self._thread = threading.Thread(target=self._server.run, args=([socket],))
        self._thread.start()
        return f"http://127.0.0.1:{socket.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listening.__exit__(None, None, None)
