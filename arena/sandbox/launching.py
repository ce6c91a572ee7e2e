"""Which launcher starts bots and builds: the compiled one, or Python's where there is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from arena.base import compiler
from arena.base.compiler import Found, Product
from arena.sandbox.launcher import UNABLE

PYTHONS = Path(__file__).with_name("launcher.py")
"""The launcher in Python: the reference."""
SOURCE = Path(__file__).with_name("launcher.c")
"""The same in C."""
BUILT = SOURCE.with_name("built")
"""Where compiled launchers lie."""
FLAGS = ("-std=c11", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wall", "-Wextra")
"""Flags of the compiler. Where they change, a launcher is compiled anew."""
_PATIENCE = 10.0
"""Seconds after which a compiled launcher is not used; any time would do in which a busy machine starts a program."""


def launcher() -> tuple[str, ...]:
    """Return the start of a command that launches another: orders follow, then "run" and the other command."""
    if not compiler.is_switched_off() and _is_compiled():
        return (str(target()),)
    return (sys.executable, "-I", "-S", str(PYTHONS))


def find_launcher() -> Found:
    """Say whether there is a compiled launcher that can be used."""
    return compiler.find(_product())


def prepare_launcher(announce: Callable[[str], None]) -> None:
    """Compile the launcher, unless that was done or tried before or cannot be done; one line says so. Never raises."""
    compiler.prepare(_product(), announce)
    _is_compiled.cache_clear()


@cache
def target() -> Path:
    """Return where the launcher for this source lies once it is compiled."""
    return BUILT / f"launcher-{compiler.named_after([SOURCE], FLAGS)}"


@cache
def _is_compiled() -> bool:
    return find_launcher().on


def _product() -> Product:
    command = [*compiler.compiler(), *FLAGS, str(SOURCE)]
    use, without = "bots are started by a compiled program", "bots are started by Python"
    return Product("launcher", target(), command, compiler.missing(BUILT), _trial, use, without)


def _trial(program: Path) -> str:
    """Start it without orders, which it must refuse: it may lie where nothing can be run, or be for other machines."""
    try:
        ran = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run: {error}"
    return "" if ran.returncode == UNABLE else f"cannot be run: it ended with {ran.returncode}"
