"""Control groups, version 1 or 2: memory, tasks and processor time of one bot, bounded and counted together.

Ours are made inside the group that the arena itself is in, never elsewhere, and are called `arena-PID-…` after the
process that made them, so that those of a dead one can be told and removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from arena.sandbox.grades import MIB, Bounds

WANTED = ("memory", "pids", "cpu", "cpuacct")
UNIFIED = "unified"
OVERHEAD = 4
"""Tasks of the sandbox itself."""
PERIOD = 100_000
"""Microseconds in which the share of the processors is measured, the kernel's own default."""
REMOVAL = 2.0
"""Seconds that the kernel may need to let go of processes that were killed."""

_numbers = count()


def available() -> tuple[dict[str, str], str]:
    """The groups in which ours may be made, by controller, and if there are not enough of them: why."""
    own = _own()
    found = {name: own[name] for name in WANTED if name in own and _may_make_in(own[name])}
    if {"memory", "pids"} <= found.keys():
        return found, ""
    if UNIFIED in own and not ({"memory", "pids"} & own.keys()):
        if why := _delegate(Path(own[UNIFIED])):
            return {}, why
        return {UNIFIED: own[UNIFIED]}, ""
    return {}, f"{own.get('memory', '/sys/fs/cgroup')} is not ours to write (run as root or in a delegated scope)"


def hold_processors(groups: Mapping[str, str]) -> bool:
    """Whether groups made in these keep a bot to its share of the processors."""
    if UNIFIED not in groups:
        return "cpu" in groups
    return "cpu" in Path(groups[UNIFIED], "cgroup.subtree_control").read_text().split()


def _own() -> dict[str, str]:
    """The arena's own groups as folders, by controller."""
    mounted = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        root, folder = left.split()[3:5]
        kind, _, features = right.split()[:3]
        if kind == "cgroup2":
            mounted[UNIFIED] = (root, folder)
        elif kind == "cgroup":
            mounted |= dict.fromkeys(features.split(","), (root, folder))
    groups = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(",") if controllers else [UNIFIED]:
            if controller in mounted:
                root, folder = mounted[controller]
                groups[controller] = os.path.normpath(f"{folder}/{os.path.relpath(path, root)}")
    return groups


def _may_make_in(folder: str) -> bool:
    """Whether a group can be made there; sweeps what dead arenas left."""
    sweep(folder)
    probe = Path(folder, _name())
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True


def _delegate(own: Path) -> str:
    """Have version 2 pass memory and tasks on to groups of ours; gives why it does not."""
    try:
        there = set((own / "cgroup.controllers").read_text().split())
        if not {"memory", "pids"} <= there:
            return f"{own} has no memory and pids controllers"
        if not _may_make_in(str(own)):
            return f"{own} is not ours to write (try systemd-run --user --scope -p Delegate=yes)"
        passed_on = own / "cgroup.subtree_control"
        already = set(passed_on.read_text().split())
        wanted = " ".join(f"+{name}" for name in WANTED if name in there - already)
        with contextlib.suppress(OSError):
            if wanted:
                passed_on.write_text(wanted)
            return ""
        if {"memory", "pids"} <= already:
            return ""  # without the share of the processors
        leaf = own / _name()  # a group whose controllers are passed on may hold no process itself
        leaf.mkdir()
        (leaf / "cgroup.procs").write_text("0")
        passed_on.write_text(wanted)
    except OSError as error:
        return f"{own}: {error.strerror} (try systemd-run --user --scope -p Delegate=yes)"
    return ""


def _name() -> str:
    return f"arena-{os.getpid()}-{next(_numbers)}"


def sweep(folder: str) -> None:
    """Remove the empty groups of arenas that are no more."""
    for group in Path(folder).glob("arena-*"):
        owner = re.fullmatch(r"arena-(\d+)-\d+", group.name)
        if owner is not None and not Path(f"/proc/{owner[1]}").exists():
            with contextlib.suppress(OSError):
                group.rmdir()


class Group:
    """The control groups of one bot. Raises OSError if they cannot be made."""

    def __init__(self, parents: Mapping[str, str], bounds: Bounds) -> None:
        name = _name()
        self._of = {controller: Path(parent, name) for controller, parent in parents.items()}
        for folder in self.folders:
            folder.mkdir()
        try:
            self._bound(bounds)
        except OSError:
            self.remove()
            raise

    @property
    def folders(self) -> list[Path]:
        """Each once, though controllers may share one."""
        return list(dict.fromkeys(self._of.values()))

    @property
    def doors(self) -> list[str]:
        """The files through which a process goes in."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def _bound(self, bounds: Bounds) -> None:
        memory, tasks, quota = bounds.memory_mib * MIB, bounds.tasks + OVERHEAD, bounds.cores * PERIOD
        if unified := self._of.get(UNIFIED):
            (unified / "memory.max").write_text(str(memory))
            _write_if_there(unified / "memory.swap.max", "0")
            _write_if_there(unified / "memory.oom.group", "1")
            (unified / "pids.max").write_text(str(tasks))
            _write_if_there(unified / "cpu.max", f"{quota} {PERIOD}")
            return
        (self._of["memory"] / "memory.limit_in_bytes").write_text(str(memory))
        _write_if_there(self._of["memory"] / "memory.memsw.limit_in_bytes", str(memory))
        (self._of["pids"] / "pids.max").write_text(str(tasks))
        if "cpu" in self._of:
            _write_if_there(self._of["cpu"] / "cpu.cfs_period_us", str(PERIOD))
            with contextlib.suppress(OSError):  # EINVAL: what is around the arena, as a container, has less than that
                _write_if_there(self._of["cpu"] / "cpu.cfs_quota_us", str(quota))

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process for it."""
        events = self._of[UNIFIED] / "memory.events" if UNIFIED in self._of else None
        text = _read(events or self._of["memory"] / "memory.oom_control")
        return bool(re.search(r"^oom_kill [1-9]", text, re.MULTILINE))

    def cpu(self) -> float | None:
        """Seconds of processor time of all its processes, ended ones included; None if that is not counted."""
        if "cpuacct" in self._of:
            return int(_read(self._of["cpuacct"] / "cpuacct.usage") or 0) / 1e9
        if UNIFIED in self._of and (usage := re.search(r"usage_usec (\d+)", _read(self._of[UNIFIED] / "cpu.stat"))):
            return int(usage[1]) / 1e6
        return None

    def processes(self) -> list[int]:
        """Who is in it now."""
        return [int(pid) for pid in _read(self.folders[0] / "cgroup.procs").split()]

    def remove(self) -> None:
        """Once its processes are gone."""
        for folder in self.folders:
            deadline = time.monotonic() + REMOVAL
            while time.monotonic() < deadline:
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.001)
                else:
                    break


def _write_if_there(path: Path, text: str) -> None:
    if path.exists():
        path.write_text(text)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
