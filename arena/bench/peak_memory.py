"""The most memory that this process and all below it use at any time."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from types import TracebackType
from typing import Self

from arena.sandbox.cpu_usage import family
from arena.sandbox.watchdog import memory_of

_REST = 20
"""How many times as long as a look the pause after it is at least: looks are to take little of what is measured."""
_LEAST_REST = 0.5
"""Seconds between two looks at least: memory grows and shrinks with the bots, which takes seconds."""


class PeakMemory:
    """Looks again and again, in a thread, while the block lasts. What processes share is divided among them (PSS)."""

    def __init__(self) -> None:
        self.all = 0
        """Bytes of all processes together, at most."""
        self.bots = 0
        """Bytes of all bots together, with the sandboxes around them, at most."""
        self.cpu = 0.0
        """Seconds of processor time that the looks took, until the block is over."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        taken = 0.0
        while not self._is_over.wait(max(_LEAST_REST, _REST * taken)):
            begun = time.monotonic()
            self._look()
            taken = time.monotonic() - begun
            self.cpu = time.thread_time()

    def _look(self) -> None:
        own = {os.getpid()} | {child.pid for child in multiprocessing.active_children() if child.pid is not None}
        everybody = set(family(os.getpid()))
        bots = memory_of([*(everybody - own)])
        self.bots = max(self.bots, bots)
        self.all = max(self.all, bots + memory_of([*(everybody & own)]))
