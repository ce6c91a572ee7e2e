"""What of this machine a bot may see, read-only: the system's programs, and Python with what the SDK needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

SYSTEM = ("/usr",)
LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr, or folders where a system has not merged them."""
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
"""Not Maven's settings.xml, which may hold passwords."""
NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/services", "/etc/protocols", "/etc/gai.conf", "/etc/host.conf")
"""For builds, which may use the network."""
RELEASE = ("/etc/*-release", "/etc/*_release", "/etc/*-version", "/etc/*_version")
"""Which distribution this is, for builds: tools look for it, and few expect that it is there and may not be read."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
CERTIFICATES = (
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
)
"""The variables by which a machine says what is between it and the network."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
OWN_PROCESS = ("maps", "stat", "status", "statm", "cgroup", "mountinfo", "limits", "cmdline", "auxv", "environ", "fd")
"""Of /proc/self, without bubblewrap: /proc/self/net and what else leads to others stays shut."""
MACHINE = ("cpuinfo", "meminfo", "stat", "version", "filesystems", "sys/vm", "sys/kernel/pid_max", "sys/kernel/version")


STATIC = ("cpuinfo", "meminfo", "stat", "loadavg", "uptime")
"""Of /proc, what runtimes read of the machine; bots find copies that do not change."""
OF_PROCESSES = ("self", "thread-self", "mounts", "net", "sys")
HARMLESS = ("cmdline", "filesystems", "version")
COUNTERS = ("sys/fs", "sys/kernel/pty")
"""Below /proc/sys: how many files and terminals all have open."""


def settings(*patterns: str) -> list[str]:
    """Those of some places in /etc that there are."""
    return [str(path) for pattern in patterns for path in sorted(Path("/").glob(pattern[1:]))]


@cache
def machine() -> dict[str, bytes]:
    """What the files of /proc say that bots find copies of, as it was when this was first asked."""
    found = {}
    for name in STATIC:
        with suppress(OSError):
            found[name] = Path("/proc", name).read_bytes()
    return found


@cache
def counters() -> tuple[list[str], list[str]]:
    """The files and the folders of /proc that tell what others do, or how much: one bot could tell another by them.

    What bots may not read anyway is not among them.
    """
    kept = {*STATIC, *OF_PROCESSES, *HARMLESS}
    entries = [entry for entry in os.scandir("/proc") if not (entry.name.isdecimal() or entry.name in kept)]
    seen = [entry for entry in entries if entry.stat().st_mode & 0o004]
    files = [entry.path for entry in seen if entry.is_file()]
    folders = [entry.path for entry in seen if entry.is_dir()]
    return files, folders + [path for name in COUNTERS if os.path.isdir(path := f"/proc/{name}")]


@cache
def packages() -> tuple[str, ...]:
    """The arena, its SDK and the games from elsewhere: the folder, or the file, of each."""
    names = {"arena", "arena_bot", *(entry.module.partition(".")[0] for entry in entry_points(group="arena.games"))}
    specs = [spec for name in sorted(names) if (spec := find_spec(name)) is not None]
    return tuple(place for spec in specs for place in spec.submodule_search_locations or [spec.origin or ""] if place)


@cache
def python() -> tuple[str, ...]:
    """The arena's Python, its base, the SDK and the games, as far as they lie outside of the system's folders."""
    wanted = (sys.prefix, sys.base_prefix, *packages())
    return tuple(outermost(place for place in wanted if not is_in(place, "/usr")))


def link_packages(folder: Path) -> Path:
    """A folder in which Python finds the packages, though it may not look into those in which they lie."""
    links = folder / "lib"
    links.mkdir()
    for place in packages():
        (links / Path(place).name).symlink_to(place)
    return links


def imported_from() -> list[str]:
    """The folders in which the packages lie, of which Python and pip read the names."""
    return sorted({str(Path(place).parent) for place in packages()})


def link_maven(folder: Path) -> Path:
    """A folder for Maven's settings with no more of the machine's than how to print: the rest may hold passwords."""
    links = folder / "maven"
    links.mkdir(exist_ok=True)
    links.chmod(0o755)  # whatever the umask: builds may run as somebody else
    if not (logging := links / "logging").is_symlink():
        logging.symlink_to("/etc/maven/logging")
    return links


def toolchains() -> tuple[str, ...]:
    """Compilers that people keep in their own folder; nothing else of it. Their programs lie in `bin`."""
    rustup = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")
    return tuple(str(path) for path in sorted(Path(rustup, "toolchains").glob("*")))


def way_out() -> dict[str, str]:
    """How builds reach the network, in variables: proxies, and files of certificates, as far as there are any."""
    proxies = {name: os.environ[name] for each in PROXIES for name in (each, each.upper()) if name in os.environ}
    return proxies | {name: path for name in CERTIFICATES if os.path.isfile(path := os.environ.get(name, ""))}


def certificates() -> list[str]:
    """The files among them."""
    return [path for name, path in way_out().items() if name in CERTIFICATES]


def is_in(path: str, folder: str) -> bool:
    """Whether it is the folder or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def around(hidden: Sequence[str], place: str) -> tuple[list[str], list[str]]:
    """A place, or if something hidden lies in it what lies around that, for Landlock can take nothing back.

    Then also the folders that it lies around in, of which only the names may be read: Python lists where it looks.
    """
    real = os.path.realpath(place)
    if not any(is_in(each, real) for each in hidden):
        return [place], []
    seen, listed = [], [real]
    for entry in os.scandir(real) if real not in hidden else ():
        if not entry.is_symlink():
            inside = around(hidden, entry.path)
            seen += inside[0]
            listed += inside[1]
    return seen, listed if real not in hidden else []


def outermost(paths: Iterable[str]) -> list[str]:
    """Without those that lie in others."""
    found: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if not any(is_in(path, other) for other in found):
            found.append(path)
    return found
