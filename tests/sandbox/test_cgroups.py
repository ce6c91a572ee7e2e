"""Control groups of version 2: what the kernel here has of them for real, the rest against files of the same names."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.sandbox import Bounds
from arena.sandbox.cgroups import UNIFIED, ControlGroup, _delegate, available, hold_processors
from arena.sandbox.grades import MIB

BOUNDS = Bounds(memory_mib=100, tasks=10)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A group as systemd hands it over."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    return tmp_path


@pytest.fixture
def group(own: Path) -> Iterator[ControlGroup]:
    """One of ours in it, with the files that the kernel would have put there."""
    made = ControlGroup({UNIFIED: str(own)}, BOUNDS)
    (folder,) = made.folders
    for name in ("memory.swap.max", "memory.oom.group", "cpu.max"):
        (folder / name).touch()
    yield made
    for path in folder.iterdir():
        path.unlink()
    made.remove()
    assert not folder.exists()


def test_what_is_bounded_is_passed_on_to_groups_of_ours(own: Path) -> None:
    """Or there would be no files to write bounds to."""
    assert _delegate(own) == ""
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


@pytest.mark.parametrize(("passed_on", "written"), [("memory pids", "+cpu"), ("cpu memory pids", "cpu memory pids")])
def test_only_what_is_not_passed_on_yet_is_asked_for(own: Path, passed_on: str, written: str) -> None:
    """Somebody else may have passed on a part of it; where nothing is missing nothing is written."""
    (own / "cgroup.subtree_control").write_text(passed_on)
    assert _delegate(own) == ""
    assert (own / "cgroup.subtree_control").read_text() == written


def test_a_refused_processor_share_costs_no_bound_that_was_there(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may refuse that controller alone, as while processes of the group run in real time."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    (own / "cgroup.subtree_control").write_text("memory pids")
    monkeypatch.setattr(Path, "write_text", refuse)
    assert _delegate(own) == ""
    assert list(own.glob("arena-*")) == []


def test_a_group_without_controllers_bounds_nothing(own: Path) -> None:
    """And the doctor says so."""
    (own / "cgroup.controllers").write_text("cpuset cpu\n")
    assert _delegate(own) == f"{own} has no memory and pids controllers"


def test_a_machine_may_hold_memory_and_not_processors(own: Path) -> None:
    """As systemd hands over to a user's own sessions: then the doctor says that a bot may use all of them."""
    (own / "cgroup.controllers").write_text("memory pids\n")
    assert _delegate(own) == ""
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    for passed_on, held in (("memory pids", False), ("cpu memory pids", True)):
        (own / "cgroup.subtree_control").write_text(passed_on)
        assert hold_processors({UNIFIED: str(own)}) is held


def test_a_group_of_version_2_is_bounded(group: ControlGroup) -> None:
    """Memory without swap, all its processes ended together, tasks, and one processor."""
    group._bound(BOUNDS)
    (folder,) = group.folders
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "memory.max": str(100 * MIB),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "14",
        "cpu.max": "100000 100000",
    }
    assert group.procs_files == [f"{folder}/cgroup.procs"]


def test_a_group_of_version_2_is_read(group: ControlGroup) -> None:
    """What the kernel says of memory and time, in its words."""
    (folder,) = group.folders
    assert (group.cpu(), group.ran_out_of_memory(), group.processes()) == (None, False, [])
    (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n")
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 0\n")
    (folder / "cgroup.procs").write_text("17\n23\n")
    assert (group.cpu(), group.ran_out_of_memory(), group.processes()) == (1.5, False, [17, 23])
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n")
    assert group.ran_out_of_memory()


@pytest.mark.needs("control groups of version 1")
def test_a_share_that_is_more_than_the_arena_has_itself_is_no_obstacle() -> None:
    """As in a container with half a processor, where version 1 refuses it: then all bots are held to less anyway."""
    parents, _ = available()
    narrow = Path(parents["cpu"], f"arena-{os.getpid()}-narrow")
    narrow.mkdir()
    try:
        (narrow / "cpu.cfs_quota_us").write_text("50000")
        ControlGroup({**parents, "cpu": str(narrow)}, BOUNDS).remove()
    finally:
        for folder in narrow.glob("arena-*"):
            folder.rmdir()
        narrow.rmdir()


REAL = """
import json, subprocess, sys, time
from pathlib import Path
from arena.sandbox import Bounds, cgroups

class Counted(cgroups.ControlGroup):
    def _bound(self, bounds):
        "Nothing: this kernel's controllers are perhaps in use by version 1."

parents = {cgroups.UNIFIED: sys.argv[1]}
group = Counted(parents, Bounds())
burner = subprocess.Popen([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass\\ninput()"],
                          stdin=subprocess.PIPE)
Path(group.procs_files[0]).write_text(str(burner.pid))
inside = group.processes() == [burner.pid]
while group.cpu() < 0.2:
    time.sleep(0.01)
burner.communicate(b"\\n")
used = group.cpu()
group.remove()
print(json.dumps({"inside": inside, "used": used, "left": [str(each) for each in group.folders if each.exists()]}))
"""


@pytest.mark.needs("mounting control groups")
def test_processes_and_their_time_are_counted_by_the_kernels_own_version_2(tmp_path: Path) -> None:
    """In a mount of its own."""
    mounted = ["unshare", "--mount", "sh", "-c", 'mount -t cgroup2 none "$1" && exec "$2" -c "$3" "$1"', "sh"]
    done = subprocess.run(
        [*mounted, str(tmp_path), sys.executable, REAL], capture_output=True, text=True, timeout=60, check=True
    )
    found = json.loads(done.stdout)
    assert (found["inside"], found["left"]) == (True, [])
    assert 0.2 <= found["used"] < 5
