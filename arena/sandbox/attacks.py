"""Attacks that a hostile bot might try, each by name: `python attacks.py NAME`.

This program needs only the standard library. Every attack first prints that it ran, because one that never began would
look like one that the sandbox held. Then it prints what it achieved, if anything. The environment says where the arena
has put its canaries. No attack does lasting harm, even if it succeeds.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

RAN, ACHIEVED = "RAN", "ACHIEVED "
"""What every attacker prints first, and what stands before each thing that it achieved."""
HOLDS, PLAYED = "HOLDS", "PLAYED"
"""What an attacker prints that has taken all it can, and what the bot beside it prints in the end."""
KEEPS = 5.0
"""Seconds for which an attacker must keep what it took too much of: on a busy machine, about as long may pass until the
arena looks at it and ends it. Ten times as long as between two looks; a few times more would do."""
VICTIM = "be_a_victim"
"""Name under which this program is a bot that somebody starves."""
MIB = 2**20
"""Bytes in a mebibyte."""


class Attack(NamedTuple):
    """An attack; `held_from` is the weakest grade that promises to hold it.

    `attempt` returns what it achieved, or None.
    """

    held_from: str
    attempt: Callable[[], str | None]
    comes_again: bool = False
    """Whether two processes make it, one after the other."""
    starves: bool = False
    """Whether it only takes what the kernel counts by user: it is held if another bot starts all the same.

    So it is promised only where each bot has a user of its own.
    """


ATTACKS: dict[str, Attack] = {}
"""All attacks by name, in the order of this file."""
libc = ctypes.CDLL(None, use_errno=True)


def attack(
    held_from: str, *, comes_again: bool = False, starves: bool = False
) -> Callable[[Callable[[], str | None]], Callable[[], str | None]]:
    """Register an attack under the name of its function."""

    def listed(attempt: Callable[[], str | None]) -> Callable[[], str | None]:
        ATTACKS[attempt.__name__] = Attack(held_from, attempt, comes_again, starves)
        return attempt

    return listed


def canary(name: str) -> Any:
    """Return the data of a canary that the arena has placed."""
    return json.loads(os.environ["ARENA_CANARIES"])[name]


def syscall(number: int, *arguments: Any) -> bool:
    """Tell whether the kernel tried to carry out a call: "not allowed", "not implemented" and "no locks" mean no."""
    if libc.syscall(number, *arguments) >= 0:
        return True
    return ctypes.get_errno() not in {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOLCK}


def number(x86_64: int, aarch64: int) -> int:
    """Return the number of a system call on this machine's architecture."""
    return x86_64 if os.uname().machine == "x86_64" else aarch64


# --- Files


@attack("C")
def read_secrets() -> str | None:
    """Read the database with the event seed, other bots' programs and keys, at their paths and by detours."""
    for place in canary("files"):
        for way in ("", "/proc/self/root", "/proc/1/root", "/proc/self/cwd/.."):
            with contextlib.suppress(OSError):
                if canary("secret") in Path(f"{way}{place}").read_text():
                    return f"read {place}"
    return None


@attack("C")
def find_folders_of_others() -> str | None:
    """List the folders beside its own, where the canary files are."""
    for place in canary("files"):
        with contextlib.suppress(OSError):
            if os.listdir(os.path.dirname(place)):
                return f"listed {os.path.dirname(place)}"
    return None


@attack("C")
def change_itself() -> str | None:
    """Write to its own program's folder: a program that changes would be another version."""
    return _write("changed") or _write(__file__ + "x")


@attack("C")
def write_anywhere() -> str | None:
    """Write to folders of the system and of the arena."""
    places = ["/usr", "/etc", "/run", "/dev", "/", "/var/tmp", "/home", "/root", *map(os.path.dirname, canary("files"))]
    return next((success for place in places if (success := _write(f"{place}/arena-attack"))), None)


def _write(path: str) -> str | None:
    with contextlib.suppress(OSError):
        with open(path, "w") as file:
            file.write("owned")
        os.unlink(path)
        return f"wrote {path}"
    return None


