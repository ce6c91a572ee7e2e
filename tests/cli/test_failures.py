"""What interrupts a command arrives, at whatever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from arena.terminal.failures import interruptible
from tests.cli.commands import environment

PATIENCE = 30


class Thing:
    """What can be disposed of."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_heard_even_while_python_disposes_of_an_object(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can be raised, it is raised a moment later, and nothing is printed."""
    things = [Thing()]
    watched = weakref.ref(things[0], lambda _: signal.raise_signal(number))

    def dispose_and_wait() -> None:
        things.clear()
        time.sleep(PATIENCE)

    with interruptible():
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            dispose_and_wait()
        assert time.monotonic() - begun < PATIENCE / 2
    assert watched() is None
    assert capsys.readouterr() == ("", "")


def test_an_interruption_that_is_repeated_comes_before_the_command_has_ended() -> None:
    """Afterwards nobody would expect it."""
    things = [Thing()]
    watched = weakref.ref(things[0], lambda _: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), interruptible():
        things.clear()
    assert watched() is None


def test_other_errors_in_finalizers_are_reported_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only interruptions are kept from what Python reports."""
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    thing = Thing()
    watched = weakref.ref(thing, lambda _: 1 / 0)
    with interruptible():
        del thing
    assert (watched(), reported) == (None, [ZeroDivisionError])


AS_PYTHON_ENDS = """
import os, signal, sys, threading
from arena.cli import run
threading._register_atexit(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["arena", "games"]
run()
"""
BEFORE_IT_BEGINS = """
import os, signal, sys
from arena.cli import run
from arena.terminal.command_group import Commands
Commands.make_context = lambda *_arguments, **_extra: os.kill(os.getpid(), signal.SIGINT)
run()
"""


@pytest.mark.parametrize("program", [AS_PYTHON_ENDS, BEFORE_IT_BEGINS], ids=["after", "before"])
def test_an_interruption_before_or_after_a_command_ends_it_without_a_word(program: str, tmp_path: Path) -> None:
    """Where no command runs that has something to clean up, Python's traceback would be all that one sees."""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
