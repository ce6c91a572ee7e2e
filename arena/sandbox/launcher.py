"""First program in the process of every bot and build: restricts itself as ordered, then becomes the command.

The command is the bot's or the build's own or, where there is bubblewrap, `bwrap` with that command inside. The
launcher is a program of its own, `python -I -S launcher.py ORDER… run COMMAND…`, because no code can run safely between
fork and exec of a process with gRPC's threads in it. Each order is a name of `ORDERS`, the number of its values, and
these; they are carried out as they come. If one fails, it ends with UNABLE, mostly with a line on stderr, and does not
start the command. What an older kernel cannot do is left out: rights over files that its Landlock does not know
(moving: ABI 2, truncating: ABI 3, ioctl: ABI 5), rules for TCP (ABI 4), scopes (ABI 6), access times (Linux 5.12).
Landlock gives no right to a place that does not exist.

Its stdin is the writing end of a pipe to the arena, which the bot never gets. Through it the launcher reports that the
command begins; if the command is bubblewrap, it leaves the report to bubblewrap.

Where it was compiled, launcher.c does the same in its place: this one is the reference, and needs only the standard
library. Whatever is changed here is changed there; `tests/sandbox/test_launchers.py` gives both the same orders.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

UNABLE = 97
"""Exit code if an order could not be carried out: a fault of the arena.

Any but 0 would do: whether the report has `BEGAN` tells whose fault it is, as a bot may end with any code.
"""
BEGAN = b'"exit-code"'
"""Text in the report from which the arena knows that the command began.

Bubblewrap writes it when a command that began has ended; without bubblewrap the launcher writes it just before it
becomes the command.
"""
NO_PROGRAM = 127
"""Exit code if the command cannot be run: a fault of the bot. Shells have the same."""

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 24, 28, 22, 38
"""Options of prctl(2)."""
CLONE_NEWNS, CLONE_NEWUSER, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = (
    0x20000,
    0x10000000,
    2,
    4,
    0x1000,
    0x4000,
    1 << 18,
)
"""Flags of unshare(2) and setns(2), and of mount(2)."""
MNT_DETACH = 2
"""Flag of umount2(2)."""
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, NOATIME, ALL_OF_ATIME = 442, -100, 0x8000, 0x10, 0x70
"""The system call mount_setattr(2), the same on every architecture, and what `stop_access_times` tells it."""
SECUREBITS_NO_ROOT = 0b101111
"""NOROOT, NO_SETUID_FIXUP, and the locks of these and of KEEP_CAPS.

Neither running a program as root nor a change of user gives capabilities back, for good.
"""
SECCOMP_MODE_FILTER = 2
"""Value of PR_SET_SECCOMP that installs a filter."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, the same on every architecture."""
READ, EXECUTE, READ_DIR = 1 << 2, 1 << 0, 1 << 3
"""Rights of Landlock over files: read a file, run it, list a folder."""
RIGHTS = (0, 13, 14, 15, 15, 16)
"""Number of rights over files that Landlock knows, by ABI."""
OF_FILES = 0b11 | READ | 1 << 14 | 1 << 15
"""Rights that a rule for a file, not a folder, may give: execute, write, read, truncate, ioctl."""
TCP, SCOPES = 0b11, 0b11
"""Rights to bind and connect (ABI 4); scopes of abstract sockets and signals (ABI 6)."""

libc = ctypes.CDLL(None, use_errno=True)


def called(what: str, result: int) -> int:
    """Return the result of a system call. Raises OSError, with what it was about as its file, if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def prctl(option: int, value: int, pointer: Any = 0) -> None:
    """Call prctl for this process. Raises OSError."""
    called(f"prctl {option}", libc.prctl(option, ctypes.c_ulong(value), pointer, 0, 0))


def set_umask(mask: str) -> None:
    """Set the bits that files made from now on do not have."""
    os.umask(int(mask))


def join(*groups: str) -> None:
    """Enter control groups, through their files `cgroup.procs`; 0 stands for this process."""
    for group in groups:
        write(group, b"0")


def be_expendable() -> None:
    """Have the kernel end bots first if memory runs out."""
    write("/proc/self/oom_score_adj", b"1000")


def write(path: str, text: bytes) -> None:
    """Write to a file of the kernel's. Raises OSError."""
    opened = os.open(path, os.O_WRONLY)
    os.write(opened, text)
    os.close(opened)


def enter(namespace: str) -> None:
    """Enter a user namespace of this user's, in which it is root."""
    opened = os.open(namespace, os.O_RDONLY)
    called("setns", libc.setns(opened, CLONE_NEWUSER))
    os.close(opened)


