"""What bots and builds may not ask of the kernel. scripts/generate-filters makes the filters from it.

The filters in `filters/` are kept as the kernel takes them, so that the arena needs no library to start a bot: only
their making imports this module. Everything is allowed but what is named here; what is refused looks like a kernel that
does not have it, or a user who may not.
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pyseccomp import ALLOW, EQ, ERRNO, GE, MASKED_EQ, NE, Arch, Arg, SyscallFilter

ARCHITECTURES = {"x86_64": Arch.X86_64, "aarch64": Arch.AARCH64}
"""Processors for which filters are made, by the names that the kernel gives them."""
KINDS = ("bot", "bare", "build")
"""For a bot inside bubblewrap, for one without it, for the building of one."""

NEVER = (
    "add_key",
    "keyctl",
    "request_key",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "perf_event_open",
    "bpf",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "mount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "unshare",
    "setns",
    "chroot",
    "swapon",
    "swapoff",
    "reboot",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "clock_settime",
    "clock_adjtime",
    "settimeofday",
    "adjtimex",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "setpriority",
    "ioprio_set",
    "name_to_handle_at",
    "open_by_handle_at",
    "fanotify_init",
    "quotactl",
    "acct",
    "syslog",
    "io_setup",
    "seccomp",
)
"""Things that reach beyond namespaces, and what would change how the clock sees a thread.

