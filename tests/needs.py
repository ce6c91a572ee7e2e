"""What some tests need from the machine, as in `@pytest.mark.needs("grade B")`; where it is missing, they are skipped.

The file may_skip.toml lists, for each need, the tests that may be skipped for it. Any other skipped test fails the run.
"""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from arena.core import compilation
from arena.sandbox import Grade, cgroups, launching, probe
from arena.submission.manifest import load
from arena.submission.templates import templates
from arena.submission.tools import missing_tools

LIST = Path(__file__).with_name("may_skip.toml")


def _grade(least: Grade) -> str:
    grade = probe().grade
    return "" if grade.at_least(least) else f"the sandbox is of grade {grade}"


def _program(name: str) -> str:
    return "" if shutil.which(name) else f"there is no {name}"


def _tools(*languages: str) -> str:
    """Why bots in these languages cannot be built or run: the tools and libraries that are missing; else empty."""
    manifests = [templates()[language] / "bot.toml" for language in languages]
    missing = [tool for toml in manifests for tool in missing_tools(load(toml, str(toml)))]
    return f"there is no {', '.join(missing)}" if missing else ""


def _control_groups() -> str:
    return cgroups.available()[1]


def _version_1() -> str:
    return "" if "cpu" in cgroups.available()[0] else "no group of the cpu controller of version 1 can be made"


def _processor_share() -> str:
    return "" if cgroups.hold_processors(cgroups.available()[0]) else "no group can be held to one processor"


def _mounting(kind: str) -> str:
    with tempfile.TemporaryDirectory() as place:
        words = ["unshare", "--mount", "mount", "-t", kind, "arena-test", place]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else done.stderr.strip() or "nothing can be mounted"


def _root() -> str:
    return "" if os.geteuid() == 0 else "it is an ordinary user who plays"


def _another_disk() -> str:
    shared = Path("/dev/shm")
    there = os.access(shared, os.W_OK) and shared.stat().st_dev != Path(tempfile.gettempdir()).stat().st_dev
    return "" if there else f"{shared} is not another disk than that of temporary files"


def _libseccomp() -> str:
    return "" if ctypes.util.find_library("seccomp") else "libseccomp is not installed"


def _core() -> str:
    found = compilation.find_core()
    return "" if found.on else found.why


def _launcher() -> str:
    found = launching.find_launcher()
    return "" if found.on else found.why


def _full_run() -> str:
    return "" if os.environ.get("ARENA_NO_SKIP") else "only a run with ARENA_NO_SKIP is sure to be on such a machine"


def _two_hosts() -> str:
    """Why no network namespace with a link to this one can be made, or what a cluster lacks beside it."""
    if missing := [tool for tool in ("ip", "openssl", "taskset") if not shutil.which(tool)]:
        return f"there is no {', '.join(missing)}"
    name = f"arena{os.getpid()}"
    try:
        for line in (f"ip netns add {name}", f"ip link add {name} type veth peer name cable netns {name}"):
            done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr.strip() or f"{line} failed"
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return ""


NEEDS: dict[str, Callable[..., str]] = {
    **{f"grade {grade}": partial(_grade, grade) for grade in Grade if grade is not Grade.D},
    "tools of languages": _tools,
    "bash": partial(_program, "bash"),
    "cc": partial(_program, "cc"),
    "core": _core,
    "launcher": _launcher,
    "chromium": partial(_program, "chromium"),
    "node": partial(_program, "node"),
    "openssl": partial(_program, "openssl"),
    "protoc": partial(_program, "protoc"),
    "control groups": _control_groups,
    "control groups of version 1": _version_1,
    "a processor share": _processor_share,
    "root": _root,
    "mounting": partial(_mounting, "tmpfs"),
    "newuidmap": partial(_program, "newuidmap"),
    "mounting control groups": partial(_mounting, "cgroup2"),
    "another disk": _another_disk,
    "two hosts": _two_hosts,
    "libseccomp": _libseccomp,
    "a full run": _full_run,
}
"""By the name of a need, a function that says why it is missing; empty text means that it is there.

The function gets the other arguments of the mark.
"""


def grades(letters: str) -> list[Any]:
    """Grades as parameters of a test; each is skipped if this machine does not reach it. Every machine has grade D."""
    return [
        pytest.param(grade, marks=() if grade is Grade.D else pytest.mark.needs(f"grade {grade}"), id=grade.value)
        for grade in map(Grade, letters)
    ]


@cache
def lacking(need: str, *which: str) -> str:
    """Why this machine lacks a need; empty if it does not."""
    return NEEDS[need](*which)


@cache
def may_skip() -> dict[str, list[str]]:
    """By need, the tests that may be skipped for it, without their parameters."""
    return tomllib.loads(LIST.read_text())


def of(item: pytest.Item) -> list[tuple[str, ...]]:
    """The needs of a test: the arguments of each of its `needs` marks."""
    return [marker.args for marker in item.iter_markers("needs")]


def without_case(test: str) -> str:
    """The name of a test as may_skip.toml has it, without parameters."""
    return test.partition("[")[0]
