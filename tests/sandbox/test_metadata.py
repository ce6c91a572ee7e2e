"""What is noted of files stays as it is where bots share the machine's files: notes would outlive who wrote them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from errno import ENODATA, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM
from pathlib import Path

import pytest

from arena.sandbox import Grade, attacks, confine, probe
from arena.sandbox.run_folder import run_folder
from arena.sandbox.visible_folder import NEVER_SHOWN, keep_times, visible_folder

TRY_ALL = f"""
import ctypes, json, os, sys
sys.path.insert(0, {str(Path(attacks.__file__).parent)!r})
import attacks
path = os.environ["TMPDIR"] + "/own"
opened = os.open(path, os.O_RDWR | os.O_CREAT)
calls = attacks.metadata_calls(path, opened)
answer = lambda call: ctypes.get_errno() if attacks.libc.syscall(*call) < 0 else 0
print(json.dumps({{name: answer(call) for name, call in calls.items()}}))
"""
LACKING = {ENOSYS, ENOTTY, EOPNOTSUPP, ENODATA}
"""What a kernel or a file system answers that does not have a call at all, or an attribute no more."""


def answers(grade: Grade) -> Mapping[str, int]:
    """How the kernel answers a bot that changes what is noted of a file of its own, call by call; 0: it did it."""
    with run_folder() as scratch:
        place, sandbox = scratch / "tmp", probe(grade)
        place.mkdir()
        words = [sys.executable, "-c", TRY_ALL]
        made = confine(sandbox, words, root=place, socket_folder=place, scratch=place, env={"PATH": "/usr/bin:/bin"})
        ran = subprocess.run(
            made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        made.release()
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.needs("grade C")
def test_without_bubblewrap_every_call_that_changes_metadata_is_refused() -> None:
    """By the filter, since Landlock does not cover them, and the file is the bot's own."""
    assert set(answers(Grade.C).values()) == {EPERM}


def test_the_calls_that_are_refused_are_real() -> None:
    """Where nothing refuses them they work, but for those that this kernel or file system does not have."""
    assert {name: code for name, code in answers(Grade.D).items() if code not in {0, *LACKING}} == {}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a file in a folder."""
    (tmp_path / "program/inner").mkdir(parents=True)
    (tmp_path / "program/inner/bot.py").write_text("pass")
    return tmp_path / "program"


def test_who_reads_a_program_leaves_no_trace(program: Path) -> None:
    """A file that was just written notes its first reading; one that was read in the future does not."""
    keep_times(program)
    (program / "inner/bot.py").read_text()
    assert list(program.rglob("*"))
    assert {path.stat().st_atime for path in (program, *program.rglob("*"))} == {NEVER_SHOWN}


def test_a_program_out_of_reach_is_copied_once(program: Path, tmp_path: Path) -> None:
    """Where bots have a user of their own that may not go where homes lie; all of a run share the copy."""
    sandbox = probe(Grade.D)._replace(grade=Grade.C, own_user=True)
    one = visible_folder(sandbox, program, tmp_path / "programs")
    (program / "inner/bot.py").write_text("changed")
    assert visible_folder(sandbox, program, tmp_path / "programs") == one
    assert (one / "inner/bot.py").read_text() == "pass"
    assert {path.name for path in (tmp_path / "programs").iterdir()} == {one.name}


@pytest.mark.parametrize("grade", [Grade.A, Grade.B, Grade.D])
def test_elsewhere_a_program_runs_where_it_lies(grade: Grade, program: Path, tmp_path: Path) -> None:
    """bubblewrap shows it unchangeable; nothing promises anything at grade D."""
    assert (
        visible_folder(probe(Grade.D)._replace(grade=grade, own_user=True), program, tmp_path / "programs") == program
    )
    assert not (tmp_path / "programs").exists()
