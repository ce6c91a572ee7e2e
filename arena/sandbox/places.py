"""Places of this machine that a bot may see, read-only: the system's programs, and Python with what the SDK needs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from importlib.util import find_spec
from pathlib import Path, PurePath

SYSTEM = ("/usr",)
"""Folders with the system's programs and libraries."""
LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr, or folders on systems that have not merged them into it."""
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/*.cnf",
    "/etc/ssl/*.pem",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/*.cnf",
    "/etc/pki/tls/*.pem",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/mime.types",
    "/etc/fonts",
    "/etc/java-*",
    "/etc/.java",
    "/etc/maven/m2.conf",
    "/etc/maven/logging",
)
"""Without Maven's settings.xml, which may contain passwords."""
NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/services", "/etc/protocols", "/etc/gai.conf", "/etc/host.conf")
"""Settings for builds, which may use the network."""
RELEASE = ("/etc/*-release", "/etc/*_release", "/etc/*-version", "/etc/*_version")
"""Files that name the distribution, for builds: tools look for them and mostly fail if they are unreadable."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
"""Variables that name the way to the network; tools look for them in upper case, too."""
_CERTIFICATES = (
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
)
"""Variables that name files of certificates, which a machine may need to reach the network."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that programs expect."""
OWN_PROCESS = ("maps", "stat", "status", "statm", "cgroup", "mountinfo", "limits", "cmdline", "auxv", "environ", "fd")
"""Entries of /proc/self to show without bubblewrap.

/proc/self/net and others that lead to other processes stay closed.
"""
MACHINE = ("cpuinfo", "meminfo", "stat", "version", "filesystems", "sys/vm", "sys/kernel/pid_max", "sys/kernel/version")
"""Entries of /proc about the machine to show without bubblewrap."""


_STATIC = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime")
"""Files of /proc about the machine that runtimes read; bots get copies that do not change."""
_OF_PROCESSES = ("self", "thread-self", "mounts", "net", "sys")
"""Entries of /proc that are about the process that reads them, and `sys`, of which `_COUNTERS` has what matters."""
_HARMLESS = ("cmdline", "filesystems", "version")
"""Entries of /proc that say nothing of what processes do."""
_COUNTERS = ("sys/fs", "sys/kernel/pty")
"""Entries below /proc/sys with the number of files and terminals that all processes have open."""


def settings(*patterns: str) -> list[str]:
    """Return those paths in /etc that exist and match these patterns."""
    return [str(path) for pattern in patterns for path in sorted(Path("/").glob(pattern[1:]))]


@cache
def machine() -> dict[str, bytes]:
    """Return the contents of the files of /proc that bots get copies of, as they were at the first call."""
    contents = {}
    for name in _STATIC:
        with suppress(OSError):
            contents[name] = Path("/proc", name).read_bytes()
    return contents


@cache
def counters() -> tuple[list[str], list[str]]:
    """Return the files and folders of /proc that show what other processes do: bots could send messages through them.

    What bots may not read anyway is left out.
    """
    harmless = {*_STATIC, *_OF_PROCESSES, *_HARMLESS}
    entries = [entry for entry in os.scandir("/proc") if not (entry.name.isdecimal() or entry.name in harmless)]
    readable = [entry for entry in entries if entry.stat().st_mode & 0o004]
    files = [entry.path for entry in readable if entry.is_file()]
    folders = [entry.path for entry in readable if entry.is_dir()]
    return files, folders + [path for name in _COUNTERS if os.path.isdir(path := f"/proc/{name}")]


@cache
def packages() -> tuple[str, ...]:
    """Return the folder or file of each package: the arena, its SDK and games from other packages."""
    names = {"arena", "arena_bot", *(entry.module.partition(".")[0] for entry in entry_points(group="arena.games"))}
    specs = [spec for name in sorted(names) if (spec := find_spec(name)) is not None]
    return tuple(place for spec in specs for place in spec.submodule_search_locations or [spec.origin or ""] if place)


_SDK_NEEDS = ("grpcio", "protobuf")
"""Packages that the SDK uses."""