@attack("C")
def fill_the_disk() -> str | None:
    """Write many files, because the size of each single file is limited."""
    size_mib = 0
    with contextlib.suppress(OSError):
        for count in range(200):
            with open(f"{os.environ['TMPDIR']}/{count}", "wb") as file:
                file.write(bytes(2 * MIB))
            size_mib += 2
            time.sleep(0.001)
    return f"wrote {size_mib} MiB" if size_mib > 300 else None


# --- Metadata, which a later process could read as notes


def metadata_calls(path: str, opened: int) -> dict[str, tuple[Any, ...]]:
    """Return every system call that changes metadata of a file, with arguments that change as little as possible."""
    at_cwd, name, status = -100, path.encode(), os.stat(path)
    mode, same = stat.S_IMODE(status.st_mode), 0xFFFFFFFF
    both = (status.st_atime_ns, status.st_mtime_ns)
    times = struct.pack("qqqq", *(part for time in both for part in divmod(time, 10**9)))
    coarse = struct.pack("qqqq", *(part for time in both for part in divmod(time // 1000, 10**6)))
    key, value = b"user.arena", b"x"
    flags, extended = ctypes.create_string_buffer(8), ctypes.create_string_buffer(64)
    arguments = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(flags), 1, 0))
    of_old: dict[str, tuple[Any, ...]] = {
        "chmod": (number(90, -1), name, mode),
        "chown": (number(92, -1), name, same, same),
        "lchown": (number(94, -1), name, same, same),
        "utime": (number(132, -1), name, struct.pack("qq", int(status.st_atime), int(status.st_mtime))),
        "utimes": (number(235, -1), name, coarse),
        "futimesat": (number(261, -1), at_cwd, name, coarse),
    }
    return {call: words for call, words in of_old.items() if words[0] >= 0} | {
        "fchmod": (number(91, 52), opened, mode),
        "fchmodat": (number(268, 53), at_cwd, name, mode),
        "fchmodat2": (452, at_cwd, name, mode, 0),
        "fchown": (number(93, 55), opened, same, same),
        "fchownat": (number(260, 54), at_cwd, name, same, same, 0),
        "utimensat": (number(280, 88), at_cwd, name, times, 0),
        "setxattr": (number(188, 5), name, key, value, 1, 0),
        "lsetxattr": (number(189, 6), name, key, value, 1, 0),
        "fsetxattr": (number(190, 7), opened, key, value, 1, 0),
        "setxattrat": (463, at_cwd, name, 0, key, arguments, 16),
        "removexattr": (number(197, 14), name, key),
        "lremovexattr": (number(198, 15), name, key),
        "fremovexattr": (number(199, 16), opened, key),
        "removexattrat": (466, at_cwd, name, 0, key),
        "file_setattr": (469, at_cwd, name, extended, 32, 0),
        "FS_IOC_SETFLAGS": (number(16, 29), opened, 0x40086602, flags),
        "FS_IOC_FSSETXATTR": (number(16, 29), opened, 0x401C5820, extended),
    }


@attack("C")
def change_metadata() -> str | None:
    """Change metadata of the arena's files, of its package, of Python, and of its own program."""
    for place in (*canary("files"), *_own_program(), __file__, sys.executable):
        with contextlib.suppress(OSError):
            opened = os.open(place, os.O_PATH)
            with contextlib.suppress(OSError):
                opened = os.open(place, os.O_RDONLY)
            for name, call in metadata_calls(place, opened).items():
                if libc.syscall(*call) >= 0:
                    return f"{name} of {place}"
    return None


@attack("C")
def empty_files() -> str | None:
    """Empty files that it may not write: some kernels ask for no right to write for that."""
    for place in canary("files"):
        with contextlib.suppress(OSError):
            os.truncate(place, 0)
            return f"emptied {place}"
        with contextlib.suppress(OSError):
            os.close(os.open(place, os.O_RDONLY | os.O_TRUNC))
            return f"emptied {place} by opening it"
    return None


@attack("C")
def leave_notes_in_times() -> str | None:
    """Leave notes in access times: it is a note if others can see that a file was read or a device was used."""
    for place in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"):
        with contextlib.suppress(OSError):
            status = os.stat(place)
            with contextlib.suppress(OSError), open(place, "r+b", buffering=0) as device:
                device.read(1)
                device.write(b"x")
            now = os.stat(place)
            if (now.st_atime_ns, now.st_mtime_ns) != (status.st_atime_ns, status.st_mtime_ns):
                return f"{place} tells that it was used"
    for place in _own_program():
        with contextlib.suppress(OSError):
            before = os.stat(place).st_atime_ns
            os.listdir(place) if os.path.isdir(place) else Path(place).read_bytes()
            if os.stat(place).st_atime_ns != before:
                return f"{place} tells that it was read"
    return None


def _own_program() -> tuple[str, str]:
    """Return its own program: a folder, and a file in it."""
    return os.getcwd(), f"{os.getcwd()}/bot.py"


# --- Notes for a later process of the same bot


@attack("C", comes_again=True)
def leave_notes() -> str | None:
    """Leave notes in everything that may outlive a process; the second process finds and removes them."""
    answers = [way() for way in (_in_files, _in_queues_and_segments, _in_named_queues, _in_keys, _in_what_is_inherited)]
    notes = [note for note in answers if note]
    return f"found notes {', '.join(notes)}" if notes and canary("again") else None


def _note() -> str:
    return f"arena-{canary('tag')}"


def _in_files() -> str | None:
    """Leave or find files of all kinds in public folders, its own, the arena's, and those of control groups."""
    places = ["/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp", "/run", "/run/lock", "/dev", "/home", "/mnt", "/"]
    places += [os.getcwd(), os.environ["TMPDIR"], os.environ["HOME"], os.path.dirname(os.environ["TMPDIR"])]
    places += [*map(os.path.dirname, canary("files")), *glob("/sys/fs/cgroup"), *glob("/sys/fs/cgroup/*")]
    finding = None
    for path in (f"{place}/{_note()}" for place in places):
        for kind, make, take in (
            ("a file", lambda path: open(path, "x").close(), os.unlink),
            ("a folder", os.mkdir, os.rmdir),
            ("a link", lambda path: os.symlink("x", path), os.unlink),
            ("a pipe", os.mkfifo, os.unlink),
        ):
            with contextlib.suppress(OSError):
                if not canary("again"):
                    make(f"{path}-{kind[2:]}")
                else:
                    take(f"{path}-{kind[2:]}")
                    finding = f"in {path}, {kind}"
    return finding


def _in_queues_and_segments() -> str | None:
    """Leave or find memory, queues and semaphores of System V, which stay until somebody removes them."""
    key, create = int(canary("tag")), 0 if canary("again") else 0o1600
    segment, queue, semaphore = libc.shmget(key, 1, create), libc.msgget(key, create), libc.semget(key, 1, create)
    if canary("again"):
        libc.shmctl(segment, 0, None), libc.msgctl(queue, 0, None), libc.semctl(semaphore, 0, 0)
    names = {"in memory": segment, "in a queue": queue, "in a semaphore": semaphore}
    return next((name for name, identifier in names.items() if identifier >= 0), None)


def _in_named_queues() -> str | None:
    """Leave or find a message queue of POSIX."""
    name = _note().encode()
    if canary("again"):
        return "in a named queue" if libc.syscall(number(241, 181), name) >= 0 else None
    libc.syscall(number(240, 180), name, os.O_CREAT | os.O_RDWR, 0o600, None)
    return None


def _in_keys() -> str | None:
    """Leave or find a key in the key ring of its user, which bots may share."""
    ring, keyctl, name = -4, number(250, 219), _note().encode()
    if not canary("again"):
        libc.syscall(number(248, 217), b"user", name, b"x", 1, ring)
        return None
    key = libc.syscall(keyctl, 10, ring, b"user", name, 0)
    return "in a key" if key >= 0 and libc.syscall(keyctl, 9, key, ring) >= 0 else None


def _in_what_is_inherited() -> str | None:
    """Leave or find flags of open files, which are shared by all processes that inherited the files."""
    for descriptor in (0, 1, 2):
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        if not canary("again"):
            fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        elif flags & os.O_NONBLOCK or stat.S_ISREG(os.fstat(descriptor).st_mode):
            return f"in what is noted of open file {descriptor}"
    return None


@attack("C")
def link_files() -> str | None:
    """Give a file another name: everybody can see how many names a file has."""
    for place in (*_own_program(), sys.executable, *canary("files")):
        with contextlib.suppress(OSError):
            os.link(place, f"{os.environ['TMPDIR']}/linked")
            return f"gave {place} another name"
    return None


@attack("C")
def change_settings() -> str | None:
    """Change settings of the kernel, or the machine's name.

    For many of them the kernel asks only whether root writes, in whatever namespace.
    """
    with contextlib.suppress(OSError):
        socket.sethostname(socket.gethostname())
        return "named the machine"
    for root in ("/proc/sys", "/proc/irq", "/proc/fs", "/sys"):
        for at, _, names in os.walk(root):
            for name in names:
                with contextlib.suppress(OSError):
                    os.close(os.open(f"{at}/{name}", os.O_WRONLY))
                    return f"may write {at}/{name}"
    return None


@attack("C")
def use_the_kernels_log() -> str | None:
    """Read or write the kernel's log, which a later process can read."""
    for how in (os.O_RDONLY, os.O_WRONLY):
        with contextlib.suppress(OSError):
            os.close(os.open("/dev/kmsg", how))
            return "opened /dev/kmsg"
    return "read it" if libc.syscall(number(103, 116), 3, ctypes.create_string_buffer(100), 100) >= 0 else None


# --- Messages through things that all processes can see


@attack("C")
def watch_files() -> str | None:
    """Watch which files others open: two bots could agree on an alphabet of files."""
    watching = libc.syscall(number(294, 26), 0)
    if watching >= 0:
        return "watches" if libc.inotify_add_watch(watching, os.fsencode(sys.prefix), 0xFFF) >= 0 else "may watch"
    return "may watch" if os.uname().machine == "x86_64" and libc.syscall(253) >= 0 else None


@attack("C")
def see_what_is_cached() -> str | None:
    """Find out which parts of a file somebody has read lately."""
    with open(sys.executable, "rb") as file, mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ) as page:
        buffer, place = ctypes.create_string_buffer(64), _address(page)
        vector = struct.pack("QQ", ctypes.addressof(buffer), 8)
        calls: dict[str, tuple[Any, ...]] = {
            "mincore": (number(27, 232), place, 4096, buffer),
            "cachestat": (451, file.fileno(), struct.pack("QQ", 0, 4096), buffer, 0),
            "preadv2": (number(327, 286), file.fileno(), vector, 1, 0, 0, 8),
        }
        return next((name for name, call in calls.items() if libc.syscall(*call) >= 0), None)


