"""Only listed tests may be skipped, each for a stated need; any other skipped test fails the run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs

ROOT = Path(__file__).parent.parent
LISTED = """
import json, pytest
from tests import needs

class Listing:
    def pytest_collection_finish(self, session):
        found = {}
        for item in session.items:
            for need, *_ in needs.of(item):
                found.setdefault(need, set()).add(needs.without_case(item.nodeid))
        print(json.dumps({need: sorted(tests) for need, tests in found.items()}))

pytest.main(["--collect-only", "-qqq"], plugins=[Listing()])
"""


@pytest.mark.long
def test_the_list_has_the_tests_that_say_what_they_need() -> None:
    """The list in may_skip.toml has exactly the marked tests, so nobody marks a test without a change that is reviewed.

    Whoever removes a mark removes the test from the list, too.
    """
    listing = subprocess.run([sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, check=True)
    (found,) = [json.loads(line) for line in listing.stdout.splitlines() if line.startswith("{")]
    assert found == {need: sorted(tests) for need, tests in needs.may_skip().items()}


def test_every_need_is_one_that_can_be_told() -> None:
    """The needs in the list are the same as those that tests/needs.py can look for, so no name is misspelt."""
    assert needs.may_skip().keys() == needs.NEEDS.keys()


SUITE = """
import pytest

def test_skips_itself():
    pytest.skip("for luck")

@pytest.mark.skip
def test_is_skipped(): ...

@pytest.mark.xfail
def test_may_fail():
    assert False

@pytest.mark.needs("a flying carpet")
def test_is_not_listed(): ...

@pytest.mark.needs("a flying carpet")
def test_is_listed(): ...

@pytest.mark.needs("a carpet", "of wool")
def test_has_what_it_needs(): ...
"""
CONFTEST = """
from tests import needs
from tests.conftest import *

needs.NEEDS = {"a flying carpet": lambda: "it is at the cleaner's", "a carpet": lambda kind: ""}
needs.may_skip = lambda: {"a flying carpet": ["test_suite.py::test_is_listed"]}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with tests that are skipped in different ways, under the same rules as the tests here."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_suite.py").write_text(SUITE)
    return tmp_path


def played(suite: Path, *tests: str, **env: str) -> tuple[int, set[str]]:
    """Run the suite, or some tests of it; return the exit code and the tests that were skipped against the rules."""
    command = [sys.executable, "-m", "pytest", f"--config-file={ROOT / 'pyproject.toml'}", f"--rootdir={suite}"]
    kept = {name: value for name, value in os.environ.items() if name not in {"ARENA_NO_SKIP", "PYTEST_ADDOPTS"}}
    env = {**kept, "PYTHONPATH": str(ROOT), **env}
    chosen = [f"{suite}/test_suite.py::{test}" for test in tests] or [str(suite)]
    ran = subprocess.run([*command, *chosen], env=env, capture_output=True, text=True, check=False)
    blamed = ran.stdout.partition("= skipped, but ")[2].partition("\n===")[0]
    return ran.returncode, set(re.findall(r"^test_(?:suite\.py::test_)?(\w+)", blamed, re.MULTILINE))


def test_what_is_skipped_fails_the_run_unless_it_is_listed(suite: Path) -> None:
    """However the test is skipped: by a call, by another mark, with its whole module, or for a need."""
    (suite / "test_module.py").write_text("import pytest\npytest.skip('for luck', allow_module_level=True)\n")
    assert played(suite) == (1, {"skips_itself", "is_skipped", "may_fail", "is_not_listed", "module"})


@pytest.mark.long
def test_what_is_listed_may_be_skipped_but_where_nothing_may(suite: Path) -> None:
    """With ARENA_NO_SKIP the machine should lack nothing: a skipped test is a fault of the machine or of the check."""
    few = ("test_is_listed", "test_has_what_it_needs")
    assert played(suite, *few) == (0, set())
    assert played(suite, *few, ARENA_NO_SKIP="1") == (1, {"is_listed"})
