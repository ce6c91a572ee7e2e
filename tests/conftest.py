"""Hooks for all tests: skip those whose needs are missing, and fail the run if others are skipped."""

from __future__ import annotations

import os
import signal
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from arena.core import compilation
from arena.sandbox import launching
from tests import needs

QUICK = "not long"
"""The value of pytest's -m that `./scripts/test` uses without --all."""
NO_SKIP = bool(os.environ.get("ARENA_NO_SKIP"))
"""Whether every skipped test fails the run, as in `.ci/run`."""
LACKING = pytest.StashKey[str]()
"""The need for which a test was skipped."""
_skipped: list[str] = []
"""Tests that were skipped but may not be, each with the reason of the skip."""
_left_out: list[str] = []
"""Long tests that were left out because of `QUICK`."""


def pytest_configure() -> None:
    """Handle signals that nohup or a shell's background job made this process ignore.

    Child processes would ignore them, too, but tests send them these signals, and SIGINT to themselves.
    """
    heard = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys((signal.SIGHUP, signal.SIGQUIT), _nothing)}
    for number, handler in heard.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_sessionstart() -> None:
    """Refuse to run below a home: commands in the folders of tests would find it, as people's commands should.

    And compile the core and the launcher, or the first command of some test would, and say so.
    """
    compilation.prepare_core(print)
    launching.prepare_launcher(print)
    folder = Path(tempfile.gettempdir()).resolve()
    for home in (each / ".arena" for each in (folder, *folder.parents)):
        if home.exists():
            raise pytest.UsageError(f"tests would use {home} as their home: move it away, or set TMPDIR")


def _nothing(_number: int, _frame: object) -> None:
    """A handler that does nothing; unlike SIG_IGN it is not inherited by child processes."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Count what opens a browser as long."""
    if ("chromium",) in needs.of(item):
        item.add_marker("long")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what this machine lacks."""
    for need, *which in needs.of(item):
        if why := needs.lacking(need, *which):
            item.stash[LACKING] = need
            pytest.skip(f"needs {need}: {why}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record a test that was skipped but may not be."""
    report = yield
    listed = needs.may_skip().get(item.stash.get(LACKING, ""), [])
    if report.skipped and (NO_SKIP or needs.without_case(item.nodeid) not in listed):
        _note(report)
    return report


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a module or folder that was skipped as a whole, since no need allows that."""
    if report.skipped:
        _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    _skipped.append(f"{report.nodeid}: {report.longrepr[2] if isinstance(report.longrepr, tuple) else 'skipped'}")


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Record long tests that were left out. Tests deselected in another way, as by name, come in calls of their own."""
    if items and items[0].config.option.markexpr == QUICK and all(item.get_closest_marker("long") for item in items):
        _left_out.extend(item.nodeid for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if a test was skipped that may not be: what a machine lacks must not look like a success."""
    if hasattr(session.config, "workeroutput"):  # one of several processes that share the tests
        session.config.workeroutput |= {"skipped": _skipped, "left_out": _left_out}
    elif _skipped and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what one of several processes recorded; all of them leave out the same tests."""
    recorded = getattr(node, "workeroutput", {})  # a process that was killed has recorded nothing
    _skipped.extend(line for line in recorded.get("skipped", ()) if line not in _skipped)
    _left_out[:] = recorded.get("left_out", _left_out)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the tests that were left out, and those that were skipped but may not be."""
    if _left_out:
        terminalreporter.section("left out, run by ./scripts/test --all")
        for name, count in Counter(map(needs.without_case, _left_out)).items():
            terminalreporter.line(name if count == 1 else f"{name}, {count} cases")
    if _skipped:
        allowed = "nothing may be" if NO_SKIP else "tests/may_skip.toml does not have them"
        terminalreporter.section(f"skipped, but {allowed}")
        for line in _skipped:
            terminalreporter.line(line)