The last two take what the machine has once for all: events of asynchronous I/O, room for compiled filters.
"""
OTHERS_WAIT = ("sync", "syncfs")
"""Calls that write out what everybody has written, which the arena's own writing then waits for."""
SECCOMP = 22
"""PR_SET_SECCOMP, the other way to install a filter."""
FILTERS = (26, 50, 51, 52)
"""SO_ATTACH_FILTER and the like: filters of sockets, compiled into the same room."""
HUGE_PAGES = 0x40000
"""MAP_HUGETLB: huge pages belong to the machine, and no control group counts them by default."""
UNCOUNTED = ("memfd_create", "memfd_secret", "shmget", "semget", "msgget", "mq_open")
"""Memory that belongs to no process, and what two bots could share where they have no namespace of their own."""
WATCHES = ("inotify_init", "inotify_init1", "inotify_add_watch", "mincore", "sysinfo", "readahead")
"""Calls by which a bot sees what others do with files that both may read, or how much memory they use."""
READ_IF_CACHED = 0x8
"""RWF_NOWAIT of preadv2: tells whether somebody has read this part of a file lately."""
FORGET_CACHED = 4
"""POSIX_FADV_DONTNEED, the other half of it."""
PAGE_OUT = (20, 21)
"""MADV_COLD and MADV_PAGEOUT, the same for memory that is mapped from a file."""
METADATA = (
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "utime",
    "utimes",
    "futimesat",
    "utimensat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
)
"""Without bubblewrap: Landlock does not cover them, and a file's owner may always do them."""
ATTRIBUTES = (0x40086602, 0x40046602, 0x401C5820)
"""FS_IOC_SETFLAGS, the same of 32 bits, and FS_IOC_FSSETXATTR, which change a file's metadata by ioctl."""
NEW_NEVER = {"open_tree_attr": 467}
"""More of `NEVER`: calls by number, the same on every architecture, since libraries do not have all names yet."""
NEW_WATCHES = {"process_madvise": 440, "cachestat": 451}
"""More of `WATCHES`, by number."""
NEW_METADATA = {"fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
"""More of `METADATA`, by number."""
ADDRESSED = ("bind", "listen")
"""Without bubblewrap abstract names are the whole machine's: who finds one taken has been told something."""
OF_SOCKETS, CREDENTIALS = 1, (16, 76, 83)
"""SOL_SOCKET with SO_PASSCRED, SO_PASSPIDFD and SO_PASSRIGHTS: a socket that has one of them and dials takes a name."""
EMPTYING, ACCESS_MODE = 0o1000, 0o3
"""O_TRUNC, which empties a file that is opened for reading, too: Landlock sees that from Linux 6.2 on."""
OF_OTHERS = ("prlimit64", "sched_setaffinity")
"""Without bubblewrap other processes have the same user, who may limit them; 0 is the process itself."""
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""CLONE_NEW…"""
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
"""Families of sockets. What netlink and TCP keep in their buffers is no bot's memory to control groups, and what bots
are asked comes by Unix sockets."""
LOCKS = (6, 7, 37, 38, 1024, 1026)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY: two bots can signal by a lock on a file that
both may read."""
INT = 0xFFFFFFFF
"""As much of an argument as the kernel looks at."""
TERMINALS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""


def filter_bytes(kind: str, architecture: str) -> bytes:
    """Return one filter, as the kernel takes it; system calls of another architecture kill."""
    rules = SyscallFilter(ALLOW)
    if architecture != platform.machine():
        rules.add_arch(ARCHITECTURES[architecture])
        rules.remove_arch(Arch.NATIVE)
    for name in NEVER:
        rules.add_rule(ERRNO(errno.EPERM), name)
    rules.add_rule(ERRNO(errno.ENOSYS), "clone3")  # its flags cannot be seen; libraries fall back to clone
    for flag in NAMESPACES:
        rules.add_rule(ERRNO(errno.EPERM), "clone", Arg(0, MASKED_EQ, flag, flag))
    for request in TERMINALS:
        rules.add_rule(ERRNO(errno.EPERM), "ioctl", Arg(1, MASKED_EQ, INT, request))
    for option in FILTERS:
        rules.add_rule(ERRNO(errno.EPERM), "setsockopt", *_option(option))
    rules.add_rule(ERRNO(errno.EPERM), "prctl", Arg(0, MASKED_EQ, INT, SECCOMP))
    rules.add_rule(ERRNO(errno.ENOMEM), "mmap", Arg(3, MASKED_EQ, HUGE_PAGES, HUGE_PAGES))
    families = {UNIX, INET, INET6, NETLINK} if kind == "build" else {UNIX}
    for call in ("socket", "socketpair"):
        rules.add_rule(ERRNO(errno.EAFNOSUPPORT), call, Arg(0, GE, max(families) + 1))
        for family in set(range(max(families))) - families:
            rules.add_rule(ERRNO(errno.EAFNOSUPPORT), call, Arg(0, EQ, family))
    if kind != "build":
        for name in (*WATCHES, *OTHERS_WAIT):
            rules.add_rule(ERRNO(errno.EPERM), name)
        rules.add_rule(ERRNO(errno.EOPNOTSUPP), "preadv2", Arg(5, MASKED_EQ, READ_IF_CACHED, READ_IF_CACHED))
        rules.add_rule(ERRNO(errno.EPERM), "fadvise64", Arg(3, MASKED_EQ, INT, FORGET_CACHED))
        for advice in PAGE_OUT:
            rules.add_rule(ERRNO(errno.EPERM), "madvise", Arg(2, MASKED_EQ, INT, advice))
        for name in UNCOUNTED:
            rules.add_rule(ERRNO(errno.EPERM), name)
        rules.add_rule(ERRNO(errno.ENOLCK), "flock")
        for command in LOCKS:
            rules.add_rule(ERRNO(errno.ENOLCK), "fcntl", Arg(1, MASKED_EQ, INT, command))
    if kind != "bot":
        for name in OF_OTHERS:
            rules.add_rule(ERRNO(errno.EPERM), name, Arg(0, NE, 0))
    if kind == "bare":
        for name in (*METADATA, *ADDRESSED):
            rules.add_rule(ERRNO(errno.EPERM), name)
        for request in ATTRIBUTES:
            rules.add_rule(ERRNO(errno.EPERM), "ioctl", Arg(1, MASKED_EQ, INT, request))
        for option in CREDENTIALS:
            rules.add_rule(ERRNO(errno.EPERM), "setsockopt", *_option(option))
        rules.add_rule(ERRNO(errno.EPERM), "truncate")
        rules.add_rule(ERRNO(errno.ENOSYS), "openat2")  # its flags cannot be seen
        for call, place in (("open", 1), ("openat", 2)):
            rules.add_rule(ERRNO(errno.EPERM), call, Arg(place, MASKED_EQ, EMPTYING | ACCESS_MODE, EMPTYING))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return refused(_numbers(kind)) + file.read()


def _option(option: int) -> tuple[Arg, Arg]:
    """Return the arguments of setsockopt for an option of all sockets."""
    return Arg(1, MASKED_EQ, INT, OF_SOCKETS), Arg(2, MASKED_EQ, INT, option)


def _numbers(kind: str) -> list[int]:
    """Return the calls that are refused by number."""
    of_bots = NEW_WATCHES if kind != "build" else {}
    without_bubblewrap = NEW_METADATA if kind == "bare" else {}
    return [*NEW_NEVER.values(), *of_bots.values(), *without_bubblewrap.values()]


def refused(numbers: Sequence[int]) -> bytes:
    """Instructions that answer EPERM to these calls and let whatever follows judge the others.

    The number of the call is loaded and compared with each; one that is equal jumps to the last instruction.
    """
    load, equal, jump, answer = 0x20, 0x15, 0x05, 0x06
    code = [(load, 0, 0, 0)]
    code += [(equal, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    code += [(jump, 0, 0, 1), (answer, 0, 0, ERRNO(errno.EPERM))]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def main() -> None:
    """Write them all."""
    for architecture in ARCHITECTURES:
        for kind in KINDS:
            Path(sys.argv[1], f"{kind}-{architecture}.bpf").write_bytes(filter_bytes(kind, architecture))


if __name__ == "__main__":
    main()
