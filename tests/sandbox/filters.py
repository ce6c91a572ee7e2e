"""What the system call filters in arena/sandbox/filters/ say, and their making: scripts/generate-filters.

The filters are kept as the kernel takes them, so that the arena needs no library to start a bot. Everything is allowed
but what is named here; what is refused looks like a kernel that does not have it, or a user who may not.
"""

from __future__ import annotations

import errno
import platform
import sys
import tempfile
from pathlib import Path

from pyseccomp import ALLOW, EQ, ERRNO, GE, MASKED_EQ, Arch, Arg, SyscallFilter

ARCHITECTURES = {"x86_64": Arch.X86_64, "aarch64": Arch.AARCH64}
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
)
"""Things that reach beyond namespaces, and what would change how the clock sees a thread."""
UNCOUNTED = ("memfd_create", "memfd_secret", "shmget", "semget", "msgget", "mq_open")
"""Memory that belongs to no process, and what two bots could share where they have no namespace of their own."""
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""CLONE_NEW…"""
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
LOCKS = (6, 7, 37, 38, 1024, 1026)
"""F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY: two bots can signal by a lock on a file that
both may read."""
TERMINALS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""


def made(kind: str, architecture: str) -> bytes:
    """One filter, as the kernel takes it; system calls of another architecture kill."""
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
        rules.add_rule(ERRNO(errno.EPERM), "ioctl", Arg(1, MASKED_EQ, 0xFFFFFFFF, request))
    families = {UNIX} if kind == "bare" else {UNIX, INET, INET6, NETLINK}
    for call in ("socket", "socketpair"):
        rules.add_rule(ERRNO(errno.EAFNOSUPPORT), call, Arg(0, GE, max(families) + 1))
        for family in set(range(max(families))) - families:
            rules.add_rule(ERRNO(errno.EAFNOSUPPORT), call, Arg(0, EQ, family))
    if kind != "build":
        for name in UNCOUNTED:
            rules.add_rule(ERRNO(errno.EPERM), name)
        rules.add_rule(ERRNO(errno.ENOLCK), "flock")
        for command in LOCKS:
            rules.add_rule(ERRNO(errno.ENOLCK), "fcntl", Arg(1, EQ, command))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def main() -> None:
    """Write them all."""
    for architecture in ARCHITECTURES:
        for kind in KINDS:
            Path(sys.argv[1], f"{kind}-{architecture}.bpf").write_bytes(made(kind, architecture))


if __name__ == "__main__":
    main()
