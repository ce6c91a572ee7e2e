"""One home for each grade of sandbox, shared by all tests, since building the bots takes long.

The bots log two lines at each of their decisions in BIRTH, so that they are not built once more for that.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.sandbox import Grade, probe
from tests.bots.entered import Home
from tests.bots.says import SAYS

LOWEST = ("nice", "-n", "19")
LOOP = (*LOWEST, sys.executable, "-c", "while True: pass")


class Homes:
    """The homes of all grades. They share their build caches, so what one has compiled is there for the others."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        self._factory = factory
        self._caches = factory.mktemp("caches")
        self._of: dict[Grade, Home] = {}

    def of(self, grade: Grade) -> Home:
        """The home of a grade."""
        if grade not in self._of:
            cwd = self._factory.mktemp(f"bots-{grade}")
            (cwd / ".arena").mkdir(mode=0o700)
            (cwd / ".arena/caches").symlink_to(self._caches)
            self._of[grade] = Home(cwd, "--sandbox", grade, before=LOWEST, changes=SAYS)
        return self._of[grade]


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """A home for each grade."""
    return Homes(tmp_path_factory)


@pytest.fixture(scope="session")
def home(homes: Homes) -> Home:
    """The home for the best sandbox of this machine; it builds the bot of a language when it is first asked for."""
    return homes.of(probe().grade)


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two busy loops of lowest priority; they compete for processors with bots, which the homes also start so."""
    loops = [subprocess.Popen(LOOP) for _ in range(2)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()
