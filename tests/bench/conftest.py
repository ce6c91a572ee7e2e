"""Room for measurements too short to mean anything."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.bench.cases import Setting


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: ARG001 - made before this
    """The only place for temporary files from here on."""
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # short: sockets are made in it
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def setting(scratch: Path) -> Setting:
    """One worker, the fewest matches."""
    return Setting(jobs=1, seconds=0.001, scratch=scratch)
