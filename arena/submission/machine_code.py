"""For which machine a program was built, from the first bytes of its file."""

from __future__ import annotations

import platform
import re
import struct
from pathlib import Path

_ELF_MACHINES = {
    0x03: "i686", 0x15: "ppc64le", 0x16: "s390x", 0x28: "arm", 0x3E: "x86_64", 0xB7: "aarch64", 0xF3: "riscv64",
}  # fmt: skip
"""Names of machines as `platform.machine()` gives them, by the number in the header of an ELF file."""
_ELF_HEADER = 20
"""Bytes of an ELF file up to the end of the machine's number."""
_MACH_O = {b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce"}
"""First bytes of a Mach-O file for one machine: of 64 and of 32 bits, in either order of bytes."""
_UNIVERSAL = b"\xca\xfe\xba\xbe"
"""First bytes of a Mach-O file for several machines, and of a Java class: a count below 40 tells the first."""
EMULATORS = Path("/proc/sys/fs/binfmt_misc")
"""Where the kernel lists the programs that run files of other kinds."""
_ALSO_RUN = {("x86_64", "i686"), ("aarch64", "arm")}
"""A machine, and another whose programs it may run as well."""


def built_for(path: Path) -> str | None:
    """Return "built for aarch64, this machine is x86_64" if a program was built for another machine or system.

    None for scripts, for programs of this machine, for what is unknown, and wherever emulators are registered, since
    one of them may run it. Source: the ELF, PE and Mach-O formats.
    """
    if any(emulator.name not in {"register", "status"} for emulator in EMULATORS.glob("*")):
        return None
    with path.open("rb") as file:
        head = file.read(_ELF_HEADER)
    own_machine = re.sub(r"^arm.*", "arm", re.sub(r"^i\d86$", "i686", platform.machine()))
    if head[:2] == b"MZ":
        return "built for Windows, this machine has Linux"
    if head[:4] in _MACH_O or (head[:4] == _UNIVERSAL and int.from_bytes(head[4:8]) < 40):
        return "built for macOS, this machine has Linux"
    if head[:4] != b"\x7fELF" or len(head) < _ELF_HEADER:
        return None
    (number,) = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)
    machine = _ELF_MACHINES.get(number, own_machine)
    return (
        None
        if machine == own_machine or (own_machine, machine) in _ALSO_RUN
        else f"built for {machine}, this machine is {own_machine}"
    )
