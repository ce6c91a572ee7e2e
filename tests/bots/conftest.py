"""One home for all: building a bot is expensive."""

from __future__ import annotations

import pytest

from tests.bots.entered import Home


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that has the bot of a language once that is asked for."""
    return Home(tmp_path_factory.mktemp("bots"))
