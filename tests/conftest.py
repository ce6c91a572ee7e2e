"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from typing import Any

import pytest

QUICK = "not long"
"""The marks that `./scripts/test` asks for without --all."""
_skipped: list[str] = []
_left_out: list[str] = []


def pytest_configure() -> None:
    """Do not pass on what nohup, or a shell's background, has us ignore: tests send it, SIGINT also to themselves."""
    heard = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys((signal.SIGHUP, signal.SIGQUIT), _nothing)}
    for number, handler in heard.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _nothing(_number: int, _frame: object) -> None:
    """Unlike SIG_IGN this is not inherited."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what was skipped."""
    report = yield
    if report.skipped:
        _skipped.append(f"{item.nodeid}: {report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'}")
    return report


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note what was left out for being long; what was left out by name comes here apart from that."""
    if items and items[0].config.option.markexpr == QUICK and all(item.get_closest_marker("long") for item in items):
        _left_out.extend(item.nodeid for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With ARENA_NO_SKIP a skipped test fails the run: what a machine lacks must not look like a success."""
    if _skipped and os.environ.get("ARENA_NO_SKIP") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what was left out, and what ARENA_NO_SKIP does not forgive."""
    if _left_out:
        terminalreporter.section("left out, run by ./scripts/test --all")
        for line in _left_out:
            terminalreporter.line(line)
    if _skipped and os.environ.get("ARENA_NO_SKIP"):
        terminalreporter.section("skipped, which is not allowed here")
        for line in _skipped:
            terminalreporter.line(line)