@cache
def modules(*extra_packages: str) -> tuple[str, ...]:
    """Return the paths of the modules that a bot in Python may import besides its own and Python's.

    They are those of the SDK, of games from other packages, and of what these packages require; and of the packages
    `extra_packages`.
    """
    games = [entry.dist.name for entry in entry_points(group="arena.games") if entry.dist is not None]
    paths = list(packages())
    for required in _with_requirements((*_SDK_NEEDS, *games, *extra_packages)):
        tops = {PurePath(file).parts[0] for file in required.files or ()}
        paths += [str(required.locate_file(top)) for top in sorted(tops) if _is_module(top)]
    return tuple(dict.fromkeys(paths))


def _is_module(top: str) -> bool:
    """Tell whether a name at the top of an installed package is that of a module: scripts and notes lie there, too."""
    return top.removesuffix(".py").isidentifier() and top != "__pycache__"


def _with_requirements(names: Iterable[str]) -> list[Distribution]:
    """Return installed packages with all that they require, except the arena and what only extras want."""
    queue, distributions = list(names), dict[str, Distribution]()
    while queue:
        name = re.sub(r"[-_.]+", "-", queue.pop()).lower()
        if name in distributions or name == "arena":
            continue
        with suppress(PackageNotFoundError):
            distributions[name] = distribution(name)
            required = [line for line in distributions[name].requires or () if "extra ==" not in line]
            queue += [first[0] for line in required if (first := re.match(r"[\w.-]+", line))]
    return list(distributions.values())


@cache
def python() -> tuple[str, ...]:
    """Return the folders of the arena's Python, its base, the SDK and the games, except those in the folder /usr."""
    wanted = (sys.prefix, sys.base_prefix, *packages())
    return tuple(_outermost(place for place in wanted if not is_in(place, "/usr")))


def link_packages(folder: Path) -> Path:
    """Make a folder of links in which Python finds the packages, although it may not list their own folders."""
    links = folder / "lib"
    links.mkdir()
    links.chmod(0o755)  # despite the umask: bots may run as another user
    for place in packages():
        (links / Path(place).name).symlink_to(place)
    return links


def imported_from() -> list[str]:
    """Return the folders that contain the packages; Python and pip read only the names in them."""
    return sorted({str(Path(place).parent) for place in packages()})


def link_maven(folder: Path) -> Path:
    """Make a folder of settings for Maven with only those for logging: the machine's others may contain passwords."""
    links = folder / "maven"
    links.mkdir(exist_ok=True)
    links.chmod(0o755)  # despite the umask: builds may run as another user
    if not (logging := links / "logging").is_symlink():
        logging.symlink_to("/etc/maven/logging")
    return links


def toolchains() -> tuple[str, ...]:
    """Return the folders of compilers (rustup) in the user's own folder; their programs are in `bin`."""
    rustup = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")
    return tuple(str(path) for path in sorted(Path(rustup, "toolchains").glob("*")))


def way_out() -> dict[str, str]:
    """Return the variables that builds need to reach the network: proxies, and files of certificates that exist."""
    proxies = {
        name: os.environ[name] for variable in _PROXIES for name in (variable, variable.upper()) if name in os.environ
    }
    return proxies | {name: path for name in _CERTIFICATES if os.path.isfile(path := os.environ.get(name, ""))}


def certificates() -> list[str]:
    """Return the paths of the certificate files that `way_out` names."""
    return [path for name, path in way_out().items() if name in _CERTIFICATES]


def is_in(path: str, folder: str) -> bool:
    """Tell whether a path is the folder or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def shown_to_all(path: Path) -> str | None:
    """Return the folder of this machine through which every bot and build may read a path; None if there is none."""
    real = os.path.realpath(path)
    return next((place for place in (*SYSTEM, *python()) if is_in(real, os.path.realpath(place))), None)


def around(hidden: Sequence[str], place: str) -> tuple[list[str], list[str]]:
    """Return a place or, if something hidden lies in it, the places around that: Landlock cannot exclude a part.

    The second list has the folders that contain these places. Only names may be read there: Python lists where it
    looks.
    """
    real = os.path.realpath(place)
    if not any(is_in(folder, real) for folder in hidden):
        return [place], []
    parts, listed = [], [real]
    for entry in os.scandir(real) if real not in hidden else ():
        if not entry.is_symlink():
            inside = around(hidden, entry.path)
            parts += inside[0]
            listed += inside[1]
    return parts, listed if real not in hidden else []


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths without those that lie in others."""
    outermost: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if not any(is_in(path, outer) for outer in outermost):
            outermost.append(path)
    return outermost
