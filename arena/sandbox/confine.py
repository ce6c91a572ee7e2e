"""Turns a command into one that runs inside the sandbox: argv, environment, and what has to be removed afterwards."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from platform import machine
from typing import NamedTuple

from arena.sandbox import places, users
from arena.sandbox.cgroups import ControlGroup
from arena.sandbox.grades import DEFAULT, MIB, Bounds, Grade, Sandbox
from arena.sandbox.orders import BUILD_FILES, REPORT, Orders, launch, orders_for
from arena.sandbox.run_folder import open_up
from arena.sandbox.users import User
from arena.sandbox.watchdog import ENTRIES

_INSIDE = 1000
"""User id that a bot sees for itself inside bubblewrap; any but 0, which is root, would do."""
SANDBOX_NAME = "bot"
"""Name of the user that a bot or build runs as, as the environment and, inside bubblewrap, the system says it."""
_FILTER = 100
"""File descriptor from which bubblewrap reads the system call filter; any that is free would do, as for `REPORT`."""
_STAGE = "/mnt"
"""Folder in which bubblewrap is shown places that its user could not reach otherwise; no other process sees them."""
_BOT, _DOOR, _TEMPORARY, HOME = "/bot", "/run/arena", "/tmp", "/home"
"""Paths inside bubblewrap: the program, its socket's folder, its temporary files, the home of a build."""
_EMPTY, _NOTHING = "empty", "nothing"
"""Names of the file and the folder that bots are shown in place of what they must not see."""
_ALONE = "alone"
"""Folder of the SDK with what Python imports first in every bot."""
BUILD = Bounds(memory_mib=4096, tasks=1024, disk_mib=4096, cores=os.cpu_count() or 1)
"""Limits for building a bot; pages promise the memory and the disk. The tasks need only be enough for any compiler."""

_UNREADABLE = {"GIT_CONFIG_NOSYSTEM": "1", "MAVEN_SKIP_RC": "1"}
"""Environment that makes tools skip the machine's settings.

At grade C these exist but are unreadable, and tools would fail.
"""


