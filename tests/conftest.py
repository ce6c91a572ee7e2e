"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from typing import Any

import pytest

from tests import needs

QUICK = "not long"
"""The marks that `./scripts/test` asks for without --all."""
NO_SKIP = bool(os.environ.get("ARENA_NO_SKIP"))
LACKING = pytest.StashKey[str]()
"""What a test was skipped for want of."""
_skipped: list[str] = []
"""Tests that should not have been, and why they were."""
_left_out: list[str] = []


def pytest_configure() -> None:
    """Do not pass on what nohup, or a shell's background, has us ignore: tests send it, SIGINT also to themselves."""
    heard = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys((signal.SIGHUP, signal.SIGQUIT), _nothing)}
    for number, handler in heard.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _nothing(_number: int, _frame: object) -> None:
    """Unlike SIG_IGN this is not inherited."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what this machine lacks."""
    for need, *which in needs.of(item):
        if why := needs.lacking(need, *which):
            item.stash[LACKING] = need
            pytest.skip(f"needs {need}: {why}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what was skipped and should not have been."""
    report = yield
    listed = needs.may_skip().get(item.stash.get(LACKING, ""), [])
    if report.skipped and (NO_SKIP or needs.name(item) not in listed):
        _note(report)
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note what was skipped as a whole: there is no such need."""
    if report.skipped:
        _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    _skipped.append(f"{report.nodeid}: {report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'}")


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note what was left out for being long; what was left out by name comes here apart from that."""
    if items and items[0].config.option.markexpr == QUICK and all(item.get_closest_marker("long") for item in items):
        _left_out.extend(item.nodeid for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test that is not listed fails the run, and with ARENA_NO_SKIP any does.

    What a machine lacks must not look like a success.
    """
    if _skipped and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what was left out, and what was skipped and should not have been."""
    if _left_out:
        terminalreporter.section("left out, run by ./scripts/test --all")
        for line in _left_out:
            terminalreporter.line(line)
    if _skipped:
        allowed = "nothing may be" if NO_SKIP else "tests/may_skip.toml does not have them"
        terminalreporter.section(f"skipped, but {allowed}")
        for line in _skipped:
            terminalreporter.line(line)
