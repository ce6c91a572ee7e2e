"""Turn expected failures, from whatever module, into one line, and handle interruptions.

Exit codes: 1 for an error, 2 for wrong usage, 130 after Ctrl-C, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import click

from arena.base.suggest import printable
from arena.terminal.stderr import say
from arena.terminal.typed import as_typed

INTERRUPTED = 130
"""The exit code after an interruption, as shells have it: 128 and the number of SIGINT."""

AGAIN = 0.05
"""Seconds after which an interruption that could not be raised is tried again."""


_LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
"""Errors of a call that needed something of which the machine, or this user, has no more."""


_SEATED = {
    "match": "the number of bots is the number of players",
    "play": "you and the bots that you name are the players",
}
"""Why a command does not take `--players`, as others do."""


class OneLine(click.ClickException):
    """A failure that prints `Error: …` and nothing else, with commands as people type them."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(printable(as_typed(" ".join(message.split()))))
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it as a constant of the class


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn mistakes of the user and failures of the machine into OneLine; bugs of the arena pass unchanged."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise OneLine(_usage(error), error.exit_code) from error
    except (KeyboardInterrupt, click.Abort) as stopped:  # Abort: interrupted at a prompt
        if str(stopped):  # what was done until then, and what was not
            say(printable(str(stopped)))
        raise SystemExit(INTERRUPTED) from None
    except (click.exceptions.Exit, click.ClickException):
        raise  # as after --help, for which `_expected` need not load half of the arena
    except BrokenPipeError:
        raise  # as in `arena … | head`; click then exits quietly
    except Exception as error:
        if isinstance(error, OSError) and (said := _of_the_system(error)):
            raise OneLine(said) from error
        if isinstance(error, _expected()):
            raise OneLine(str(error)) from error
        raise


def _of_the_system(error: OSError) -> str:
    """Return what the system refused, in words; empty if the error says too little, or says it in its own words."""
    if error.filename is not None:
        return f"cannot use {str(error.filename)!r}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):  # writing to an open file names none
        return f"cannot write a file: {error.strerror}"
    return f"nothing can be started now: {error.strerror}" if error.errno in _LACKS else ""


def _usage(error: click.UsageError) -> str:
    message = (_instead(error) or error.format_message()).rstrip(".")
    return f"{message}; see `{error.ctx.command_path} --help`" if error.ctx else message


def _instead(error: click.UsageError) -> str | None:
    """Return what to say of `--players` to a command that counts bots; click would propose what only looks alike."""
    wants_players = isinstance(error, click.NoSuchOption) and error.option_name in ("-p", "--players")
    why = _SEATED.get(error.ctx.command.name or "") if wants_players and error.ctx else None
    return why and f"{error.message.rstrip('.')}: {why}"


def _expected() -> tuple[type[Exception], ...]:
    from arena.base.homes import ForeignHome
    from arena.check import Unjudged
    from arena.cluster import ClusterError
    from arena.games import UnknownGame
    from arena.replay.record import Breach, Unreadable
    from arena.sandbox.grades import NoSandbox
    from arena.sandbox.users import NoUser
    from arena.submission import BadSubmission
    from arena.tournament import DiskFull, NothingStarts, WorkersDied
    from ladder.schedule import TooFewBots
    from ladder.store import StoreError

    of_the_machine = ClusterError, DiskFull, NoSandbox, NoUser, NothingStarts, StoreError, Unjudged, WorkersDied
    return BadSubmission, Breach, ForeignHome, TooFewBots, UnknownGame, Unreadable, *of_the_machine


@contextmanager
def interruptible() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C, so that a command cleans up what it began before it ends."""
    with _handling(signal.default_int_handler), _heard_in_finalizers():
        yield


@contextmanager
def _heard_in_finalizers() -> Iterator[None]:
    """Interrupt again what was interrupted while Python disposed of an object.

    Nothing can be raised from there: Python would print the interruption as a traceback and go on as if it had not
    been.
    """
    before = sys.unraisablehook
    pending: list[None] = []

    def interrupt(thread: int) -> None:
        time.sleep(AGAIN)
        signal.pthread_kill(thread, signal.SIGINT)  # to this thread, which may sleep
        pending.pop()  # not before: whoever waits for this would be gone

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        pending.append(None)
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # not at once: this, too, is where nothing can be raised
                _thread.start_new_thread(interrupt, (_thread.get_ident(),))
                return

    sys.unraisablehook = hook
    try:
        yield
        while pending:
            time.sleep(AGAIN)
    finally:
        sys.unraisablehook = before


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call `stop` at the first signal and interrupt at the second; yield a function that says whether one came."""
    came: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            signal.default_int_handler(number, frame)
        stop()

    with _handling(handle):
        yield lambda: bool(came)


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    # signals that are ignored already, as under nohup, stay ignored
    handlers = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in handlers:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in handlers.items():
            signal.signal(number, old)
