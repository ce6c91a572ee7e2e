"""What bots send cannot hurt the core, whatever it is."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.base.compiler import compile_to
from arena.core import compilation

ROOT = Path(__file__).parents[2]
WATCHED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""How a core is compiled that ends the process at the first wrong step in memory or arithmetic."""
FRAMES = int(os.environ.get("ARENA_FRAMES", 2_000_000))
MATCHES = 40_000

pytestmark = [pytest.mark.needs("core"), pytest.mark.long, pytest.mark.timeout(1200)]


def run(core: Path, frames: int, seed: int) -> subprocess.CompletedProcess[str]:
    """Read so many frames with a watched core in a process of its own."""
    words = [sys.executable, "-m", "tests.core.fuzz", str(core), str(frames), str(seed)]
    given = {**os.environ, "PYTHONMALLOC": "malloc", "ASAN_OPTIONS": "detect_leaks=0", "LD_PRELOAD": watcher()}
    return subprocess.run(words, cwd=ROOT, env=given, capture_output=True, text=True, check=False)


def watcher() -> str:
    """The library that has to be loaded before all others."""
    asked = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return os.path.realpath(asked.stdout.strip())


def test_two_million_bad_frames_do_no_harm(tmp_path: Path) -> None:
    """Every access to memory and every sum is watched meanwhile; two processes read half of them each."""
    core = tmp_path / "core.so"
    compile_to(core, compilation.compiling(WATCHED))
    half = FRAMES // 2
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda seed: run(core, half, seed), (1, 2)))
    for ran in runs:
        assert (ran.returncode, ran.stderr) == (0, "")
        read, _, _, played, *_ = ran.stdout.split()
        assert int(read) == half
        assert int(played) > half // 1000, "nothing of what was read was played"


def test_the_watch_sees_a_step_out_of_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above can fail: a core that reads one number too many of a frame is caught."""
    folder = tmp_path / "core"
    folder.mkdir()
    for source in compilation.sources():
        text = source.read_text()
        if source.name == "wire.h":
            broken = text.replace("shift < 64 && reader->at < reader->end", "shift < 64 && reader->at <= reader->end")
            assert broken != text
            text = broken
        (folder / source.name).write_text(text)
    monkeypatch.setattr(compilation, "HERE", folder)
    compile_to(tmp_path / "core.so", compilation.compiling(WATCHED))
    ran = run(tmp_path / "core.so", 200_000, 1)
    assert ran.returncode != 0
    assert "ERROR: AddressSanitizer" in ran.stderr


def test_memory_does_not_grow() -> None:
    """A worker plays for days."""
    code = (
        "import random, resource; from tests.core.loopback import Loopback; from tests.core.side_by_side import *\n"
        "import gc\n"
        "tables = [table(name, number) for number in range(20) for name in VIEWS]\n"
        "for turn in range(30):\n"
        "    Loopback(tables, random.Random(turn)).go_on(60 if turn % 2 else None); gc.collect()\n"
        "    if turn == 9: before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 1024, "kilobytes in twenty rounds"


def test_memory_is_flat_over_forty_thousand_matches() -> None:
    """Matches come and go on streams, as a worker has them; what the process holds after a tenth of them is all."""
    code = (
        "import gc, random, resource\n"
        "from tests.core.fuzz import honest_matches\n"
        "luck, played, before = random.Random(1), 0, 0\n"
        f"while played < {MATCHES}:\n"
        "    played += honest_matches(luck, first=played, count=300)\n"
        "    gc.collect()\n"
        f"    if not before and played >= {MATCHES} // 10:\n"
        "        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 1024, f"kilobytes in {MATCHES:,} matches"
