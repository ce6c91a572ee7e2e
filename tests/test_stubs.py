"""Stubs: those in the project are committed, and everybody else makes them with protoc as docs/protocol.md shows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from arena.submission.templates import templates

ROOT = Path(__file__).parent.parent
NAMES = {
    "csharp": ("Referee.cs", "namespace Arena.V1 {"),
    "go": ("arenav1/referee.pb.go", "package arenav1"),
    "java": ("arena/v1/Decision.java", "package arena.v1;"),
    "php": ("Arena/V1/Decision.php", r"namespace Arena\V1;"),
    "ruby": ("arena/v1/referee_pb.rb", "module Arena\n  module V1\n"),
}
"""By the output of protoc, a file that it makes, and how that file says in which package it is."""


def test_regenerating_gives_what_is_committed(tmp_path: Path) -> None:
    """Otherwise somebody edited proto/ and forgot scripts/generate, or edited a stub."""
    subprocess.run([ROOT / "scripts" / "generate", tmp_path], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "arena" / "v1").iterdir()}
    committed = {path.name: path.read_text() for path in (ROOT / "arena" / "v1").glob("*_pb2*")}
    assert made == committed


def lines() -> dict[str, str]:
    """The line of protoc for each output, as the page shows it, without what makes the services."""
    shown = (ROOT / "docs/protocol.md").read_text().split("```sh stubs\n")[1].split("```")[0].splitlines()
    messages_only = [" ".join(word for word in line.split() if "grpc" not in word) for line in shown]
    return {line.split("_out")[0].split("--")[1]: line for line in messages_only if line.startswith("protoc ")}


def test_a_line_of_protoc_is_shown_for_every_output() -> None:
    """The tests below run these lines, so one that is not there would not be tested."""
    assert lines().keys() == NAMES.keys()


def stubs(output: str, folder: Path) -> str:
    """What protoc writes beside proto/ in this folder, without options other than the page shows."""
    (folder / "proto").symlink_to(ROOT / "proto")
    subprocess.run(["sh", "-c", lines()[output]], cwd=folder, check=True, timeout=60)
    return (folder / NAMES[output][0]).read_text()


@pytest.mark.needs("protoc")
@pytest.mark.parametrize("output", sorted(NAMES.keys() - {"go"}))
def test_protoc_knows_the_packages_of_a_language(output: str, tmp_path: Path) -> None:
    """Whoever writes a bot in that language need say nothing of packages."""
    assert NAMES[output][1] in stubs(output, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.needs("tools of languages", "go")
@pytest.mark.needs("protoc")
def test_protoc_knows_the_package_for_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder does not depend on the module that it is in."""
    plugin = ["go", "build", "-o", str(tmp_path / "protoc-gen-go"), "google.golang.org/protobuf/cmd/protoc-gen-go"]
    subprocess.run(plugin, cwd=templates()["go"], check=True, timeout=500)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert NAMES["go"][1] in stubs("go", tmp_path)
