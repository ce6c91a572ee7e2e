"""The first thing in every bot's process: binds itself by its orders, then becomes the bot or the bubblewrap around it.

A program of its own, `python -I -S launcher.py ORDERS COMMAND…`: it runs in a process that is to hold nothing of the
arena, and no code can be run safely between fork and exec of one with gRPC's threads in it. Needs only the standard
library. What it cannot do it says on stderr and ends with UNABLE: nothing is ever started less bound than was ordered.

Its input is one end of a pipe, which the bot never has: there it reports to the arena that the command has begun, or
leaves that to bubblewrap.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Sequence
from typing import Any

UNABLE = 97
"""Exit code if an order could not be carried out: the arena's fault."""
BEGAN = b'"exit-code"'
"""What a report has of a command that has begun, in the words of bubblewrap, which says so at its end."""
NO_PROGRAM = 127
"""Exit code if the command cannot be run: the bot's."""

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 24, 28, 22, 38
CLONE_NEWNS, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 2, 4, 0x1000, 0x4000, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, NOATIME, ALL_OF_ATIME = 442, -100, 0x8000, 0x10, 0x70
SECUREBITS_NO_ROOT = 0b101111
"""Running a program as root gives no capabilities back, and that is locked."""
SECCOMP_MODE_FILTER = 2
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Landlock's system calls, the same on every architecture."""
READ, EXECUTE, READ_DIR = 1 << 2, 1 << 0, 1 << 3
RIGHTS = (0, 13, 14, 15, 15, 16)
"""How many rights over files Landlock knows, by ABI."""
OF_FILES = 0b11 | READ | 1 << 14 | 1 << 15
"""Rights that a rule on a file, not a folder, may give: execute, write, read, truncate, ioctl."""
TCP, SCOPES = 0b11, 0b11
"""Bind and connect (ABI 4); abstract sockets and signals (ABI 6)."""

libc = ctypes.CDLL(None, use_errno=True)


def called(what: str, result: int) -> int:
    """The result of a system call. Raises OSError if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int, pointer: Any = 0) -> None:
    """Raises OSError."""
    called(f"prctl {option}", libc.prctl(option, ctypes.c_ulong(value), pointer, 0, 0))


def join(groups: list[str]) -> None:
    """Go into control groups; 0 is this process."""
    for group in groups:
        with open(group, "w") as processes:
            processes.write("0")


def stage(places: list[str], folder: str) -> None:
    """Show places under the numbers 0, 1, … in a folder, where another user gets at them whatever lies above them."""
    own_mounts()
    opened = [os.open(place, os.O_PATH) for place in places]  # now: those of before belong to the others' mounts
    mount("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs")
    for number, place in enumerate(opened):
        show(place, f"{folder}/{number}")


def uncover(places: list[str], uid: int, gid: int) -> None:
    """Show places where they are to another user: what keeps it out is covered by a folder with them.

    That a file was read is noted no more: whoever comes later could find it.
    """
    own_mounts()
    keep_no_access_times()
    shut = {place: folder for place in places if (folder := shut_by(place, uid, gid))}
    for place in [place for place in shut if any(place.startswith(f"{other}/") for other in shut)]:
        del shut[place]  # it is shown with what it lies in
    opened = {place: os.open(place, os.O_PATH) for place in shut}
    for folder in set(shut.values()):
        mount("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs")
        os.chmod(folder, 0o755)
    for place, source in opened.items():
        os.makedirs(os.path.dirname(place), exist_ok=True)
        show(source, place)
    os.chdir(os.getcwd())  # there by way of the new mounts


def shut_by(place: str, uid: int, gid: int) -> str | None:
    """The outermost folder above a place through which a user may not go; None if there is none."""
    for folder in (place[:end] for end in range(1, len(place)) if place[end] == "/"):
        status = os.stat(folder)
        right = 0o100 if status.st_uid == uid else 0o010 if status.st_gid == gid else 0o001
        if not status.st_mode & right:
            return folder
    return None


def own_mounts() -> None:
    """From now on what is mounted is seen by this process and its children only. Raises OSError."""
    called("unshare", libc.unshare(CLONE_NEWNS))
    mount("none", "/", MS_REC | MS_PRIVATE)


def keep_no_access_times() -> None:
    """Have no mount note when a file was read, where the kernel can do that for all of them at once (5.12)."""
    wanted = struct.pack("QQQQ", NOATIME, ALL_OF_ATIME, 0, 0)
    libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, wanted, len(wanted))


def show(opened: int, target: str) -> None:
    """Show what is opened at a place where nothing is yet, and close it. Raises OSError."""
    source = f"/proc/self/fd/{opened}"
    if os.path.isdir(source):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT))
    mount(source, target, MS_BIND | MS_REC)
    os.close(opened)


def mount(source: str, target: str, flags: int, kind: str = "none") -> None:
    """Raises OSError."""
    called(f"mount {target}", libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None))


def open_report(number: int, *, kept: bool) -> None:
    """Have the report under a number, `kept` open for bubblewrap, and nothing for input."""
    os.dup2(0, number, inheritable=kept)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def open_filter(path: str, number: int) -> None:
    """Open the filter that bubblewrap is to read, under a number."""
    opened = os.open(path, os.O_RDONLY)
    os.dup2(opened, number)
    os.close(opened)


def become(uid: int, gid: int) -> None:
    """Another user, with nothing of this one."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def drop_capabilities() -> None:
    """Be a root that may do nothing that others may not."""
    prctl(PR_SET_SECUREBITS, SECUREBITS_NO_ROOT)
    with open("/proc/sys/kernel/cap_last_cap") as last:
        for capability in range(int(last.read()) + 1):
            prctl(PR_CAPBSET_DROP, capability)
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    called("capset", libc.capset(header, nothing))


