"""What the tests of the referee share: a small game, and a folder for sockets."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import games
from arena.games.rules import Game
from tests.referee.toy import Toy


@pytest.fixture(scope="session", autouse=True)
def toy_game() -> Iterator[None]:
    """Makes the toy game known by its name, like an installed game."""
    known = games.game
    toy = Toy()

    def game(name: str) -> Game[Any]:
        return toy if name == toy.name else known(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "game", game)
        yield


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """A folder whose path is short enough for unix sockets."""
    directory = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/tmp"))
    yield directory
    shutil.rmtree(directory)
