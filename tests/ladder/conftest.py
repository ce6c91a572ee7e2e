"""An empty database for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from ladder import store


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def db(home: Path) -> Iterator[Database]:
    """The database of that home."""
    with store.open(home) as db:
        yield db
