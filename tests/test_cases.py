"""The published positions, called cases, and their checker; authors of other implementations rely on both."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases.runner import failure, main

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "tests/cases").glob("*.jsonl"))
MOVE = {
    "id": "M",
    "game": "birth",
    "op": "move",
    "pos": [0, 3, 6],
    "mover": 0,
    "face": 3,
    "expect": {"path": [3, 6, 9], "land": 9, "jumps": 2, "break": False},
}


def cases(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def altered(value: Any) -> Any:
    """Another value of the same type, as close to the first as possible; 0 for None."""
    match value:
        case bool():
            return not value
        case None:
            return 0
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case [first, *others]:
            return [altered(first), *others]
        case []:
            return [0]
    (name, first), *_ = value.items()
    return {**value, name: altered(first)}


def wrong(expected: Any) -> Iterator[Any]:
    """Yield wrong variants of an expected result: in each of them one part is altered or replaced by None."""
    if not isinstance(expected, dict):
        yield from (altered(expected), None)
        return
    for name, value in expected.items():
        yield from ({**expected, name: other} for other in (altered(value), None) if other != value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_published_case_passes(file: Path) -> None:
    """The rules of the arena give the result that each case expects."""
    assert [failure(json.dumps(case)) for case in cases(file)] == [None] * len(cases(file))


def test_all_published_cases_are_here() -> None:
    """Without the count, a case that got lost would go unnoticed."""
    found = [case["id"] for file in FILES for case in cases(file)]
    assert len(found) == len(set(found)) == 86


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_expected_result_is_compared(file: Path) -> None:
    """A checker that overlooks a result would accept wrong rules: whichever result is altered, the case fails."""
    for case in cases(file):
        for expected in wrong(case["expect"]):
            assert failure(json.dumps({**case, "expect": expected})), expected


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"game": "chess"}, "M: unknown game 'chess'"),
        ({"game": ["birth"]}, "unknown game ['birth']"),
        ({"op": "fly"}, "unknown op 'fly'"),
        ({"colour": 1}, "unknown field 'colour'"),
        ({"expect": {"landing": 9}}, "unknown result 'landing'"),
        ({"expect": [9]}, "an object with area, break, jumps, land, path, not [9]"),
        ({"layout": {"spaces": 15}}, "layout: unknown name 'spaces'"),
        ({"face": 7}, "face: expected a number 1 … 6, not 7"),
        ({"face": True}, "face: expected a number 1 … 6, not True"),
        ({"pos": "036"}, "pos: expected a list of 1 … 3 items, not '036'"),
        ({"expect": {"jumps": 2, "land": 8}}, "M: land: expected 8, actual 9"),
        ({"expect": {"jumps": 2.0}}, "jumps: expected 2.0, actual 2"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], told: str) -> None:
    """A misspelt name must not pass as a result that was left out, nor may True pass as 1, or 2.0 as 2."""
    assert told in (failure(json.dumps({**MOVE, **change})) or "passed")


@pytest.mark.parametrize("name", ["id", "game", "op", "expect", "pos"])
def test_a_missing_field_is_named(name: str) -> None:
    """An incomplete case would check nothing, so the message says which field it lacks."""
    case = {key: value for key, value in MOVE.items() if key != name}
    assert f"missing field '{name}'" in (failure(json.dumps(case)) or "passed")


@pytest.mark.parametrize("line", ["{", "[1]", "null", pytest.param("[" * 100_000, id="deep"), '{"id": "x"}'])
def test_a_line_that_is_no_case_fails_in_one_line(line: str) -> None:
    """Such a line counts as a failed case with a message of one line, so the other cases are still run."""
    assert "\n" not in (failure(line) or "\n")


def test_markdown_and_lines_are_checked_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In Markdown only the lines in fenced `json` blocks are cases; a message has the file and the line number."""
    good, bad = json.dumps(MOVE), json.dumps({**MOVE, "face": 1})
    markdown, plain = tmp_path / "rules.md", tmp_path / "rules.jsonl"
    markdown.write_text(f"Prose\n```json\n{good}\n\n{bad}\n```\n```sh\n{bad}\n```\n{bad}\n", "utf-8")
    plain.write_text(f"\n\n{good}\n\n{bad}\n", "utf-8")
    outputs = []
    for file in (markdown, plain):
        assert main([str(file)]) == 3
        outputs.append(capsys.readouterr().out.replace(str(file), "FILE"))
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("FILE:5: M: path: expected [3, 6, 9], actual [1]; land: ")
    assert outputs[0].endswith("\n1 passed, 1 failed\n")


def test_passing_cases_are_only_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Only failed cases are printed, since only these need a look."""
    assert main([str(FILES[0]), str(FILES[0])]) == 0
    assert capsys.readouterr() == (f"{2 * len(cases(FILES[0]))} passed, 0 failed\n", "")


@pytest.mark.parametrize(
    ("paths", "told"),
    [([], "usage: "), (["--help"], "usage: "), (["none.md"], "cannot read none.md"), (["."], "cannot read .")],
)
def test_a_file_that_cannot_be_read_is_told_in_one_line(
    paths: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake on the command line is not a failed case: the exit code is 2, not 3."""
    assert main(paths) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert told in printed.err


def test_the_script_works_from_any_directory(tmp_path: Path) -> None:
    """Paths are relative to the caller's directory, and a package `tests` there is not mistaken for the project's."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/__init__.py").write_text("raise ImportError('not this one')")
    (tmp_path / "one.jsonl").write_text(json.dumps(MOVE))
    run = subprocess.run(
        [ROOT / "scripts/check-cases", "one.jsonl"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "1 passed, 0 failed\n", "")
