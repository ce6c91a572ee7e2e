"""The core, switched on or off for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.base.compiler import SWITCH
from arena.core.compilation import core


@contextmanager
def core_switched(*, on: bool) -> Iterator[None]:
    """Let matches be played by the core, or in Python, as whoever sets the variable of the environment does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SWITCH, str(int(on)))
        core.cache_clear()
        try:
            yield
        finally:
            patch.undo()
            core.cache_clear()
