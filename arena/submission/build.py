"""Builds a program from its source with the commands of its manifest, and keeps the result."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from arena.base.suggest import short
from arena.sandbox import Confined, Grade, Sandbox, confine_build, places, users
from arena.sandbox.process import adopt_orphans, end_orphans, ended_in_words
from arena.sandbox.run_folder import let_read, open_up, remove
from arena.sandbox.users import User
from arena.submission import tools
from arena.submission.build_limits import LOOK, BuildLimits, Running
from arena.submission.caches import lent
from arena.submission.manifest import BadSubmission
from arena.submission.program import Program, command, environment, walk
from arena.submission.program_store import tree_digest

_LAST_LINES = 10
"""Lines at the end of a log that are shown when a build fails; any number that fits on a screen would do."""
LOOKED_AT = 100
"""Lines at the end of a log in which tools are looked for that a command missed.

About any number would do: the line that names a tool is mostly among the last.
"""
_LAST_BYTES = 16384
"""Bytes at the end of a log in which these lines are looked for: `LOOKED_AT` lines of usual length."""
SHOWN_LINES = 2.0
"""Seconds after which people are shown what a command is doing; a page says so."""
_COMMAND, _LINE = 20, 80
"""Characters shown of a running command, and of the latest line of its output; any that fit on a line would do."""
_GLANCE = 0.05
"""Seconds between two checks of a running command: longer ones would make people wait, shorter ones cost."""


def _nothing(_what: str) -> None:
    """Ignore the progress, for builds that nobody watches."""


class Building(NamedTuple):
    """Callbacks that tell people about a build."""

    say: Callable[[str], None]
    """Called with each command when it begins and, for one that fails, with the last lines that it printed."""
    show: Callable[[str], None] = _nothing
    """Called repeatedly with what a long-running command is doing."""


class BuildFailed(BadSubmission):
    """Error for a failed build; the message says which command failed, how, and where the log is."""


def build(program: Program, log: Path, sandbox: Sandbox, building: Building, cache: Path | None = None) -> Program:
    """Run a program's build, if it has one, in its folder; return the program with the digest of the result.

    The output of the commands is written to the file `log`. What they leave in their home is kept in the folder `cache`
    for the next build that gets the same folder. Raises BuildFailed.
    """
    if not program.build:
        return program
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_writable(program.root)
    with (
        log.open("wb") as notes,
        _nothing_left_by_ctrl_c(log),
        _own_folder(program.root, sandbox, cache) as (build_folder, user),
    ):
        limits = BuildLimits((program.root, build_folder), notes)
        place = _Place(program.root, build_folder, sandbox, user, notes, limits)
        for words in program.build:
            if lacking := _lacking(words, sandbox):
                raise BuildFailed(f"{program.name} is not built: {lacking}")
            building.say(f"building {program.name}: {shlex.join(words)}")
            notes.write(f"$ {shlex.join(words)}\n".encode())
            notes.flush()
            show = _Showing(building.show, f"building {program.name}: {_cut(shlex.join(words), _COMMAND)}", log)
            if problem := _problem(words, place, show):
                for line in _last_lines(log):
                    building.say(f"  | {line}")
                what = f"{short(shlex.join(words))} {problem}{_missed(log)}"
                raise BuildFailed(f"{program.name} is not built: {what}; what was printed is in {str(log)!r}")
        let_read(program.root)  # bots may run as another user than builds
        return replace(program, built=tree_digest(program.root))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


class _Showing:
    """Shows people from time to time how long a command has run and, if it prints anything, its latest line."""

    def __init__(self, show: Callable[[str], None], what: str, log: Path) -> None:
        self._show = show
        self._what = what
        self._log = log
        self._before = log.stat().st_size
        self._begun = time.monotonic()
        self._next = self._begun + SHOWN_LINES

    def __call__(self) -> None:
        """Show it if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LOOK
            self._show(f"{self._what}, {now - self._begun:.0f} s{self._latest()}")

    def _latest(self) -> str:
        if self._log.stat().st_size == self._before:
            return ""
        latest = next((line.strip() for line in reversed(_last_lines(self._log)) if line.strip()), "")
        return f": {_cut(latest, _LINE)}"