class Confined(NamedTuple):
    """A command wrapped for the sandbox; `release` when it has ended, with all that it started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    group: ControlGroup | None = None
    wrapped: bool = False
    """Whether bubblewrap runs the command; it reports an end by signal n as exit code 128 + n."""
    bounds: Bounds = DEFAULT
    scratch: Path | None = None
    """Folder on disk that the command may write to."""
    user: User | None = None
    """Who the command runs as, and nothing else meanwhile; None: somebody who was not taken for it."""

    def release(self) -> None:
        """Remove its control groups, and let another command have its user."""
        if self.group is not None:
            self.group.remove()
        if self.user is not None:
            self.user.give_back()


def confine(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    root: Path,
    socket_folder: Path,
    scratch: Path,
    env: Mapping[str, str],
    bounds: Bounds = DEFAULT,
) -> Confined:
    """Wrap the command of a bot, which sees its program in `root` and the folder of its socket, `socket_folder`.

    The bot writes to `scratch` or to memory of its own. Its environment is `env`, with hints that tell runtimes how
    much memory there is, and paths of its home, temporary files and packages. Where it gets a user of its own, that
    user gets both folders. Raises OSError if a control group cannot be made, NoUser if no user is left.
    """
    root, socket_folder, scratch = root.absolute(), socket_folder.absolute(), scratch.absolute()
    # A folder on disk with what another user wrote could only be counted, and removed, by root.
    own_folder = scratch / "own" if sandbox.own_user and os.geteuid() != 0 else scratch
    env = {**_hints(bounds), "TMPDIR": _TEMPORARY if sandbox.bwrap else str(own_folder), **env}
    env |= {"HOME": env["TMPDIR"], "USER": SANDBOX_NAME, "LOGNAME": SANDBOX_NAME, **alone(env)}
    with _own_user(sandbox) as user:
        orders = orders_for(sandbox, bounds, user)
        if user is not None:
            for path in (socket_folder, *socket_folder.iterdir(), scratch):
                user.let_use(path)
        if sandbox.bwrap is None:
            env["JAVA_TOOL_OPTIONS"] += f" -Djava.io.tmpdir={own_folder}"  # Java ignores TMPDIR
            if sandbox.grade is Grade.C:
                env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(places.link_packages(scratch))])
                orders |= _bare(sandbox, [str(root), str(socket_folder), str(scratch)], [str(own_folder)], user)
            if own_folder != scratch:
                own_folder.mkdir()
                orders["temporary"] = [own_folder, _in_memory(bounds), ENTRIES]
            group = _group(sandbox, orders, bounds)
            on_disk = scratch if own_folder == scratch else None
            return Confined(launch(orders, command), env, str(root), group, False, bounds, on_disk, user)
        readable = {_BOT: str(root), _DOOR: str(socket_folder), **_names(scratch / "names", _TEMPORARY)}
        machine = _source(sandbox, orders, str(_machine(scratch)))
        quiet = _quiet_proc(machine, _STAGE if sandbox.staged else machine)
        wrapper = [*_bubblewrap(sandbox, orders, readable, {}, bounds, network=False, quiet=quiet), "--"]
        group = _group(sandbox, orders, bounds)
        argv = launch(orders, [*wrapper, *_counted(bounds), *command])
        return Confined(argv, env, "/", group, True, bounds, user=user)


@contextmanager
def _own_user(sandbox: Sandbox) -> Iterator[User | None]:
    """Take a user for a command, if the sandbox gives each its own; give it back if the block ends with an error."""
    user = users.take_user() if sandbox.own_user else None
    try:
        yield user
    except BaseException:
        if user is not None:
            user.give_back()
        raise


def confine_build(
    sandbox: Sandbox,
    command: Sequence[str],
    *,
    root: Path,
    build_folder: Path,
    env: Mapping[str, str],
    user: User | None,
    bounds: Bounds = BUILD,
) -> Confined:
    """Wrap the command that builds a bot in the folder `root`, which it may write to, with access to the network.

    `build_folder` contains the folders `home` and `tmp`, which the command may write to as well; what Cargo compiles is
    cached in that home. These three belong to `user`, whom the commands of a build share; None: the arena's own.
    Without bubblewrap Landlock enforces the same; at grade D there are only limits. `env` is added to the environment
    that is made here.
    """
    root, home, temporary = root.absolute(), build_folder.absolute() / "home", build_folder.absolute() / "tmp"
    if user is None:
        sandbox = sandbox._replace(staged=False)
    inside = (HOME, _TEMPORARY) if sandbox.bwrap else (str(home), str(temporary))
    java = f"-Duser.home={inside[0]} -Djava.io.tmpdir={inside[1]}"  # Java ignores HOME and TMPDIR
    cargo = {"CARGO_HOME": f"{inside[0]}/.cargo", "CARGO_BUILD_BUILD_DIR": f"{inside[0]}/.cache/cargo"}
    env = {
        "USER": SANDBOX_NAME,
        "LOGNAME": SANDBOX_NAME,
        "HOME": inside[0],
        "TMPDIR": inside[1],
        "MAVEN_OPTS": java,
        **cargo,
        **places.way_out(),
        **env,
        **alone(env, "pip"),
    }
    env["PATH"] = os.pathsep.join(
        [*(f"{place}/bin" for place in places.toolchains()), env.get("PATH", "/usr/bin:/bin")]
    )
    orders = orders_for(sandbox, bounds, user, files=BUILD_FILES)
    if sandbox.bwrap is None:
        if sandbox.grade is Grade.C:
            writable = [str(root), str(home), str(temporary)]
            readable_paths = [
                *_tools(),
                *places.settings(*places.RELEASE),
                "/proc",
                str(build_folder.absolute()),
                *writable,
            ]
            orders |= _bare(sandbox, readable_paths, writable, user, listed=places.imported_from(), network=True)
            env |= _UNREADABLE | {"MAVEN_OPTS": f"{java} -Dmaven.conf={places.link_maven(build_folder)}"}
        group = _group(sandbox, orders, bounds)
        return Confined(launch(orders, command), env, str(root), group, False, bounds)
    readable = {place: place for place in _tools()}
    write = {_BOT: str(root), HOME: str(home), _TEMPORARY: str(temporary)}
    readable |= _names(build_folder.absolute() / "names", HOME)
    wrapper = [*_bubblewrap(sandbox, orders, readable, write, bounds, network=True), "--"]
    group = _group(sandbox, orders, bounds)
    return Confined(launch(orders, [*wrapper, *_counted(bounds), *command]), env, "/", group, True, bounds)


def _tools() -> list[str]:
    return [*places.toolchains(), *places.certificates(), *places.settings(*places.NETWORK)]


def socket_folder(sandbox: Sandbox, directory: Path) -> Path:
    """Return the path at which a bot finds the folder of its socket."""
    return Path(_DOOR) if sandbox.bwrap else directory


def _hints(bounds: Bounds) -> dict[str, str]:
    """Return environment variables that tell runtimes the limits; they would otherwise see all memory and all cores."""
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


def alone(env: Mapping[str, str], *packages: str) -> dict[str, str]:
    """Return the variables that leave a program in Python alone with the SDK, some packages and its own."""
    own_path = [env["PYTHONPATH"]] if "PYTHONPATH" in env else []
    where = next(place for place in places.packages() if Path(place).name == "arena_bot")
    python_path = os.pathsep.join([f"{where}/{_ALONE}", *own_path])
    return {"PYTHONPATH": python_path, "ARENA_MODULES": os.pathsep.join(places.modules(*packages))}


def _group(sandbox: Sandbox, orders: Orders, bounds: Bounds) -> ControlGroup | None:
    """Make the control group that a command will join.

    Call it last: if anything failed afterwards, nobody would remove the group.
    """
    if not sandbox.groups:
        return None
    group = ControlGroup(sandbox.groups, bounds)
    orders["join"] = group.procs_files
    return group


def _bare(
    sandbox: Sandbox,
    readable: list[str],
    writable: list[str],
    user: User | None,
    *,
    listed: Sequence[str] = (),
    network: bool = False,
) -> Orders:
    """Return the orders for Landlock and the system call filter, for a command without bubblewrap."""
    proc_files = [f"/proc/self/{name}" for name in places.OWN_PROCESS] + [f"/proc/{name}" for name in places.MACHINE]
    system = [*places.SYSTEM, *places.LINKS, *places.settings(*places.SETTINGS), *places.python()]
    hidden = [place for place in sandbox.hidden if os.path.isdir(place)]
    around = [places.around(hidden, place) for place in system]
    rights = {
        "read": [*(place for parts, _ in around for place in parts), *proc_files, *readable],
        "write": [*places.DEVICES, *writable],
        "list": [*(place for _, folders in around for place in folders), *listed],
    }
    orders: Orders = {"landlock": [int(network), 1]}
    orders["landlock"] += [word for right, at in rights.items() for place in at for word in (right, place)]
    if (program := filter_file("build" if network else "bare")) is not None:
        orders["seccomp"] = [program]
    if sandbox.staged and user is not None:
        orders["uncover"] = [*user.inside, *sorted({os.path.realpath(p) for p in [*system, *readable, *writable]})]
    return orders


def _bubblewrap(
    sandbox: Sandbox,
    orders: Orders,
    readable: Mapping[str, str],
    writable: Mapping[str, str],
    bounds: Bounds,
    *,
    network: bool,
    quiet: Sequence[str] = (),
) -> list[str]:
    """Return the start of the bubblewrap command line, and add to `orders` what the launcher must open for it.

    `readable` and `writable` map paths inside the sandbox to folders of this machine; `quiet` hides a part of /proc.
    For each place that it shows, bubblewrap reads the list of all mounts. So those of /proc come first, whose lines the
    kernel writes quickly, and those of disks last.
    """
    assert sandbox.bwrap is not None
    size = str(_in_memory(bounds))
    argv = [sandbox.bwrap, "--unshare-all", *(["--share-net"] if network else []), "--unshare-user", "--disable-userns"]
    argv += ["--die-with-parent", "--new-session", "--uid", str(_INSIDE), "--gid", str(_INSIDE), "--hostname", "bot"]
    # No terminals: the whole machine has a fixed number of them.
    argv += ["--proc", "/proc", *quiet, "--dev", "/dev", "--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
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
    argv += _system()
    binds = {**{place: place for place in places.python()}, **readable}
    for inside, outside in writable.items():  # first: the arena, or a toolchain, may lie below /home or /tmp
        argv += _bind(sandbox, orders, "--bind", outside, inside)
    for inside, outside in binds.items():
        argv += _bind(sandbox, orders, "--ro-bind", outside, inside)
    for inside, outside in {**_usr(), **binds}.items():
        for hidden in sandbox.hidden:
            if places.is_in(hidden, outside) and os.path.isdir(hidden) and hidden != outside:
                argv += ["--tmpfs", inside + hidden[len(outside) :], "--remount-ro", inside + hidden[len(outside) :]]
    argv += ["--remount-ro", "/dev", "--remount-ro", "/proc"]  # root may write its settings, even without capabilities
    argv += ["--remount-ro", "/", "--chdir", _BOT, "--json-status-fd", str(REPORT)]
    if network and sandbox.landlock >= SCOPED:
        orders["landlock"] = [1, 0]  # the network, and files as bubblewrap shows them
    if sandbox.filtered:
        argv += ["--seccomp", str(_FILTER)]
        orders["filter"] = [filter_file("build" if network else "bot"), _FILTER]
    return argv


def _in_memory(bounds: Bounds) -> int:
    """Return how many bytes of files a command may keep in memory; builds have a /tmp on disk."""
    return min(bounds.disk_mib, DEFAULT.disk_mib) * MIB


SCOPED = 6
"""ABI of Landlock from which on processes can be kept from abstract sockets."""


def _machine(scratch: Path) -> Path:
    """Make a folder with copies of the files in /proc about the machine, an empty file and an empty folder."""
    folder = scratch / "machine"
    (folder / _NOTHING).mkdir(parents=True)
    for name, content in {**places.machine(), _EMPTY: b""}.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o444)
    open_up(folder)  # the umask may have closed it
    return folder


def _names(folder: Path, home: str) -> dict[str, str]:
    """Make the files in which the user inside bubblewrap, who is none of the machine's, has a name; by path inside."""
    folder.mkdir(exist_ok=True)
    files = {
        "/etc/passwd": f"{SANDBOX_NAME}:x:{_INSIDE}:{_INSIDE}::{home}:/bin/sh\n",
        "/etc/group": f"{SANDBOX_NAME}:x:{_INSIDE}:\n",
    }
    paths = {inside: folder / Path(inside).name for inside in files}
    for inside, content in files.items():
        if not paths[inside].exists():  # the commands of a build share them
            paths[inside].write_text(content)
            paths[inside].chmod(0o444)
    open_up(folder)  # the umask may have closed it
    return {inside: str(path) for inside, path in paths.items()}


