"""One home for every sandbox: building a bot is expensive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.sandbox import Grade, probe
from tests.bots.entered import Home

LOWEST = ("nice", "-n", "19")
LOOP = (*LOWEST, sys.executable, "-c", "while True: pass")


class Homes:
    """The homes of all grades; the first that builds a bot compiles what the others find in its caches."""

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
            self._of[grade] = Home(cwd, "--sandbox", grade, before=LOWEST)
        return self._of[grade]


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """A home for each grade."""
    return Homes(tmp_path_factory)


@pytest.fixture(scope="session")
def home(homes: Homes) -> Home:
    """A home that has the bot of a language once that is asked for, built in the best sandbox."""
    return homes.of(probe().grade)


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Two processes that take what time there is for those that have to wait for everybody else's."""
    loops = [subprocess.Popen(LOOP) for _ in range(2)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()