@attack("C")
def change_what_is_cached() -> str | None:
    """Remove a file from the cache, or load it, so that the next reader can measure a difference in time."""
    with open(sys.executable, "rb") as file, mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ) as page:
        place = _address(page)
        calls: dict[str, tuple[Any, ...]] = {
            "fadvise": (number(221, 223), file.fileno(), 0, 4096, 4),
            "fadvise, disguised": (number(221, 223), file.fileno(), 0, 4096, ctypes.c_long(4 | 1 << 32)),
            "readahead": (number(187, 213), file.fileno(), 0, 4096),
            "madvise cold": (number(28, 233), place, 4096, 20),
            "madvise pageout": (number(28, 233), place, 4096, 21),
            "madvise pageout, disguised": (number(28, 233), place, 4096, ctypes.c_long(21 | 1 << 32)),
        }
        return next((name for name, call in calls.items() if libc.syscall(*call) >= 0), None)


def _address(page: mmap.mmap) -> ctypes.c_void_p:
    """Return the address of a mapped page of the interpreter's own file, which nobody can write."""
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    (place,) = {words[0] for words in lines if words[1] == "r--s" and words[-1] == os.path.realpath(sys.executable)}
    assert len(page)
    return ctypes.c_void_p(int(place.split("-")[0], 16))


