"""One cluster for all tests of a module: each test leaves it with both hosts at work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.grid import Grid, grid


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """A cluster of two hosts."""
    with grid(Path(tmp_path_factory.mktemp("grid")) / "grid") as made:
        yield made
