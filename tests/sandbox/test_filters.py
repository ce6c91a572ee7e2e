"""The system call filters that are shipped are those that are written down."""

from __future__ import annotations

from pathlib import Path

import pytest

import arena.sandbox
from tests.sandbox.filters import ARCHITECTURES, KINDS, made


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_is_what_scripts_generate_filters_makes(kind: str, architecture: str) -> None:
    """A filter that only its bytes describe could not be judged by anybody."""
    shipped = Path(arena.sandbox.__file__).parent / "filters" / f"{kind}-{architecture}.bpf"
    assert shipped.read_bytes() == made(kind, architecture)