def _quiet_proc(machine: str, empty: str) -> list[str]:
    """Return the arguments that hide /proc except a bot's own processes, and the machine's files that `machine` copies.

    `empty` has what is shown in place of the others. The kernel's counters there cover all processes, so one bot could
    use them to send another a message.
    """
    files, folders = places.counters()
    covers = {f"/proc/{name}": f"{machine}/{name}" for name in places.machine()}
    covers |= dict.fromkeys(files, f"{empty}/{_EMPTY}") | dict.fromkeys(folders, f"{empty}/{_NOTHING}")
    return [word for inside, outside in covers.items() for word in ("--ro-bind", outside, inside)]


def _bind(sandbox: Sandbox, orders: Orders, how: str, outside: str, inside: str) -> list[str]:
    return [how, _source(sandbox, orders, outside), inside]


def _source(sandbox: Sandbox, orders: Orders, outside: str) -> str:
    """Return the path at which bubblewrap finds a place of this machine."""
    if not sandbox.staged:
        return outside
    staged = orders.setdefault("stage", [_STAGE])
    staged.append(outside)
    return f"{_STAGE}/{len(staged) - 2}"


def _usr() -> dict[str, str]:
    return {place: place for place in places.SYSTEM}


@cache
def _system() -> tuple[str, ...]:
    """Return the arguments that show the system's programs and the few settings they need."""
    argv: list[str] = []
    for place in (*places.SYSTEM, *(link for link in places.LINKS if not os.path.islink(link) and os.path.isdir(link))):
        argv += ["--ro-bind", place, place]
    for link in filter(os.path.islink, places.LINKS):
        argv += ["--symlink", os.readlink(link).lstrip("/"), link]
    for place in places.settings(*places.SETTINGS):
        argv += ["--ro-bind", place, place]
    return tuple(argv)


def _counted(bounds: Bounds) -> list[str]:
    """Return a prefix that limits tasks from inside.

    There they are counted per sandbox, not per user of the machine.
    """
    prlimit = shutil.which("prlimit", path=os.defpath) or "prlimit"  # a search path with links may not exist inside
    return [prlimit, f"--nproc={bounds.tasks + 1}", "--"]  # one is bubblewrap's, inside


def filter_file(kind: str) -> str | None:
    """Return the path of this kind of system call filter; None if there is none for this machine's processor."""
    path = Path(__file__).parent / "filters" / f"{kind}-{machine()}.bpf"
    return str(path) if path.exists() else None