@attack("C")
def read_counters_of_the_machine() -> str | None:
    """Read counters of all processes together, by which one bot could send another a message."""
    for name in ("vmstat", "pressure/cpu", "interrupts", "softirqs", "diskstats", "sys/fs/file-nr", "locks"):
        with contextlib.suppress(OSError):
            if Path("/proc", name).read_text():
                return f"read /proc/{name}"
    return "has sysinfo" if libc.sysinfo(ctypes.create_string_buffer(128)) == 0 else None


@attack("B")
def watch_the_load() -> str | None:
    """Watch the load of the machine in the files of /proc that runtimes need."""
    names = ("stat", "meminfo", "loadavg", "uptime", "cpuinfo")
    before = [Path("/proc", name).read_bytes() for name in names]
    memory = _touched(50)
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        memory[0] ^= 1
    after = [Path("/proc", name).read_bytes() for name in names]
    return next(
        (f"/proc/{name} changes" for name, old, new in zip(names, before, after, strict=True) if old != new), None
    )


# --- Network


@attack("C")
def reach_the_network() -> str | None:
    """Connect to a service of this machine, which stands for the rest of the world."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", canary("tcp")), 2):
        return "connected by TCP"
    return None


@attack("C")
def send_datagrams() -> str | None:
    """Send a datagram; the arena checks whether it arrives."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(canary("secret").encode(), ("127.0.0.1", canary("udp")))
    return None


