"""Started as root, bots and builds are somebody else's, with bubblewrap or without."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox import Grade, confine_build, probe
from arena.sandbox.confine import BUILDER, UNPRIVILEGED
from arena.scratch import run_folder
from tests.cli.commands import ARENA, environment
from tests.needs import grades

pytestmark = pytest.mark.needs("root")
TELLS = "import os, sys; sys.exit(f'{os.getuid()} {os.getcwd()}')\n"
NO_MOUNTS = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
"""A root that may not mount, as in most containers."""


def told(folder: Path, *before: str, grade: str) -> tuple[list[str], str]:
    """What a bot says of itself before it ends, played from a folder; and what the arena says of the sandbox."""
    (folder / "tells.py").write_text(TELLS)
    words = [*before, str(ARENA), "match", "./tells.py", "random", "--game=birth", "--json", "--sandbox", grade]
    ran = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    (match,) = json.loads(ran.stdout)["matches"]
    evidence: dict[str, Any] = match["evidence"]["0"]
    return evidence["output"][-1].split(maxsplit=1), ran.stderr


@pytest.mark.needs("grade C")
@pytest.mark.needs("mounting")
def test_without_bubblewrap_bots_are_not_root(tmp_path: Path) -> None:
    """Also where the arena's Python, or the bot, lies in a folder that their user may not enter."""
    tmp_path.chmod(0o700)
    (uid, place), _ = told(tmp_path, grade="C")
    assert uid == str(UNPRIVILEGED)
    assert os.path.isabs(place)


@pytest.mark.needs("grade C")
def test_a_root_that_may_not_mount_does_what_it_can(tmp_path: Path) -> None:
    """Its bots are others if they can reach its Python as it is; else the line on the sandbox says what they are."""
    (uid, _), said = told(tmp_path, *NO_MOUNTS, grade="C")
    assert uid in {str(UNPRIVILEGED), "0"}
    assert ("without a user of their own" in said) == (uid == "0")


@pytest.mark.needs("mounting")
@pytest.mark.parametrize("grade", grades("ABC"))
def test_a_build_changes_no_file_of_others(grade: Grade, tmp_path: Path) -> None:
    """It may change modes, since compilers do; of what is not its own it may not."""
    canary = tmp_path / "canary"
    canary.write_text("mine")
    canary.chmod(0o600)
    before = canary.stat()
    with run_folder() as scratch:
        root, own = scratch / "bot", scratch / "own"
        for place in (root, own / "home", own / "tmp"):
            place.mkdir(parents=True)
        (root / "part").touch()
        for place in (root, root / "part", own, own / "home", own / "tmp"):
            shutil.chown(place, BUILDER)
        script = f"chmod 755 part; chmod 4755 {canary}; touch {canary}"
        made = confine_build(probe(grade), ["sh", "-c", script], root=root, own=own, env={"PATH": "/usr/bin:/bin"})
        ran = subprocess.run(
            made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if made.group is not None:
            made.group.remove()
        assert (root / "part").stat().st_mode & 0o777 == 0o755, ran.stderr
    assert (canary.stat().st_mode, canary.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
