"""Numbers that the pages for people promise: who planned with them must not find others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from arena.cluster.coordinator import TRIES
from arena.cluster.host import GATHERING
from arena.cluster.messages import LOST, SEND_PATIENCE
from arena.sandbox import DEFAULT, STRONGEST, WEAKEST
from arena.sandbox.confine import BUILD
from arena.sandbox.grades import MIB
from arena.sandbox.process import KEPT, OUTPUT_A_SECOND
from arena.submission import MAX_BYTES, MAX_FILES, build_limits, build_results, caches, program_store
from arena.submission.build import SHOWN_LINES
from tests.clone import ROOT

GIB = 1024 * MIB
IN_WORDS: Mapping[float, str] = {2: "two", 3: "three", 5: "five", 7: "seven", 10: "ten"}
HOUR: Mapping[float, str] = {3600: "an hour"}
DAY: Mapping[float, str] = {24 * 3600: "a day"}
ONCE: Mapping[float, str] = {1: "once"}
"""Numbers as pages write them."""


@cache
def pages() -> str:
    """Return all pages as one text without line ends."""
    return " ".join(word for path in sorted((ROOT / "docs").glob("*.md")) for word in path.read_text().split())


PROMISES = {
    "what may be submitted": (MAX_FILES, MAX_BYTES / MIB, "at most {:,} files and {:g} MiB"),
    "what a build may leave": (
        program_store._MAX_FILES,
        program_store._MAX_BYTES / GIB,
        "at most {:,} files and {:g} GiB",
    ),
    "a build's work": (IN_WORDS.get(build_limits.CPU / 60), "{} minutes of processor time, summed"),
    "a build's time": (HOUR.get(build_limits.WALL), "stopped after {}"),
    "a build's rest": (IN_WORDS.get(build_limits.IDLE / 60), "neither worked nor printed anything for {} minutes"),
    "a build's memory": (BUILD.memory_mib / 1024, BUILD.disk_mib / 1024, "{:g} GiB of memory and {:g} GiB of disk"),
    "a build's disk": (build_limits.LEFT_FREE / MIB, "{:g} MiB of the disk stay free"),
    "when a build is shown": (IN_WORDS.get(SHOWN_LINES), "a command runs longer than {} seconds"),
    "a large cache": (caches.LARGEST_CACHE / GIB, "removed when it grows beyond {:g} GiB"),
    "a broken cache": (IN_WORDS.get(caches.FAILURES), "when {} builds in a row failed with it"),
    "what was built": (DAY.get(build_results.LONGEST), "What these make is kept for {}"),
    "a bot's memory": (
        *(DEFAULT.memory_mib, WEAKEST.memory_mib, DEFAULT.memory_mib),
        "memory_mib = {} # {} or more; {} if left out",
    ),
    "a bot's tasks": (
        *(DEFAULT.tasks, WEAKEST.tasks, DEFAULT.tasks),
        "tasks = {} # processes and threads, {} or more; {} if left out",
    ),
    "the most of both": (STRONGEST.memory_mib, STRONGEST.tasks, "the default maximum is {} MiB and {} tasks"),
    "what is kept of output": (KEPT / 1024, "the first and last {:g} KiB are kept for the card of a fault"),
    "a flood of output": (OUTPUT_A_SECOND / MIB, "printed more than {:g} MiB in a second"),
    "a lost host": (IN_WORDS.get(LOST), "after {} seconds others play its matches"),
    "a host that fails": (IN_WORDS.get(TRIES), "it fails {} times as it joins"),
    "a host's answers": (IN_WORDS.get(round(1 / GATHERING)), "answers at most {} times a second"),
    "a host without news": (ONCE.get(round(1 / SEND_PATIENCE)), "unless the coordinator waits for it, and at least {}"),
}
"""By what it is about: the numbers, and a part of a sentence in which they stand."""


@pytest.mark.parametrize("about", PROMISES)
def test_a_promise_is_kept(about: str) -> None:
    """Whoever changes a limit changes the page, and whoever reads the page has read the limit."""
    *numbers, words = PROMISES[about]
    assert str(words).format(*numbers) in pages()
