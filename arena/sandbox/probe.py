"""Finds out what this machine offers by trying it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from arena.sandbox import cgroups, users
from arena.sandbox.confine import SCOPED, confine, filter_file
from arena.sandbox.grades import Grade, Layer, NoSandbox, Sandbox
from arena.sandbox.launcher import landlock_abi
from arena.sandbox.run_folder import run_folder

_SEES_TRUNCATION = 3
"""ABI of Landlock from which on processes can be kept from emptying files."""
PROBE_PATIENCE = 30.0
"""Seconds after which a trial has failed; any time in which a busy machine starts Python would do."""
_TRIAL = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('arena_bot'))"
"""Program of a trial: it checks that a Python bot finds its SDK."""


def probe(wanted: Grade | None = None) -> Sandbox:
    """Return the best sandbox that works here, or one of the wanted grade, if need be with fewer layers than there are.

    Raises NoSandbox if the grade is not available.
    """
    best, layers = found_here()
    if wanted is None:
        return best._replace(layers=layers)
    if not best.grade.at_least(wanted):
        missing = "; ".join(f"{layer.name}: {layer.why}" for layer in layers if not layer.on)
        raise NoSandbox(f"sandbox grade {wanted} is not to be had here, {best.grade} is; {missing}")
    return _weaker(best, wanted)._replace(layers=layers)


@cache
def found_here() -> tuple[Sandbox, tuple[Layer, ...]]:
    """Return the best sandbox and the state of every layer; they are tried once for each process."""
    groups, no_groups = cgroups.available()
    abi = landlock_abi()
    filtered = filter_file("bot") is not None
    wrapped, no_bwrap = _first_that_works(_wrapped(filtered, abi))
    bare, no_landlock = _without_bubblewrap(abi)
    best = (wrapped or bare or Sandbox())._replace(groups=groups)
    if best.grade is Grade.A and not groups:
        best = best._replace(grade=Grade.B)
    no_user = "" if best.own_user else _why_no_user()
    if best.grade is Grade.C:
        no_user += "; a build may change the modes and times of all files of that user"
    layers = (
        Layer("bubblewrap", wrapped is not None, no_bwrap or "own files, no network, no other processes"),
        Layer("control groups", bool(groups), no_groups or "limits on the memory and the tasks of each bot"),
        _processors(groups),
        Layer(
            "system call filter",
            best.filtered,
            "refuses calls that reach beyond a bot" if best.filtered else "did not work",
        ),
        Layer("landlock", bare is not None, no_landlock or _of_landlock(abi)),
        Layer("own user", best.own_user, _of_users() if best.own_user else no_user),
        _file("fair clock", "/proc/self/schedstat", "bots pay for thinking, not for the machine's load"),
        _file("pressure", "/proc/pressure/cpu", "how busy the machine is; stored with each match"),
    )
    return best, layers


def _processors(groups: Mapping[str, str]) -> Layer:
    held = cgroups.hold_processors(groups)
    missing = "no cpu controller for groups of bots: one may use all processors" if groups else "no control groups"
    return Layer("processor share", held, "a bot has no more than one processor" if held else missing)


def _why_no_user() -> str:
    if os.geteuid() == 0:
        return "bots run as root without its rights"
    shared = "bots share what the kernel counts by user"
    try:
        users.take_user().give_back()
    except users.NoUser as error:
        return f"{shared}: {error}"
    return f"{shared}: with the subordinate ids of this account they cannot reach their programs"


def _of_users() -> str:
    return f"each bot and build has a user id of its own, of {users.in_words(users.ids())}"


def _of_landlock(abi: int) -> str:
    open_ways = "" if abi >= SCOPED else "; signals and abstract sockets are open (closed from Linux 6.12 on)"
    open_ways += "" if abi >= _SEES_TRUNCATION else "; a build could empty files of its user (not from Linux 6.2 on)"
    return f"only a bot's own files, even without bubblewrap; ABI {abi}{open_ways}"


def _file(name: str, path: str, use: str) -> Layer:
    exists = os.path.exists(path)
    return Layer(name, exists, use if exists else f"this kernel has no {path}")


def _weaker(best: Sandbox, wanted: Grade) -> Sandbox:
    """Return the sandbox with only the layers that the wanted grade has."""
    if wanted is best.grade:
        return best
    if wanted is Grade.B:
        return best._replace(grade=Grade.B, groups={})
    if wanted is Grade.C:
        return _without_bubblewrap(landlock_abi())[0] or Sandbox()
    return Sandbox()


def _wrapped(filtered: bool, abi: int) -> list[Sandbox]:
    """Return the sandboxes with bubblewrap to try, the best first."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return []
    best = Sandbox(Grade.A, (), bwrap, staged=True, own_user=True, filtered=filtered, landlock=abi)
    kinds = [best, best._replace(grade=Grade.B, filtered=False)] if filtered else [best._replace(grade=Grade.B)]
    if os.geteuid() == 0:
        return kinds
    return [sandbox for kind in kinds for sandbox in (kind, kind._replace(staged=False, own_user=False))]


@cache
def _without_bubblewrap(abi: int) -> tuple[Sandbox | None, str]:
    """Return the best sandbox of grade C, or the reason why there is none.

    Even root may be unable to mount, or to change its user.
    """
    if not abi or filter_file("bare") is None:
        return _first_that_works([])
    plain = Sandbox(Grade.C, filtered=True, landlock=abi)
    with_user = plain._replace(own_user=True)
    staged = with_user._replace(staged=True)
    return _first_that_works([staged, with_user, plain] if os.geteuid() == 0 else [staged, plain])


def _first_that_works(sandboxes: list[Sandbox]) -> tuple[Sandbox | None, str]:
    """Return the first sandbox that works, or None with the reason why the last one failed."""
    why = "not installed (Debian, Ubuntu: apt install bubblewrap)"
    for sandbox in sandboxes:
        if not (why := _trial(sandbox)):
            return sandbox, ""
    return None, why


def _trial(sandbox: Sandbox) -> str:
    """Run a program in the sandbox; return what went wrong, or an empty string."""
    with run_folder() as scratch:
        root = scratch / "trial"
        root.mkdir(mode=0o700)
        environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
        try:
            confined = confine(
                sandbox, [sys.executable, "-c", _TRIAL], root=root, socket_folder=root, scratch=root, env=environment
            )
            try:
                completion = subprocess.run(
                    confined.argv,
                    env=confined.env,
                    cwd=confined.cwd,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=PROBE_PATIENCE,
                    check=False,
                )
            finally:
                confined.release()
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if completion.returncode == 0:
        return ""
    last = completion.stderr.strip().splitlines()
    return last[-1] if last else f"a trial ended with exit code {completion.returncode}"