@attack("C")
def reach_abstract_sockets() -> str | None:
    """Connect to an abstract socket, which has no path in the file system, so that no folder hides it."""
    return _dialled("\0" + canary("abstract"))


@attack("C")
def find_abstract_names_taken() -> str | None:
    """Find out which abstract names are taken, which is a message from those who have taken them."""
    with socket.socket(socket.AF_UNIX) as unix_socket:
        try:
            unix_socket.bind("\0" + canary("abstract"))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "found a name taken"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix_socket:
        with contextlib.suppress(OSError):
            unix_socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            unix_socket.connect("\0arena-nobody")  # the kernel then gives the socket a name, even if nobody listens
        return "took a name by dialling" if unix_socket.getsockname() and canary("shares_names") else None


@attack("B")
def reach_a_socket_of_others() -> str | None:
    """Connect to the socket of another bot."""
    return _dialled(canary("unix"))


def _dialled(address: str) -> str | None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as out:
        out.connect(address)
        return f"connected to {address!r}"
    return None


@attack("C")
def open_strange_sockets() -> str | None:
    """Open sockets to the hypervisor, to raw packets and IP, and to the kernel's cryptography."""
    for family, kind in (
        (40, socket.SOCK_STREAM),
        (17, socket.SOCK_RAW),
        (38, socket.SOCK_SEQPACKET),
        (2, socket.SOCK_RAW),
    ):
        with contextlib.suppress(OSError), socket.socket(family, kind):
            return f"opened a socket of family {family}"
    return None


# --- Other processes


@attack("C")
def signal_others() -> str | None:
    """Kill another process; the arena checks whether its canary is alive."""
    with contextlib.suppress(OSError):
        os.kill(canary("pid"), signal.SIGKILL)
    return None


@attack("C")
def read_memory_of_others() -> str | None:
    """Read the memory and the environment of the arena, which contain secrets."""
    pid = canary("pid")
    for name in ("environ", "mem", "maps"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
            if name == "mem" or file.read(1):
                return f"opened /proc/{pid}/{name}"
    return None


@attack("C")
def trace_others() -> str | None:
    """Attach to another process as its tracer, which controls it."""
    return "attached" if libc.ptrace(16, canary("pid"), None, None) == 0 else None


@attack("C")
def limit_others() -> str | None:
    """Change another process's limits, or the processors it may use, so that it fails or slows down."""
    with contextlib.suppress(OSError):
        resource.prlimit(canary("pid"), resource.RLIMIT_CORE, (0, 0))
        return "limited another process"
    with contextlib.suppress(OSError):
        os.sched_setaffinity(canary("pid"), os.sched_getaffinity(0))
        return "moved another process"
    return None


@attack("B")
def see_others() -> str | None:
    """See how many other processes there are, and their names."""
    with contextlib.suppress(OSError):
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if entry.isdigit() and canary("tag").encode() in Path(f"/proc/{entry}/cmdline").read_bytes():
                    return f"saw process {entry}"
    return None


@attack("D")
def stay_behind() -> str | None:
    """Leave a process behind, in another session and with another parent; the arena checks for it."""
    if not os.fork():
        os.setsid()
        if not os.fork():
            os.execv("/bin/sleep", ["sleep", canary("lasting")])
        os._exit(0)
    time.sleep(0.2)
    return None


@attack("D")
def ignore_the_end() -> str | None:
    """Ignore the signals that ask a process to end, so that only SIGKILL ends it."""
    for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)
    time.sleep(0.2)
    os.execv("/bin/sleep", ["sleep", canary("lasting")])