def _lacking(words: Sequence[str], sandbox: Sandbox) -> str:
    """Return what a command cannot begin without, and what to do about it; empty if it can begin."""
    program = command(words)[0]
    if "/" in program:
        return ""
    place = tools.tool_path(program)
    if place is None:
        how = tools.install_hint([program])
        return f"this machine has no {program}{how and f': {how}'}"
    if sandbox.grade is Grade.D or places.shown_to_all(Path(place)) or _is_in_toolchain(place):
        return ""
    return f"{place} is where no build may look: install {program} in /usr"


def _is_in_toolchain(place: str) -> bool:
    return any(places.is_in(place, toolchain) for toolchain in places.toolchains())


def _missed(log: Path) -> str:
    """Return which tools a failed command missed, and what to do about it; empty if it failed for something else."""
    names = tools.missed(_last_lines(log, LOOKED_AT))
    return f", since this machine has no {', '.join(names)}: {tools.install_hint(names)}" if names else ""


def _last_lines(log: Path, most: int = _LAST_LINES) -> list[str]:
    with log.open("rb") as printed:
        printed.seek(max(0, log.stat().st_size - _LAST_BYTES))
        return printed.read().decode(errors="replace").splitlines()[-most:]


@contextmanager
def _nothing_left_by_ctrl_c(log: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        log.unlink()
        for folder in (log.parent, log.parent.parent):  # unless they contain something else
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _own_folder(root: Path, sandbox: Sandbox, cache: Path | None) -> Iterator[tuple[Path, User | None]]:
    """Yield a build's own folder for its home and temporary files, beside its root, and the user whom it runs as."""
    build_folder = Path(tempfile.mkdtemp(prefix=".build-", dir=root.parent))
    user = None
    try:
        user = users.take_user() if sandbox.own_user else None
        (build_folder / "tmp").mkdir()
        with lent(cache, build_folder / "home"):
            yield build_folder, user
    finally:
        remove(build_folder)
        if user is not None:
            user.give_back()


class _Place(NamedTuple):
    """Where the commands of a build run, and under which limits."""

    root: Path
    build_folder: Path
    sandbox: Sandbox
    user: User | None
    log: IO[bytes]
    limits: BuildLimits

    @contextmanager
    def handed_over(self) -> Iterator[None]:
        """Let what the build may write to belong to its user, if it has one, until the block ends.

        Then all of it is the arena's again, and open to it, and nothing is left of a user whom another bot may get.
        """
        folders = [self.root, self.build_folder / "home", self.build_folder / "tmp"]
        try:
            if self.user is not None:
                self.build_folder.chmod(0o711)
                os.fchmod(self.log.fileno(), 0o622)  # its scripts open /dev/stderr, which leads there
                self.user.hand_over(folders)
            yield
        finally:
            if self.user is not None:
                users.take_back(folders)
                os.fchmod(self.log.fileno(), 0o600)
            open_up(self.root)  # otherwise only root could count what is in folders that it has closed
            open_up(self.build_folder, 0o700)


def _problem(words: Sequence[str], place: _Place, show: Callable[[], None]) -> str | None:
    """Run one command to its end; return what went wrong, in words, or None."""
    root, build_folder, sandbox, user, log, limits = place
    env = {**environment(), "LANG": "C.UTF-8"}
    with place.handed_over():
        confined = confine_build(sandbox, command(words), root=root, build_folder=build_folder, env=env, user=user)
        with _running(confined, log) as running:
            while running.process.poll() is None:
                if what := limits.exceeded(running):
                    return f"was stopped: a build {what}"
                show()
                with suppress(subprocess.TimeoutExpired):
                    running.process.wait(_GLANCE)
    if running.process.returncode:
        return ended_in_words(running.process.returncode, wrapped=confined.wrapped)
    return f"failed: a build {what}" if (what := limits.exceeded_at_end()) else None


@contextmanager
def _running(confined: Confined, log: IO[bytes]) -> Iterator[Running]:
    """Yield a running command of a build; end it and everything it started when the block ends."""
    adopt_orphans()
    process = subprocess.Popen(
        confined.argv,
        cwd=confined.cwd,
        env=confined.env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        yield Running(process, confined.group)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_orphans()
        confined.release()


def _make_writable(folder: Path) -> None:
    """Make all files writable: compilers overwrite what the author had built and handed in with the rest."""
    for path in walk(folder, without=set()):
        path.chmod(path.stat().st_mode | 0o200)
