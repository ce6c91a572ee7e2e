"""The generated stubs are committed, so that neither users nor type checkers need a generator."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_regenerating_gives_what_is_committed(tmp_path: Path) -> None:
    """Otherwise somebody edited proto/ and forgot scripts/generate, or edited a stub."""
    subprocess.run([ROOT / "scripts" / "generate", tmp_path], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "arena" / "v1").iterdir()}
    committed = {path.name: path.read_text() for path in (ROOT / "arena" / "v1").glob("*_pb2*")}
    assert made == committed
