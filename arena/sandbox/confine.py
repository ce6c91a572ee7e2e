"""From a command to one that runs inside the sandbox: argv, environment, and what has to be removed afterwards."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from platform import machine
from typing import Any, NamedTuple

from arena.sandbox import places
from arena.sandbox.cgroups import Group
from arena.sandbox.grades import DEFAULT, MIB, Bounds, Grade, Sandbox
from arena.sandbox.run_folder import BOTS_GROUP, open_up

UNPRIVILEGED, BUILDER = 65534, 65533
"""The users as whom bots run, and are built, when the arena is root: no build may change what a bot has."""
INSIDE = 1000
"""The user they believe to be."""
FILTER = 100
"""The number under which bubblewrap finds the filter open."""
REPORT = 101
"""And that under which it tells how the command ended, if it began: who starts it has that end of a pipe as stdin."""
STAGE = "/mnt"
"""Where places are shown to bubblewrap that its user could not reach otherwise; nobody else sees it."""
HEADROOM = 512 * MIB
"""Address space that a runtime sets aside and never touches, over and above the memory that a bot may use."""
BOT, DOOR, TEMPORARY, HOME = "/bot", "/run/arena", "/tmp", "/home"
"""Where things lie inside bubblewrap: the program, the folder of its socket, what it may write, a build's home."""
EMPTY, NOTHING = "empty", "nothing"
"""The file and the folder that are shown to bots for what they are not to see."""
FILES = 256
"""Open files of a process."""
BUILD = Bounds(memory_mib=4096, tasks=1024, disk_mib=4096, cores=os.cpu_count() or 1)
"""What the building of a bot may use up."""

UNREADABLE = {"GIT_CONFIG_NOSYSTEM": "1", "MAVEN_SKIP_RC": "1"}
"""Has tools pass over the machine's settings, which are there at grade C, yet not to be read: they would give up."""


