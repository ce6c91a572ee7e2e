"""What interrupts a command arrives, at whatever moment it comes."""

from __future__ import annotations

import signal
import sys
import time
import weakref

import pytest

from arena.cli.failures import interruptible

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
