"""Every bot in a match finds the same environment, whatever the environment of the organiser looks like."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox import Grade, confine, probe
from arena.sandbox.run_folder import run_folder
from tests.cli.commands import ARENA, environment
from tests.needs import grades
from tests.tournament import programs

LOOKS = """
import json, os, platform
places = [line.split()[4] for line in open("/proc/self/mountinfo")]
cores = sorted(os.sched_getaffinity(0))
uid = os.getuid() if os.getuid() == 1000 else "OWN"
print(json.dumps([dict(os.environ), uid, os.getcwd(), platform.node(), cores, places]))
"""


def seen(grade: Grade, folder: Path) -> Any:
    """Run `LOOKS` as a bot in its own folder; return what it printed, with its own paths and token replaced."""
    places = {name: folder / name for name in ("bot", "door", "tmp")}
    for place in places.values():
        place.mkdir(parents=True)
    env = {"PATH": "/usr/bin:/bin", "ARENA_TOKEN": folder.name, "ARENA_ADDR": f"unix:{places['door']}/s"}
    made = confine(
        probe(grade), [sys.executable, "-c", LOOKS],
        root=places["bot"], socket_folder=places["door"], scratch=places["tmp"],
        env=env,
    )  # fmt: skip
    ran = subprocess.run(
        made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    made.release()
    return json.loads(re.sub(rf"{folder}|\b{folder.name}\b", "OWN", ran.stdout))


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_every_seat_finds_the_same_but_for_its_token_and_address(grade: Grade) -> None:
    """A bot that saw a difference could tell matches apart, for instance a test from a ladder, and behave otherwise."""
    with run_folder() as scratch:
        for folder in (scratch, scratch / "one", scratch / "two"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        assert seen(grade, scratch / "one/first") == seen(grade, scratch / "two/other")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_whoever_shares_nothing_shares_with_bots(tmp_path: Path) -> None:
    """Where the arena is root, bots run as another user. A strict umask of the organiser makes no bot forfeit."""
    programs.write(tmp_path, mine=programs.FIRST)
    words = f"umask 077; exec {shlex.quote(str(ARENA))} match ./mine.py random --game birth --json"
    ran = subprocess.run(
        ["sh", "-c", words], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=200, check=True
    )
    (match,) = json.loads(ran.stdout)["matches"]
    assert match["forfeits"] == []