class Confined(NamedTuple):
    """A command made safe. `group` is to be removed when it has ended."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    group: Group | None = None
    wrapped: bool = False
    """Whether bubblewrap stands around it, which tells the end by signal n as exit code 128 + n."""
    bounds: Bounds = DEFAULT
    scratch: Path | None = None
    """Where on the disk it may write."""


def confine(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    root: Path,
    door: Path,
    scratch: Path,
    env: Mapping[str, str],
    bounds: Bounds = DEFAULT,
) -> Confined:
    """A bot, which sees its program in `root` and its socket in `door`, and writes to `scratch` or memory of its own.

    `env` is all that it finds in its environment, besides hints to runtimes how much memory there is. Raises OSError
    if a control group cannot be made.
    """
    root, door, scratch = root.absolute(), door.absolute(), scratch.absolute()
    env = {**hints(bounds), "TMPDIR": TEMPORARY if sandbox.bwrap else str(scratch), **env}
    env["HOME"] = env["TMPDIR"]
    orders = _orders(sandbox, bounds, user(sandbox))
    if sandbox.bwrap is None:
        env["JAVA_TOOL_OPTIONS"] += f" -Djava.io.tmpdir={scratch}"  # Java does not ask for TMPDIR
        if sandbox.grade is Grade.C:
            env["PYTHONPATH"] = str(places.link_packages(scratch))
            orders |= _bare(sandbox, [str(root), str(door)], [str(scratch)])
        group = _group(sandbox, orders, bounds)
        return Confined(_launch(orders, command), env, str(root), group, False, bounds, scratch)
    wrapper = _bubblewrap(sandbox, orders, {BOT: str(root), DOOR: str(door)}, {}, bounds, network=False)
    wrapper += [*_quiet_proc(_source(sandbox, orders, str(_machine(scratch)))), "--"]
    group = _group(sandbox, orders, bounds)
    return Confined(_launch(orders, [*wrapper, *_counted(bounds), *command]), env, "/", group, True, bounds)


def confine_build(
    sandbox: Sandbox, command: Sequence[str], *, root: Path, own: Path, env: Mapping[str, str], bounds: Bounds = BUILD
) -> Confined:
    """The building of a bot in the folder `root`, which it may write; with the network.

    In `own` are the folders `home` and `tmp`, which it may write as well; what Cargo compiles is kept in the home.
    Without bubblewrap the same by Landlock; at grade D nothing but limits. `env` is added to what it finds.
    """
    root, home, temporary = root.absolute(), own.absolute() / "home", own.absolute() / "tmp"
    inside = (HOME, TEMPORARY) if sandbox.bwrap else (str(home), str(temporary))
    java = f"-Duser.home={inside[0]} -Djava.io.tmpdir={inside[1]}"  # it asks neither for HOME nor for TMPDIR
    cargo = {"CARGO_HOME": f"{inside[0]}/.cargo", "CARGO_BUILD_BUILD_DIR": f"{inside[0]}/.cache/cargo"}
    env = {"HOME": inside[0], "TMPDIR": inside[1], "MAVEN_OPTS": java, **cargo, **places.way_out(), **env}
    env["PATH"] = os.pathsep.join(
        [*(f"{place}/bin" for place in places.toolchains()), env.get("PATH", "/usr/bin:/bin")]
    )
    orders = _orders(sandbox, bounds, builder(sandbox)) | {"limits": _limits(sandbox, bounds) | {"nofile": 4096}}
    if sandbox.bwrap is None:
        if sandbox.grade is Grade.C:
            writable = [str(root), str(home), str(temporary)]
            shown = [*_tools(), *places.settings(*places.RELEASE), "/proc", str(own.absolute()), *writable]
            orders |= _bare(sandbox, shown, writable, network=True)
            orders["landlock"]["listed"] += places.imported_from()
            env |= UNREADABLE | {"MAVEN_OPTS": f"{java} -Dmaven.conf={places.link_maven(own)}"}
        group = _group(sandbox, orders, bounds)
        return Confined(_launch(orders, command), env, str(root), group, False, bounds)
    seen = {place: place for place in _tools()}
    write = {BOT: str(root), HOME: str(home), TEMPORARY: str(temporary)}
    wrapper = [*_bubblewrap(sandbox, orders, seen, write, bounds, network=True), "--"]
    group = _group(sandbox, orders, bounds)
    return Confined(_launch(orders, [*wrapper, *_counted(bounds), *command]), env, "/", group, True, bounds)


def _tools() -> list[str]:
    return [*places.toolchains(), *places.certificates(), *places.settings(*places.NETWORK)]


def door(sandbox: Sandbox, directory: Path) -> Path:
    """Where a bot finds the folder of its socket."""
    return Path(DOOR) if sandbox.bwrap else directory


def user(sandbox: Sandbox) -> int | None:
    """As whom bots run, if not as ourselves: what they are to write must be theirs."""
    return UNPRIVILEGED if sandbox.own_user else None


def builder(sandbox: Sandbox) -> int | None:
    """As whom bots are built, likewise."""
    return BUILDER if sandbox.own_user else None


def hints(bounds: Bounds) -> dict[str, str]:
    """What runtimes should know, since they ask the machine how much memory and how many cores there are."""
    memory = bounds.memory_mib
    return {
        "JAVA_TOOL_OPTIONS": f"-Xmx{memory * 6 // 10}m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData",
        "NODE_OPTIONS": f"--max-old-space-size={memory * 6 // 10}",
        "GOMEMLIMIT": f"{memory * 8 // 10}MiB",
        "GOMAXPROCS": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "DOTNET_gcServer": "0",
    }


def _group(sandbox: Sandbox, orders: dict[str, Any], bounds: Bounds) -> Group | None:
    """The control group that a command is to join, made last: nobody would remove it if anything failed after it."""
    if not sandbox.groups:
        return None
    group = Group(sandbox.groups, bounds)
    orders["groups"] = group.doors
    return group


def _orders(sandbox: Sandbox, bounds: Bounds, uid: int | None) -> dict[str, Any]:
    """What the launcher does in every grade."""
    return {
        "parent": os.getpid(),
        "groups": [],
        "uid": uid,
        "gid": BOTS_GROUP,
        "drop": sandbox.grade is Grade.C,
        "limits": _limits(sandbox, bounds),
        "stage": [],
        "stage_folder": STAGE,
        "uncover": [],
        "filter": None,
        "filter_number": FILTER,
        "wrapped": sandbox.bwrap is not None,
        "report_number": REPORT,
        "landlock": None,
        "seccomp": None,
    }


def _limits(sandbox: Sandbox, bounds: Bounds) -> dict[str, int]:
    limits = {"core": 0, "fsize": bounds.disk_mib * MIB, "nofile": FILES, "memlock": 65536, "msgqueue": 0, "rtprio": 0}
    if not sandbox.groups:
        limits["data"] = bounds.memory_mib * MIB + HEADROOM
    return limits


def _bare(sandbox: Sandbox, read: list[str], write: list[str], *, network: bool = False) -> dict[str, Any]:
    """Landlock and the filter, for a command without bubblewrap around it."""
    own = [f"/proc/self/{name}" for name in places.OWN_PROCESS] + [f"/proc/{name}" for name in places.MACHINE]
    system = [*places.SYSTEM, *places.LINKS, *places.settings(*places.SETTINGS), *places.python()]
    hidden = [place for place in sandbox.hidden if os.path.isdir(place)]
    around = [places.around(hidden, place) for place in system]
    seen = [place for parts, _ in around for place in parts]
    listed = [place for _, folders in around for place in folders]
    return {
        "landlock": {
            "read": [*seen, *own, *read],
            "listed": listed,
            "write": [*places.DEVICES, *write],
            "network": network,
        },
        "seccomp": filter_file("build" if network else "bare"),
        "uncover": sorted({os.path.realpath(place) for place in [*system, *read, *write]}) if sandbox.staged else [],
    }


def _bubblewrap(
    sandbox: Sandbox,
    orders: dict[str, Any],
    read: Mapping[str, str],
    write: Mapping[str, str],
    bounds: Bounds,
    *,
    network: bool,
) -> list[str]:
    """The command in front of the command, but for its end; notes in the orders what is to be opened for it.

    `read` and `write` are folders of this machine by their place inside.
    """
    assert sandbox.bwrap is not None
    size = str(min(bounds.disk_mib, DEFAULT.disk_mib) * MIB)  # it is memory; builds have a /tmp on the disk
    argv = [sandbox.bwrap, "--unshare-all", *(["--share-net"] if network else []), "--unshare-user", "--disable-userns"]
    argv += ["--die-with-parent", "--new-session", "--uid", str(INSIDE), "--gid", str(INSIDE), "--hostname", "bot"]
    argv += _system()
    argv += ["--proc", "/proc", "--dev", "/dev"]
    argv += [
        "--size",
        size,
        "--perms",
        "1777",
        "--tmpfs",
        "/tmp",
        "--size",
        size,
        "--perms",
        "1777",
        "--tmpfs",
        "/dev/shm",
    ]
    binds = {**{place: place for place in places.python()}, **read}
    for inside, outside in write.items():  # first: the arena, or a toolchain, may lie below /home or /tmp
        argv += _bind(sandbox, orders, "--bind", outside, inside)
    for inside, outside in binds.items():
        argv += _bind(sandbox, orders, "--ro-bind", outside, inside)
    for inside, outside in {**_usr(), **binds}.items():
        for hidden in sandbox.hidden:
            if places.is_in(hidden, outside) and os.path.isdir(hidden) and hidden != outside:
                argv += ["--tmpfs", inside + hidden[len(outside) :], "--remount-ro", inside + hidden[len(outside) :]]
    argv += ["--remount-ro", "/dev", "--remount-ro", "/proc"]  # whose settings are a root's to write, capable or not
    argv += ["--remount-ro", "/", "--chdir", BOT, "--json-status-fd", str(REPORT)]
    if network and sandbox.landlock >= SCOPED:
        orders["landlock"] = {"read": [], "write": [], "network": True, "files": False}
    if sandbox.filtered:
        argv += ["--seccomp", str(FILTER)]
        orders["filter"] = filter_file("build" if network else "bot")
    return argv


SCOPED = 6
"""The ABI of Landlock that keeps processes from abstract sockets."""


def _machine(scratch: Path) -> Path:
    """A new folder with what bots find in /proc of the machine, and with nothing to show for the rest."""
    folder = scratch / "machine"
    (folder / NOTHING).mkdir(parents=True)
    for name, content in {**places.machine(), EMPTY: b""}.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o444)
    open_up(folder)  # whatever the umask
    return folder


def _quiet_proc(machine: str) -> list[str]:
    """What shows nothing in /proc but a bot's own processes, and of the machine what is in a folder made for that.

    The numbers that the kernel counts there for all would let one bot tell another something.
    """
    files, folders = places.counters()
    shown = {f"/proc/{name}": name for name in places.machine()}
    shown |= dict.fromkeys(files, EMPTY) | dict.fromkeys(folders, NOTHING)
    return [word for inside, name in shown.items() for word in ("--ro-bind", f"{machine}/{name}", inside)]


def _bind(sandbox: Sandbox, orders: dict[str, Any], how: str, outside: str, inside: str) -> list[str]:
    return [how, _source(sandbox, orders, outside), inside]


def _source(sandbox: Sandbox, orders: dict[str, Any], outside: str) -> str:
    """Where bubblewrap finds a place of this machine."""
    if not sandbox.staged:
        return outside
    orders["stage"].append(outside)
    return f"{STAGE}/{len(orders['stage']) - 1}"


def _usr() -> dict[str, str]:
    return {place: place for place in places.SYSTEM}


@cache
def _system() -> tuple[str, ...]:
    """The system's programs and the few settings they need."""
    argv: list[str] = []
    for place in (*places.SYSTEM, *(link for link in places.LINKS if not os.path.islink(link) and os.path.isdir(link))):
        argv += ["--ro-bind", place, place]
    for link in filter(os.path.islink, places.LINKS):
        argv += ["--symlink", os.readlink(link).lstrip("/"), link]
    for place in places.settings(*places.SETTINGS):
        argv += ["--ro-bind", place, place]
    return tuple(argv)


def _counted(bounds: Bounds) -> list[str]:
    """Bounds the tasks from inside, where they are counted for each sandbox and not for each user of the machine."""
    prlimit = shutil.which("prlimit", path=os.defpath) or "prlimit"  # where a search path has links, inside it has none
    return [prlimit, f"--nproc={bounds.tasks}", "--"]


def filter_file(kind: str) -> str | None:
    """The system call filter of this kind for this machine; None if there is none for its processor."""
    path = Path(__file__).parent / "filters" / f"{kind}-{machine()}.bpf"
    return str(path) if path.exists() else None


def _launch(orders: Mapping[str, Any], command: Sequence[str]) -> tuple[str, ...]:
    """The launcher in front of a command. It is to be started by the thread that calls this."""
    launcher = str(Path(__file__).with_name("launcher.py"))
    return (sys.executable, "-I", "-S", launcher, json.dumps(orders), *command)
