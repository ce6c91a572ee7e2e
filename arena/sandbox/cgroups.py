"""Control groups, version 1 or 2: they limit and count memory, tasks and processor time of all a bot's processes.

Groups are made inside the group that the arena itself is in, never elsewhere. They are called `arena-PID-…` after the
process that made them, so that those of a dead process can be recognised and removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from arena.sandbox.grades import MIB, SANDBOX_TASKS, Bounds

_WANTED = ("memory", "pids", "cpu", "cpuacct")
"""Controllers of version 1 that the arena uses; the first two it cannot do without."""
UNIFIED = "unified"
"""Name here for version 2, in which one folder has all controllers."""
_PERIOD = 100_000
"""Microseconds over which the share of the processors is measured, the kernel's own default."""
_REMOVAL = 2.0
"""Seconds that the kernel may need to release processes that were killed.

Any such time would do: a group that is left is removed when the arena that made it has ended.
"""

_numbers = count()


def available() -> tuple[dict[str, str], str]:
    """Return the groups in which the arena may make groups, by controller, and the reason if there are too few."""
    groups = own_groups()
    usable = {name: groups[name] for name in _WANTED if name in groups and _may_make_in(groups[name])}
    if {"memory", "pids"} <= usable.keys():
        return usable, ""
    if UNIFIED in groups and not ({"memory", "pids"} & groups.keys()):
        if why := _delegate(Path(groups[UNIFIED])):
            return {}, why
        return {UNIFIED: groups[UNIFIED]}, ""
    return {}, f"{groups.get('memory', '/sys/fs/cgroup')} is not ours to write (run as root or in a delegated scope)"


def hold_processors(groups: Mapping[str, str]) -> bool:
    """Tell whether groups made in these limit a bot to its share of the processors."""
    if UNIFIED not in groups:
        return "cpu" in groups
    return "cpu" in Path(groups[UNIFIED], "cgroup.subtree_control").read_text().split()


def own_groups() -> dict[str, str]:
    """Return the folders of the arena's own groups, by controller."""
    mounted = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mount, _, filesystem = line.partition(" - ")
        root, folder = mount.split()[3:5]
        kind, _, features = filesystem.split()[:3]
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
    """Tell whether a group can be made in a folder, after removing the groups of dead arenas."""
    _sweep(folder)
    probe = Path(folder, _name())
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True


def _delegate(group: Path) -> str:
    """Have version 2 pass memory and tasks on to the arena's groups; return why it cannot, or an empty string."""
    try:
        controllers = set((group / "cgroup.controllers").read_text().split())
        if not {"memory", "pids"} <= controllers:
            return f"{group} has no memory and pids controllers"
        if not _may_make_in(str(group)):
            return f"{group} is not ours to write (try systemd-run --user --scope -p Delegate=yes)"
        passed_on = group / "cgroup.subtree_control"
        already = set(passed_on.read_text().split())
        wanted = " ".join(f"+{name}" for name in _WANTED if name in controllers - already)
        with contextlib.suppress(OSError):
            if wanted:
                passed_on.write_text(wanted)
            return ""
        if {"memory", "pids"} <= already:
            return ""  # the share of the processors is then not limited
        leaf = group / _name()  # a group that passes controllers on may contain no process itself
        leaf.mkdir()
        (leaf / "cgroup.procs").write_text("0")
        passed_on.write_text(wanted)
    except OSError as error:
        return f"{group}: {error.strerror} (try systemd-run --user --scope -p Delegate=yes)"
    return ""


def _name() -> str:
    return f"arena-{os.getpid()}-{next(_numbers)}"


def _sweep(folder: str) -> None:
    """Remove the empty groups of arenas whose process has ended."""
    for group in Path(folder).glob("arena-*"):
        owner = re.fullmatch(r"arena-(\d+)-\d+", group.name)
        if owner is not None and not Path(f"/proc/{owner[1]}").exists():
            with contextlib.suppress(OSError):
                group.rmdir()


class ControlGroup:
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
        """The folders of the groups, each once, although controllers may share one."""
        return list(dict.fromkeys(self._of.values()))

    @property
    def procs_files(self) -> list[str]:
        """The files to write to for a process to enter the groups."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def _bound(self, bounds: Bounds) -> None:
        memory, tasks, quota = bounds.memory_mib * MIB, bounds.tasks + SANDBOX_TASKS, bounds.cores * _PERIOD
        if unified := self._of.get(UNIFIED):
            (unified / "memory.max").write_text(str(memory))
            _write_if_there(unified / "memory.swap.max", "0")
            _write_if_there(unified / "memory.oom.group", "1")
            (unified / "pids.max").write_text(str(tasks))
            _write_if_there(unified / "cpu.max", f"{quota} {_PERIOD}")
            return
        (self._of["memory"] / "memory.limit_in_bytes").write_text(str(memory))
        _write_if_there(self._of["memory"] / "memory.memsw.limit_in_bytes", str(memory))
        (self._of["pids"] / "pids.max").write_text(str(tasks))
        if "cpu" in self._of:
            _write_if_there(self._of["cpu"] / "cpu.cfs_period_us", str(_PERIOD))
            with contextlib.suppress(OSError):  # EINVAL: the arena's surroundings, such as a container, have less
                _write_if_there(self._of["cpu"] / "cpu.cfs_quota_us", str(quota))

    def ran_out_of_memory(self) -> bool:
        """Tell whether the kernel ended a process of the group for lack of memory."""
        events = self._of[UNIFIED] / "memory.events" if UNIFIED in self._of else None
        text = _content(events or self._of["memory"] / "memory.oom_control")
        return bool(re.search(r"^oom_kill [1-9]", text, re.MULTILINE))

    def cpu(self) -> float | None:
        """Return the processor time of all its processes in seconds, including ended ones.

        None if it is not counted.
        """
        if "cpuacct" in self._of:
            return int(_content(self._of["cpuacct"] / "cpuacct.usage") or 0) / 1e9
        if UNIFIED in self._of and (usage := re.search(r"usage_usec (\d+)", _content(self._of[UNIFIED] / "cpu.stat"))):
            return int(usage[1]) / 1e6
        return None

    def processes(self) -> list[int]:
        """Return the ids of the processes that are in the group now."""
        return [int(pid) for pid in _content(self.folders[0] / "cgroup.procs").split()]

    def remove(self) -> None:
        """Remove the groups, once their processes have ended."""
        for folder in self.folders:
            deadline = time.monotonic() + _REMOVAL
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


def _content(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
