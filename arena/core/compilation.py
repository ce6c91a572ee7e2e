"""Compile the core where there is a C compiler, and find what was compiled.

What is compiled lies beside the sources, named after them, so that changed sources are compiled anew. A wheel brings it
along. Whoever may not write there, or has no compiler, plays in Python.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

HERE = Path(__file__).parent
"""The folder of the core's sources."""
BUILT = HERE / "built"
"""Where compiled cores lie: one for each kind of Python that was used."""
SWITCH = "ARENA_CORE"
"""The environment variable that switches the core off, if it is 0."""
COMPILER_PATIENCE = 120
"""Seconds that a compiler may take."""
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv")
"""Flags of the compiler. Where they change, a core is compiled anew. `-fwrapv`: whole numbers that get too large begin
again at the other end, which C leaves open."""


class Found(NamedTuple):
    """Whether matches are played by the core, and if not, why."""

    on: bool
    why: str


class CannotCompile(Exception):
    """Error for a core that cannot be compiled; the message says why."""


def sources() -> Sequence[Path]:
    """Return the files that are compiled or included."""
    return sorted([*HERE.glob("*.c"), *HERE.glob("*.h")])


@cache
def target() -> Path:
    """Return where the core for these sources and this Python lies once it is compiled."""
    words = [*_FLAGS, platform.machine()]  # one Python may run on two kinds of processors
    digest = hashlib.sha256(b"".join([*[path.read_bytes() for path in sources()], *map(str.encode, words)]))
    return BUILT / f"_core-{digest.hexdigest()[:16]}{sysconfig.get_config_var('EXT_SUFFIX')}"


@cache
def core() -> ModuleType | None:
    """Return the compiled module; None if it is switched off, was not compiled or cannot be loaded."""
    return _loaded(target()) if find_core().on else None


def find_core() -> Found:
    """Say whether there is a core that can be used."""
    if os.environ.get(SWITCH) == "0":
        return Found(False, f"{SWITCH}=0 switches it off")
    if os.path.exists(target()):  # unlike Path.exists, it says no where this user may not look
        try:
            _loaded(target())
        except ImportError as error:
            return Found(False, f"cannot be loaded: {error}")
        return Found(True, "matches of the arena's own games are played by compiled rules")
    if os.path.exists(_failed()):
        return Found(False, f"could not be compiled: see {_failed()}, and remove it to try again")
    return Found(False, _missing() or "is compiled by the first command that plays")


def prepare_core(announce: Callable[[str], None]) -> None:
    """Compile the core, unless that was done or tried before or cannot be done; one line says so. Never raises."""
    if os.environ.get(SWITCH) == "0" or find_core().on or os.path.exists(_failed()) or _missing():
        return
    announce("arena: compiling the core (once) …")
    try:
        compile_to(target())
        if not find_core().on:
            raise CannotCompile(f"what the compiler made {find_core().why}")
    except (CannotCompile, OSError) as error:
        announce(f"arena: the core cannot be compiled and matches are played without it: {str(error).splitlines()[0]}")
        _note(str(error))
    core.cache_clear()


def compile_to(path: Path, flags: Sequence[str] = ()) -> None:
    """Compile the core to a file, which appears when it is complete. Raises CannotCompile and OSError.

    Everybody may read the file, whoever made it with whatever umask.
    """
    path.parent.mkdir(exist_ok=True)
    with suppress(PermissionError):  # the folder is somebody else's, who has seen to it
        path.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        output = Path(folder, path.name)
        include = f"-I{sysconfig.get_path('include')}"
        files = [str(source) for source in sources() if source.suffix == ".c"]
        _run([*_linker(), *_FLAGS, *flags, include, *files, "-o", str(output), "-lm"])
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


def _linker() -> list[str]:
    """Return the command that links modules for this Python, with the compiler that is here."""
    words = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")
    return [*_compiler(), *words[1:]]


def _compiler() -> list[str]:
    """Return the command of the compiler, which may have options of its own."""
    return shlex.split(os.environ.get("CC") or "cc")


def _missing() -> str:
    """Say what is missing to compile it here; nothing if all is there."""
    if shutil.which(_compiler()[0]) is None:
        return "no C compiler (cc) is found"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are not found (Debian, Ubuntu: apt install python3-dev)"
    if not os.access(BUILT if BUILT.exists() else HERE, os.W_OK):
        return f"{HERE} belongs to somebody else"
    return ""


def _failed() -> Path:
    return target().with_suffix(".failed")


def _note(why: str) -> None:
    with suppress(OSError):
        _failed().write_text(why + "\n")


@cache
def _loaded(path: Path) -> ModuleType:
    loader = ExtensionFileLoader("arena.core._core", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None, "a loader that is given makes a spec"
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