def die_with(parent: int) -> None:
    """Have the kernel end this process when the thread that started it ends."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(UNABLE)


def limit(limits: dict[str, int]) -> None:
    """Set resource limits, soft and hard; one that is lower already stays."""
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(which)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (most, most))


def landlock_abi() -> int:
    """The version of Landlock that the kernel has; 0: none."""
    return max(0, int(libc.syscall(CREATE_RULESET, None, 0, 1)))


def landlock(
    read: Sequence[str], write: Sequence[str], *, listed: Sequence[str] = (), network: bool, files: bool = True
) -> None:
    """Allow these files only (all without `files`), TCP with `network` only, no signals or abstract sockets outside.

    Of what is in the folders `listed` only names are read.
    """
    abi = landlock_abi()
    if not abi:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    rights = (1 << RIGHTS[min(abi, 5)]) - 1 if files else 0
    handled = struct.pack("QQQ", rights, 0 if network or abi < 4 else TCP, SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    rules = called("landlock", libc.syscall(CREATE_RULESET, handled, size, 0))
    for places, allowed in ((read, READ | EXECUTE | READ_DIR), (write, rights & ~EXECUTE), (listed, READ_DIR)):
        for place in places:
            _allow(rules, place, allowed)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    called("landlock", libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules: int, place: str, allowed: int) -> None:
    try:
        opened = os.open(place, os.O_PATH)
    except (FileNotFoundError, PermissionError):
        return  # what is not there, or not for this user, is not to be seen
    if not os.path.isdir(place):
        allowed &= OF_FILES
    called("landlock", libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", allowed, opened), 0))
    os.close(opened)


def seccomp(path: str) -> None:
    """Refuse system calls from now on."""
    with open(path, "rb") as file:
        program = file.read()
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(fprog))


def obey(orders: dict[str, Any]) -> None:
    """Everything in the order in which it can be done."""
    os.umask(0o022)  # what one user makes, others are to read: builders and bots have each their own
    join(orders["groups"])
    with open("/proc/self/oom_score_adj", "w") as adjustment:
        adjustment.write("1000")
    if orders["stage"]:
        stage(orders["stage"], orders["stage_folder"])
    if orders["uncover"]:
        uncover(orders["uncover"], orders["uid"], orders["gid"])
    if orders["filter"] is not None:
        open_filter(orders["filter"], orders["filter_number"])
    if orders["uid"] is not None:
        become(orders["uid"], orders["gid"])
    elif os.geteuid() == 0 and orders["drop"]:
        drop_capabilities()
    die_with(orders["parent"])
    limit(orders["limits"])
    if orders["landlock"] is not None:
        landlock(**orders["landlock"])
    if orders["seccomp"] is not None:
        seccomp(orders["seccomp"])


def main() -> None:
    """Obey, then become the command."""
    orders, command = json.loads(sys.argv[1]), sys.argv[2:]
    open_report(orders["report_number"], kept=orders["wrapped"])
    try:
        obey(orders)
        if not orders["wrapped"]:
            os.write(orders["report_number"], BEGAN)
    except OSError as error:
        sys.stderr.write(f"sandbox: {error}\n")
        sys.exit(UNABLE)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]!r}: {error.strerror}\n")
        sys.exit(NO_PROGRAM)


if __name__ == "__main__":
    main()
