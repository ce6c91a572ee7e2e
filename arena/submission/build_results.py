"""Results of builds, kept for the next command that would build the same: `arena submit` after `arena check`.

Each is the folder `KEY/DIGEST` with what a build made. The key covers what was built and with what, and the digest what
came of it. Only the arena writes here, after a build has ended; builds see nothing of it.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from arena.sandbox import Sandbox, places
from arena.sandbox.run_folder import open_up, remove
from arena.submission.manifest import BadSubmission
from arena.submission.program import Program, environment, program_digest
from arena.submission.program_store import appear, make_read_only, tree_digest

LONGEST = 24 * 3600.0
"""Seconds for which a result is used, a day as a page says: what a build fetches from the network changes."""
KEPT_RESULTS = 3
"""Number of results that are kept, the newest, beside those that are in use; about any small number would do."""
IN_USE = 3600.0
"""Seconds from the last use on for which a result stays; any time longer than a check and a submission would do."""
_SYSTEM = (
    "/usr/include",
    "/usr/lib",
    "/usr/local/lib",
    "/var/lib/dpkg/status",
    "/var/lib/rpm",
    "/lib/apk/db/installed",
)
"""Places that change when the system's tools and libraries are installed or brought up to date."""


def key(program: Program, sandbox: Sandbox) -> str:
    """Return the SHA-256 over what a build is made of: the files handed in, the tools, and where they work."""
    content = program_digest((), (), program.root, program.files)
    where = [sandbox.grade, str(sandbox.bwrap is not None), platform.platform(), sys.version, sys.prefix]
    way_out = [f"{name}={value}" for name, value in sorted(places.way_out().items())]
    words = [word for command in program.build for word in (*command, "")]
    return sha256(
        "\0".join([content, *words, *where, *way_out, *_tools()]).encode("utf-8", "surrogateescape")
    ).hexdigest()


def _tools() -> Iterator[str]:
    """Yield the places where builds find tools and libraries, with the time when something was last put there."""
    path = environment()["PATH"].split(os.pathsep)
    for place in (*path, *places.toolchains(), *(f"{toolchain}/bin" for toolchain in places.toolchains()), *_SYSTEM):
        with suppress(OSError):
            yield f"{place} {os.stat(place).st_mtime_ns}"
    for module in places.modules("pip"):
        with suppress(OSError):
            yield f"{module} {os.stat(module).st_mtime_ns}"


def find_result(program: Program, results: Path, name: str) -> Program | None:
    """Return the program as the build that has this key made it; None if that is not there, or not whole."""
    with suppress(OSError, BadSubmission, ValueError):
        (root,) = (results / name).iterdir()
        build_time = (results / name).stat().st_mtime
        if time.time() - build_time < LONGEST and tree_digest(root) == root.name:
            os.utime(results / name, (time.time(), build_time))  # it is in use from now on
            return replace(program, root=root, built=root.name)
    return None


def keep_result(program: Program, results: Path, name: str) -> None:
    """Keep what a build has just made, and none that is too old or too many; a full disk is no error."""

    def fill(folder: Path) -> None:
        assert program.built is not None
        shutil.copytree(program.root, folder / program.built, symlinks=True)
        open_up(folder)
        make_read_only(folder)

    with suppress(OSError):
        remove(results / name)
        appear(results / name, fill)
        by_age = sorted((path for path in results.iterdir() if len(path.name) == len(name)), key=_age)
        for place, path in enumerate(by_age):
            if (place >= KEPT_RESULTS or _age(path) > LONGEST) and time.time() - path.stat().st_atime > IN_USE:
                remove(path)


def _age(result: Path) -> float:
    return time.time() - result.stat().st_mtime
