"""What the referee's tests share: a game to play, and room for sockets."""

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
    """Makes the referee know the toy game."""
    known = games.game
    toy = Toy()

    def game(name: str) -> Game[Any]:
        return toy if name == toy.name else known(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "game", game)
        yield


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """A directory with a path short enough for sockets."""
    directory = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/tmp"))
    yield directory
    shutil.rmtree(directory)