# --- The kernel


@attack("B")
def make_namespaces() -> str | None:
    """Make namespaces: root in a namespace of its own can attack far more of the kernel."""
    return next((f"unshared {flag:#x}" for flag in (0x10000000, 0x20000, 0x40000000) if not libc.unshare(flag)), None)


@attack("C")
def mount_file_systems() -> str | None:
    """Mount a file system, as if over files that the arena relies on.

    It is mounted in a folder of its own: where the attack succeeds, others would lose sight of their files, and whoever
    opened one meanwhile would keep it mounted.
    """
    detached = 2  # MNT_DETACH: it goes although somebody looks into it
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = folder.encode()
        if libc.mount(b"none", place, b"tmpfs", 0, None) != 0:
            return None
        libc.umount2(place, detached)
        return "mounted"


@attack("C")
def gain_privileges() -> str | None:
    """Gain privileges by a setuid program, or by capabilities that were left."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    if status["NoNewPrivs"].strip() != "1":
        return "may gain privileges by programs"
    return f"has capabilities {status['CapEff']}" if int(status["CapEff"], 16) else None


@attack("C")
def use_kernel_back_doors() -> str | None:
    """Use key rings, io_uring, bpf, perf, userfaultfd and modules, all of which have had security holes."""
    calls: dict[str, tuple[Any, ...]] = {
        "add_key": (number(248, 217), b"user", b"arena", b"x", 1, -3),
        "request_key": (number(249, 218), b"user", b"arena", None, -4),
        "keyctl": (number(250, 219), 0, -4, 1),
        "io_uring_setup": (425, 1, ctypes.create_string_buffer(120)),
        "bpf": (number(321, 280), 0, ctypes.create_string_buffer(120), 120),
        "perf_event_open": (number(298, 241), ctypes.create_string_buffer(120), 0, -1, -1, 0),
        "userfaultfd": (number(323, 282), 1),
        "init_module": (number(175, 105), b"", 0, b""),
    }
    return next((name for name, call in calls.items() if syscall(*call)), None)


@attack("C")
def signal_by_locks() -> str | None:
    """Lock a file that two bots may read, which lets them take turns in sending each other messages."""
    with open(sys.executable, "rb") as shared:
        for lock in (lambda: fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB),
                     lambda: fcntl.lockf(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)):  # fmt: skip
            with contextlib.suppress(OSError):
                lock()
                return "took a lock"
        wanted = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0) + bytes(8)
        if libc.syscall(number(72, 25), shared.fileno(), ctypes.c_long(fcntl.F_SETLK | 1 << 32), wanted) >= 0:
            return "took a lock in disguise"
    return None


@attack("C")
def share_memory() -> str | None:
    """Make shared memory that outlives its process and belongs to nobody."""
    segment = libc.shmget(0, 4096, 0o1600)
    return None if segment < 0 else f"has segment {segment} {libc.shmctl(segment, 0, None)}"


@attack("C")
def change_its_priority() -> str | None:
    """Change its priority, to be faster or to look as if it waited."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return "is idle now"
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, 5)
        return "is nice now"
    return None


@attack("C")
def raise_its_limits() -> str | None:
    """Raise its own resource limits; the arena sets hard ones."""
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        hard = resource.getrlimit(limit)[1]
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (hard + 1, hard + 1))
            return f"raised limit {limit}"
    return None


