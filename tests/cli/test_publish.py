"""`arena publish` ends with what it did, or with one line that says why it did nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ladder import store
from tests.cli.commands import ARENA, PATIENCE, environment, everything_in, typed


@pytest.mark.usefixtures("home")
def test_the_last_line_says_what_was_done_and_what_to_open(cwd: Path) -> None:
    """The second time there is nothing to do; the numbers are those of --json."""
    first = typed("publish", "public")
    files = sum(path.is_file() for path in (cwd / "public").rglob("*")) - 1
    assert first.code == 0
    assert all(line.startswith("publishing: ") for line in first.err.splitlines()), "progress, if that takes long"
    assert first.out == f"{files} files, {files} written, 0 removed; to look at them: open public/index.html\n"
    second = json.loads(typed("publish", "public", "--json").out)
    assert second == {"open": "public/index.html", "files": files, "written": 0, "removed": 0}


def test_the_home_stays_as_it_is(home: Path) -> None:
    """To show is not to change."""
    before = everything_in(home)
    assert typed("publish", "public").code == 0
    assert everything_in(home) == before


@pytest.mark.usefixtures("home")
def test_less_can_be_shown(cwd: Path) -> None:
    """Without matches, their pages are removed."""
    typed("publish", "public")
    assert list((cwd / "public/match").iterdir())
    assert typed("publish", "public", "--matches", "0").code == 0
    assert not (cwd / "public/match").exists()


def test_a_home_that_is_missing_costs_no_published_site(home: Path, cwd: Path) -> None:
    """A name may be mistyped; no folder is made either."""
    typed("publish", "public")
    before = everything_in(cwd / "public")
    for folder in ("public", "new"):
        ran = typed("publish", folder, "--home", home / "nothing")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert "no bot was submitted and no ladder played" in ran.err
    assert everything_in(cwd / "public") == before
    assert not (cwd / "new").exists()


def test_a_home_that_cannot_be_read_is_one_line(home: Path, cwd: Path) -> None:
    """Broken, or of a newer arena."""
    with store.open(home) as db:
        db.execute("PRAGMA user_version = 999")
    newer = typed("publish", "public")
    (cwd / "broken").mkdir()
    (cwd / "broken/arena.db").write_bytes(b"this is no database" * 100)
    broken = typed("publish", "public", "--home", "broken")
    for ran, why in ((newer, "update the arena"), (broken, "is not a database")):
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert why in ran.err
    assert not (cwd / "public").exists()


@pytest.mark.parametrize(
    ("target", "code", "why"),
    [
        (".arena", 1, "'.arena' holds other files: name a new folder, an empty one, or a published one"),
        ("file", 2, "is a file"),
        ("none/public", 1, "cannot write 'none/public': No such file or directory"),
    ],
)
def test_a_folder_that_cannot_be_used_is_one_line(home: Path, cwd: Path, target: str, code: int, why: str) -> None:
    """And is left as it was."""
    (cwd / "file").write_text("mine")
    before = everything_in(home)
    ran = typed("publish", target)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert why in ran.err
    assert everything_in(home) == before
    assert (cwd / "file").read_text() == "mine"


@pytest.mark.usefixtures("home")
def test_it_can_be_interrupted_and_goes_on(cwd: Path) -> None:
    """Ctrl-C is told in one line; what is there is part of the site."""
    with subprocess.Popen(
        [ARENA, "publish", "public"], cwd=cwd, env=environment(), stderr=subprocess.PIPE, text=True
    ) as running:
        while not any((cwd / "public/match").glob("*.html")) and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=PATIENCE)
    if running.returncode not in (0, -signal.SIGINT):  # it may have been done before, and be at its end
        assert (running.returncode, told) == (130, "only a part is published: run it again for the rest\n")
    done = json.loads(typed("publish", "public", "--json").out)
    assert done["files"] == sum(path.is_file() for path in (cwd / "public").rglob("*")) - 1
