"""Compile the core where there is a C compiler, and find what was compiled.

What is compiled lies beside the sources, one for each kind of Python that was used. Where it cannot be compiled,
matches are played in Python.
"""

from __future__ import annotations

import shlex
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from arena.base import compiler
from arena.base.compiler import Found, Product

HERE = Path(__file__).parent
"""The folder of the core's sources."""
BUILT = HERE / "built"
"""Where compiled cores lie: one for each kind of Python that was used."""
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-fwrapv")
"""Flags of the compiler. Where they change, a core is compiled anew. `-fwrapv`: whole numbers that get too large begin
again at the other end, which C leaves open."""


def sources() -> Sequence[Path]:
    """Return the files that are compiled or included."""
    return sorted([*HERE.glob("*.c"), *HERE.glob("*.h")])


@cache
def target() -> Path:
    """Return where the core for these sources and this Python lies once it is compiled."""
    return BUILT / f"_core-{compiler.named_after(sources(), _FLAGS)}{sysconfig.get_config_var('EXT_SUFFIX')}"


@cache
def core() -> ModuleType | None:
    """Return the compiled module; None if it is switched off, was not compiled or cannot be loaded."""
    return _loaded(target()) if find_core().on else None


def find_core() -> Found:
    """Say whether there is a core that can be used."""
    return compiler.find(_product())


def prepare_core(announce: Callable[[str], None]) -> None:
    """Compile the core, unless that was done or tried before or cannot be done; one line says so. Never raises."""
    compiler.prepare(_product(), announce)
    core.cache_clear()


def _product() -> Product:
    use, without = "matches of the arena's own games are played by compiled rules", "matches are played without it"
    return Product("core", target(), compiling(), _missing(), _trial, use, without)


def _trial(path: Path) -> str:
    try:
        _loaded(path)
    except ImportError as error:
        return f"cannot be loaded: {error}"
    return ""


def compiling(flags: Sequence[str] = ()) -> list[str]:
    """Return the command that compiles the core, with the compiler that is here, to be told which file to make."""
    linking = shlex.split(sysconfig.get_config_var("LDSHARED") or "cc -shared")[1:]
    files = [str(source) for source in sources() if source.suffix == ".c"]
    return [*compiler.compiler(), *linking, *_FLAGS, *flags, f"-I{sysconfig.get_path('include')}", *files, "-lm"]


def _missing() -> str:
    """Say what is missing to compile it here; nothing if all is there."""
    if not (why := compiler.missing(BUILT)) and not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers are not found (Debian, Ubuntu: apt install python3-dev)"
    return why


@cache
def _loaded(path: Path) -> ModuleType:
    loader = ExtensionFileLoader("arena.core._core", str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None, "a loader that is given makes a spec"
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