def stage(folder: str, *places: str) -> None:
    """Mount places as 0, 1, … in a folder, where another user can reach them even if folders above them are closed.

    Beside them are an empty file and an empty folder, `empty` and `nothing`. What is mounted in /sys is left out: of no
    use to bubblewrap, which reads the list of all mounts for each place that it shows.
    """
    own_mounts()
    libc.umount2(b"/sys", MNT_DETACH)  # it may be no mount, or not ours in a namespace
    opened = [os.open(place, os.O_PATH) for place in places]  # only now: files opened before belong to the old mounts
    mount("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs")
    os.close(os.open(f"{folder}/empty", os.O_CREAT, 0o444))
    os.mkdir(f"{folder}/nothing")
    for number, place in enumerate(opened):
        show(place, f"{folder}/{number}")


def uncover(uid: str, gid: str, *places: str) -> None:
    """Let another user reach places at their own paths: each closed folder above them is hidden behind an open one.

    The open one has nothing but these places. Stops updates of access times as well, since those would tell a later
    process which files were read.
    """
    own_mounts()
    stop_access_times()
    shut = {place: folder for place in places if (folder := shut_by(place, int(uid), int(gid)))}
    for place in [place for place in shut if any(place.startswith(f"{outer}/") for outer in shut)]:
        del shut[place]  # it is shown as part of the place that contains it
    opened = {place: os.open(place, os.O_PATH) for place in shut}
    for folder in set(shut.values()):
        mount("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs")
        os.chmod(folder, 0o755)
    for place, source in opened.items():
        os.makedirs(os.path.dirname(place), exist_ok=True)
        show(source, place)
    os.chdir(os.getcwd())  # enter the same path through the new mounts


def shut_by(place: str, uid: int, gid: int) -> str | None:
    """Return the outermost folder above a place that user `uid` with group `gid` may not enter; None: there is none."""
    for folder in (place[:end] for end in range(1, len(place)) if place[end] == "/"):
        status = os.stat(folder)
        right = 0o100 if status.st_uid == uid else 0o010 if status.st_gid == gid else 0o001
        if not status.st_mode & right:
            return folder
    return None


def own_mounts() -> None:
    """Make later mounts visible to this process and its children only. Raises OSError."""
    called("unshare", libc.unshare(CLONE_NEWNS))
    mount("none", "/", MS_REC | MS_PRIVATE)


def stop_access_times() -> None:
    """Stop all mounts from updating access times, where the kernel can do so for all at once (Linux 5.12).

    Older kernels go on updating them, so the result is not looked at.
    """
    wanted = struct.pack("QQQQ", NOATIME, ALL_OF_ATIME, 0, 0)
    libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, wanted, len(wanted))


def show(opened: int, target: str) -> None:
    """Mount an opened file or folder at a path that does not exist yet, and close it. Raises OSError."""
    source = f"/proc/self/fd/{opened}"
    if os.path.isdir(source):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT))
    mount(source, target, MS_BIND | MS_REC)
    os.close(opened)


def mount(source: str, target: str, flags: int, kind: str = "none", options: str = "") -> None:
    """Attach a file system or a folder at `target`, with flags of Linux such as MS_BIND. Raises OSError."""
    words = [os.fsencode(word) for word in (source, target, kind)]
    called(target, libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None))


def mount_temporary(folder: str, size: str, entries: str) -> None:
    """Mount a folder in memory of its own that has room for `size` bytes in as many files."""
    options = f"size={int(size)},nr_inodes={int(entries)},mode=1777"
    mount("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs", options)


def open_report(number: str, stays_open: str) -> None:
    """Move the report pipe from stdin to file descriptor `number`, and make stdin empty.

    `stays_open`: 1 if the descriptor stays open for the command, which then is bubblewrap; else 0.
    """
    os.dup2(0, int(number), inheritable=bool(int(stays_open)))
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def begin(number: str) -> None:
    """Report that the command begins."""
    os.write(int(number), BEGAN)


def open_filter(path: str, number: str) -> None:
    """Open the system call filter under the number from which bubblewrap reads it."""
    opened = os.open(path, os.O_RDONLY)
    os.dup2(opened, int(number))
    os.close(opened)


def become(uid: str, gid: str) -> None:
    """Become another user, without any groups of this one."""
    os.setgroups([])
    os.setresgid(*[int(gid)] * 3)
    os.setresuid(*[int(uid)] * 3)


