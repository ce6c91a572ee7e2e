"""A folder and a setting for measurements that are too short to mean anything, to test the benchmark itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bench.cases import BenchSetting


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: ARG001 - made before this
    """A folder that takes all temporary files of the test."""
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # short: sockets are made in it
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def setting(scratch: Path) -> BenchSetting:
    """One worker, and as few matches as possible."""
    return BenchSetting(jobs=1, seconds=0.001, scratch=scratch)
