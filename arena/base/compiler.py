"""Have a C compiler make something once, where there is one, and find what it made.

What is compiled lies beside its sources in a folder `built`, named after them, so that changed sources are compiled
anew. A wheel brings it along. Whoever may not write there, or has no compiler, does without: nothing needs it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SWITCH = "ARENA_CORE"
"""The environment variable that does without all that is compiled, if it is 0."""
COMPILER_PATIENCE = 120
"""Seconds that a compiler may take."""


class CannotCompile(Exception):
    """Error for what cannot be compiled; the message says why."""


class Product(NamedTuple):
    """Something that can be compiled."""

    name: str
    """What lines about it call it."""
    file: Path
    """Where it lies once it is compiled."""
    command: Sequence[str]
    """What compiles it, to be told which file to make."""
    lacking: str
    """What is missing to compile it here; empty if all is there."""
    trial: Callable[[Path], str]
    """Says why a file that was made cannot be used; nothing if it can."""
    use: str
    """What it is for."""
    without: str
    """How things are done without it."""


class Found(NamedTuple):
    """Whether something compiled is used, and if not, why."""

    on: bool
    why: str


def is_switched_off() -> bool:
    """Whether somebody wants to do without all that is compiled."""
    return os.environ.get(SWITCH) == "0"


def compiler() -> list[str]:
    """Return the command of the compiler, which may have options of its own."""
    return shlex.split(os.environ.get("CC") or "cc")


def missing(built: Path) -> str:
    """Say what is missing to compile something into a folder; nothing if all is there."""
    if shutil.which(compiler()[0]) is None:
        return "no C compiler (cc) is found"
    if not os.access(built if built.exists() else built.parent, os.W_OK):
        return f"{built.parent} belongs to somebody else"
    return ""


def named_after(sources: Sequence[Path], flags: Sequence[str]) -> str:
    """Return a name that other sources, other flags and other processors do not have."""
    words = [*flags, platform.machine()]  # one folder may be used by two kinds of processors
    return hashlib.sha256(b"".join([*[path.read_bytes() for path in sources], *map(str.encode, words)])).hexdigest()[
        :16
    ]


def failed(product: Product) -> Path:
    """Return the file that says why something could not be compiled; where it exists, that is not tried again."""
    return product.file.with_suffix(".failed")


def find(product: Product) -> Found:
    """Say whether something was compiled that can be used."""
    if is_switched_off():
        return Found(False, f"{SWITCH}=0 switches it off")
    if os.path.exists(product.file):  # unlike Path.exists, it says no where this user may not look
        why = product.trial(product.file)
        return Found(False, why) if why else Found(True, product.use)
    if os.path.exists(note := failed(product)):
        return Found(False, f"could not be compiled: see {note}, and remove it to try again")
    return Found(False, product.lacking or "is compiled by the first command that plays")


def prepare(product: Product, announce: Callable[[str], None]) -> None:
    """Compile it, unless that was done or tried before or cannot be done; one line says so. Never raises."""
    if is_switched_off() or find(product).on or os.path.exists(failed(product)) or product.lacking:
        return
    announce(f"arena: compiling the {product.name} (once) …")
    try:
        compile_to(product.file, product.command)
        if not (found := find(product)).on:
            raise CannotCompile(f"what the compiler made {found.why}")
    except (CannotCompile, OSError) as error:
        announce(f"arena: the {product.name} cannot be compiled and {product.without}: {str(error).splitlines()[0]}")
        with suppress(OSError):
            failed(product).write_text(f"{error}\n")


def compile_to(path: Path, command: Sequence[str]) -> None:
    """Run a compiler that makes a file, which appears when it is complete. Raises CannotCompile and OSError.

    Everybody may read the file, whoever made it with whatever umask.
    """
    path.parent.mkdir(exist_ok=True)
    with suppress(PermissionError):  # the folder is somebody else's, who has seen to it
        path.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        output = Path(folder, path.name)
        _run([*command, "-o", str(output)])
        output.chmod(0o755)
        os.replace(output, path)


def _run(command: Sequence[str]) -> None:
    """Run a compiler, and end all that it started if it takes too long. Raises CannotCompile and OSError."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        _, complaint = process.communicate(timeout=COMPILER_PATIENCE)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise CannotCompile(f"the compiler took longer than {COMPILER_PATIENCE} s") from None
        raise
    if process.returncode:
        raise CannotCompile(complaint.strip() or f"the compiler ended with {process.returncode}")