def end_predecessors() -> None:
    """End what a dead arena may have left running of this user, whom no process alive is to have now.

    Capabilities are given up first: with them this process may be allowed to end those of other users.
    """
    clear_capabilities()
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)  # all that this user may signal, but not this process itself


def drop_capabilities() -> None:
    """Give up all capabilities for good: root then has only the rights of an ordinary user, over its own files."""
    prctl(PR_SET_SECUREBITS, SECUREBITS_NO_ROOT)
    with open("/proc/sys/kernel/cap_last_cap") as last:
        for capability in range(int(last.read()) + 1):
            prctl(PR_CAPBSET_DROP, capability)
    clear_capabilities()


def clear_capabilities() -> None:
    """Give up the capabilities that this process has now."""
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    called("capset", libc.capset(header, nothing))


def die_with(parent: str) -> None:
    """Have the kernel end this process when the thread that started it ends."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it ended before the kernel knew: nobody is left to read a message
        sys.exit(UNABLE)


def limit(*words: str) -> None:
    """Set resource limits, each a number and a value.

    Soft and hard become that value, or the present hard limit where that is lower.
    """
    for which, value in zip(*[map(int, words)] * 2, strict=True):
        hard = resource.getrlimit(which)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (most, most))


def landlock_abi() -> int:
    """Return the ABI version of Landlock in this kernel; 0: none."""
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, 1)))


def landlock(network: str, files: str, *words: str) -> None:
    """Restrict this process to some files, unless `files` is 0, and forbid TCP, unless `network` is 1 (ABI 4).

    Before each file or folder stands what may be done there: `read`, `write`, which includes to read, or `list`, to see
    only names. From ABI 6 on it can neither signal processes that it did not start nor connect to their abstract
    sockets.
    """
    abi = landlock_abi()
    if not abi:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    rights = (1 << RIGHTS[min(abi, 5)]) - 1 if int(files) else 0
    handled = struct.pack("QQQ", rights, 0 if int(network) or abi < 4 else TCP, SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = called("landlock", libc.syscall(CREATE_RULESET, handled, size, 0))
    may = {"read": READ | EXECUTE | READ_DIR, "write": rights & ~EXECUTE, "list": READ_DIR}
    for what, place in zip(*[iter(words)] * 2, strict=True):
        _allow(rules, place, may[what])
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    called("landlock", libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules: int, place: str, allowed: int) -> None:
    try:
        opened = os.open(place, os.O_PATH)
    except (FileNotFoundError, PermissionError):
        return  # skip paths that do not exist or that this user may not open
    if not os.path.isdir(place):
        allowed &= OF_FILES
    called("landlock", libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", allowed, opened), 0))
    os.close(opened)


def seccomp(path: str) -> None:
    """Install the system call filter: from now on the kernel refuses the calls that it names."""
    with open(path, "rb") as file:
        program = file.read()
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(fprog))


ORDERS: Mapping[str, Callable[..., None]] = {
    "report": open_report,
    "umask": set_umask,
    "join": join,
    "expendable": be_expendable,
    "enter": enter,
    "stage": stage,
    "uncover": uncover,
    "temporary": mount_temporary,
    "filter": open_filter,
    "become": become,
    "end_predecessors": end_predecessors,
    "drop_capabilities": drop_capabilities,
    "die_with": die_with,
    "limit": limit,
    "landlock": landlock,
    "seccomp": seccomp,
    "begin": begin,
}
"""What carries out an order, by its name."""


def obey(words: list[str]) -> list[str]:
    """Carry out orders; return the command after them. Gives up if one fails."""
    while words[:1] != ["run"] or len(words) == 1:
        name = words[0] if words else ""
        try:
            end = 2 + int(words[1])
            ORDERS[name](*words[2:end])
        except OSError as error:
            give_up(name, *([error.filename] if error.filename else []), error.strerror or str(error))
        except (LookupError, OverflowError, TypeError, ValueError):
            give_up(name, "makes no sense")
        words = words[end:]
    return words[1:]


def give_up(*why: str) -> NoReturn:
    """End with a line that says which order could not be carried out, and why."""
    say(": ".join(["sandbox", *why]))
    sys.exit(UNABLE)


def say(line: str) -> None:
    """Write a line to stderr, with the bytes of paths as they are."""
    os.write(2, os.fsencode(f"{line}\n"))


def main() -> None:
    """Carry out the orders, then become the command."""
    command = obey(sys.argv[1:])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        say(f"cannot run '{command[0]}': {error.strerror}")
        sys.exit(NO_PROGRAM)


if __name__ == "__main__":
    main()