@attack("C")
def outlive_others_without_memory() -> str | None:
    """Make the kernel end others first when the machine runs out of memory; bots should go first."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("-500")
        return "goes last"
    return None


# --- Resources


@attack("C")
def fork_without_end() -> str | None:
    """Start many processes, which here only sleep."""
    children = 0
    with contextlib.suppress(OSError):
        for _ in range(300):
            if not os.fork():
                time.sleep(4 * KEEPS)
                os._exit(0)
            children += 1
    return _kept(f"{children} children") if children > 100 else None


@attack("C")
def start_threads_without_end() -> str | None:
    """Start many threads, which here only sleep."""
    started = 0
    with contextlib.suppress(RuntimeError):
        for _ in range(300):
            threading.Thread(target=time.sleep, args=(4 * KEEPS,), daemon=True).start()
            started += 1
    return _kept(f"{started} threads") if started > 100 else None


@attack("D")
def take_all_memory() -> str | None:
    """Use 1024 MiB of memory at once, more than the limit."""
    memory = _touched(1024)
    return _kept(f"{len(memory) // MIB} MiB")


@attack("D")
def take_all_memory_slowly() -> str | None:
    """Use 1000 MiB of memory in small pieces."""
    pieces = []
    for _ in range(100):
        pieces.append(_touched(10))
        time.sleep(0.01)
    return _kept(f"{len(pieces) * 10} MiB")


@attack("D")
def take_all_memory_in_children() -> str | None:
    """Use 1000 MiB of memory in ten child processes, each of which has little."""
    for _ in range(10):
        if not os.fork():
            memory = _touched(100)
            time.sleep(5)
            os._exit(len(memory) % 2)
    with contextlib.suppress(OSError):
        if all(os.wait()[1] == 0 for _ in range(10)):
            return "has 1000 MiB in ten processes"
    return None


def _kept(what: str) -> str:
    """Keep what was taken until a busy arena would have ended this process, then say what it is."""
    time.sleep(KEEPS)
    return f"has {what}"


def _touched(mib: int) -> bytearray:
    block = bytearray(mib * MIB)
    block[::4096] = b"x" * len(block[::4096])
    return block


@attack("D")
def open_files_without_end() -> str | None:
    """Open 5000 files, of which a machine has only a limited number."""
    files: list[Any] = []
    with contextlib.suppress(OSError):
        while len(files) < 5000:
            files.append(open(sys.executable, "rb"))  # noqa: SIM115
    return f"has {len(files)} open files" if len(files) >= 5000 else None


@attack("D")
def print_without_end() -> str | None:
    """Print 2 GB; the arena should stop reading before that."""
    line = b"spam " * 4000 + b"\n"
    for _ in range(100_000):
        os.write(1, line)
    return "printed 2 GB"


# --- Resources that all bots of a user share, or the whole machine


@attack("C", starves=True)
def use_up_watches() -> str | None:
    """Watch some 280,000 files with epoll; a small machine allows a user fewer.

    A file is watched under each number that it is opened as, by each of 100 watchers.
    """
    watchers = [select.epoll() for _ in range(100)]
    numbers = range(max(watcher.fileno() for watcher in watchers) + 50, 240)
    pipes: list[int] = []
    with contextlib.suppress(OSError):
        for _ in range(400_000 // (len(watchers) * len(numbers))):
            pipes += os.pipe()
            for place in numbers:
                os.dup2(pipes[-2], place)
                for watcher in watchers:
                    watcher.register(place)
    _hold()
    return None


@attack("C", starves=True)
def use_up_pipes() -> str | None:
    """Open so many pipes in ten processes that the next ones of the same user are made smaller."""
    for _ in range(10):
        if not os.fork():
            with contextlib.suppress(OSError):
                while True:
                    os.pipe()
            time.sleep(30)
            os._exit(0)
    time.sleep(0.5)
    _hold()
    return None


@attack("C", starves=True)
def use_up_signals() -> str | None:
    """Set up timers until no more signals of the same user can be queued."""
    timer = ctypes.c_int()
    while not libc.syscall(number(222, 107), time.CLOCK_MONOTONIC, None, ctypes.byref(timer)):
        pass
    _hold()
    return None


def _hold() -> None:
    """Keep everything until the arena ends this process."""
    print(HOLDS, flush=True)  # noqa: T201
    time.sleep(30)


def be_a_victim() -> None:
    """Take what runtimes take as they start. Raises OSError if there is less of it than a user may have."""
    reader, writer = os.pipe()
    if fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) < 65536:
        raise OSError(errno.EMFILE, "pipes are small")
    select.epoll().register(reader)
    if libc.syscall(number(222, 107), time.CLOCK_MONOTONIC, None, ctypes.byref(ctypes.c_int())):
        raise OSError(ctypes.get_errno(), "no timer")
    socket.socketpair()
    thread = threading.Thread(target=os.getpid)
    thread.start()
    thread.join()
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)
    print(PLAYED, flush=True)  # noqa: T201


@attack("C")
def open_network_sockets() -> str | None:
    """Open sockets whose buffers no control group counts: netlink, TCP and UDP, even if they lead nowhere."""
    for family, kind in (
        (16, socket.SOCK_RAW),
        (2, socket.SOCK_STREAM),
        (2, socket.SOCK_DGRAM),
        (10, socket.SOCK_STREAM),
    ):
        with contextlib.suppress(OSError), socket.socket(family, kind):
            return f"opened a socket of family {family}"
    return None


@attack("C")
def take_huge_pages() -> str | None:
    """Map a huge page, of which the machine has a fixed number or none."""
    huge, without_reserve = 0x40000, 0x4000
    libc.mmap.restype = ctypes.c_void_p
    kinds = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | huge | without_reserve
    mapped = libc.mmap(None, ctypes.c_size_t(2 * MIB), mmap.PROT_READ, kinds, -1, ctypes.c_long(0))
    return None if mapped == ctypes.c_void_p(-1).value else "mapped a huge page"


@attack("C")
def take_asynchronous_events() -> str | None:
    """Set up asynchronous I/O, whose events the whole machine shares."""
    context = ctypes.c_ulong(0)
    return "took an event" if libc.syscall(number(206, 0), 1, ctypes.byref(context)) == 0 else None


@attack("C")
def attach_filters() -> str | None:
    """Attach a filter to a socket or to itself: sandboxes share the room for compiled filters with everybody."""
    allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(allow))
    with socket.socket(socket.AF_UNIX) as unix_socket, contextlib.suppress(OSError):
        unix_socket.setsockopt(socket.SOL_SOCKET, 26, program)
        return "attached one to a socket"
    if libc.syscall(number(317, 277), 1, 0, program) == 0:
        return "attached one to itself"
    return "attached one to itself by prctl" if libc.prctl(22, 2, program, 0, 0) == 0 else None


@attack("C")
def open_terminals() -> str | None:
    """Open a terminal, of which the whole machine has a limited number."""
    with contextlib.suppress(OSError):
        os.openpty()
        return "opened a terminal"
    return None


# --- What was left accessible by mistake


@attack("D")
def inherit_secrets() -> str | None:
    """Find the operator's secret in the environment of this process or of the first process it sees."""
    for place in ("/proc/self/environ", "/proc/1/environ"):
        with contextlib.suppress(OSError):
            if "ARENA_OPERATOR" in Path(place).read_text():
                return f"found the operator's secret in {place}"
    return None


@attack("D")
def inherit_files() -> str | None:
    """Find files that somebody forgot to close."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            if descriptor > 2 and not os.readlink(f"/proc/self/fd/{descriptor}").startswith("/proc/"):
                return f"has {os.readlink(f'/proc/self/fd/{descriptor}')} open"
    return None


@attack("D")
def type_into_the_terminal() -> str | None:
    """Type into the terminal, as if the operator had typed."""
    for descriptor in (0, 1, 2):
        with contextlib.suppress(OSError):
            fcntl.ioctl(descriptor, 0x5412, b"x")
            return "typed"
    with contextlib.suppress(OSError), open("/dev/tty", "rb"):
        return "has a terminal"
    return None


def main() -> None:
    """Run the attack that the command line names."""
    print(RAN, flush=True)  # noqa: T201
    if sys.argv[1] == VICTIM:
        be_a_victim()
        return
    achieved = ATTACKS[sys.argv[1]].attempt()
    if achieved is not None:
        print(f"{ACHIEVED}{achieved}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
