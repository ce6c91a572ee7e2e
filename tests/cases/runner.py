"""Runs published cases against the real games: `python -m tests.cases FILE…`.

A case is one line of JSON. A Markdown file has its cases in fenced `json` blocks, any other file is all cases.
What a case leaves out is not checked; a name that nobody knows is refused, and the case counts as failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tests.cases.op import Case, Op

USAGE = "usage: check-cases FILE.md|FILE.jsonl …"
GAMES = {
    "birth": "tests.cases.birth",
    "burning": "tests.cases.burning_desire",
    "burning-desire": "tests.cases.burning_desire",
    "buttons": "tests.cases.buttons",
}
"""Where each game's ops are; imported when a case asks for them."""

Item = TypeVar("Item")


class Line(NamedTuple):
    """A line that should hold a case, and `file:number` to find it."""

    where: str
    text: str


def main(paths: Sequence[str]) -> int:
    """Print the failed cases of the files and a last line that counts; the result is the exit code."""
    if not paths or paths[0].startswith("-"):
        return _unusable(USAGE)
    try:
        found = [line for path in paths for line in read(path)]
    except OSError as error:
        return _unusable(f"check-cases: cannot read {error.filename}: {error.strerror}")
    failures = [f"{line.where}: {problem}" for line in found if (problem := failure(line.text))]
    last = f"{len(found) - len(failures)} passed, {len(failures)} failed"
    sys.stdout.writelines(f"{line}\n" for line in [*failures, last])
    return 3 if failures else 0


def _unusable(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 2


def read(path: str) -> list[Line]:
    """The lines of a file that should hold cases. Raises OSError."""
    text = Path(path).read_text("utf-8-sig", errors="replace")
    numbered = enumerate(text.split("\n"), 1)  # not splitlines: JSON strings may hold odd line separators
    chosen = _fenced(numbered) if path.lower().endswith((".md", ".markdown")) else numbered
    return [Line(f"{path}:{number}", line.strip()) for number, line in chosen if line.strip()]


def _fenced(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """What lies in Markdown's blocks of ```json."""
    block: list[str] | None = None
    for number, line in numbered:
        if line.lstrip().startswith(("```", "~~~")):
            block = line.strip("`~ \t\r").lower().split() if block is None else None
        elif block and block[0] == "json":
            yield number, line


def failure(text: str) -> str | None:
    """What is wrong with one case, in a line; None if it passes."""
    try:
        case = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"invalid JSON: {error}"
    if not isinstance(case, dict):
        return f"a case is an object, not {text}"
    problem = _problem(case)
    return problem and " ".join(f"{case.get('id')}: {problem}".split())


def _problem(case: Case) -> str | None:
    try:
        op = find(case)
        return difference(op, case["expect"], op.run(case))
    except (ValueError, AssertionError) as error:
        return str(error)
    except Exception as error:  # whatever a case is made of, the others still run
        return f"{type(error).__name__}: {error}"


def find(case: Case) -> Op:
    """The op of a case. Raises ValueError naming what is unknown or missing in it."""
    _present(case, {"id", "game", "op", "expect"})
    ops: Mapping[str, Op] = import_module(_known("game", case["game"], GAMES)).OPS
    op = _known("op", case["op"], ops)
    _present(case, op.required)
    _only("field", case, {"id", "game", "op", "expect", *op.required, *op.optional})
    if op.expects:
        _only("result", case["expect"], op.expects)
    return op


def _known(what: str, name: object, table: Mapping[str, Item]) -> Item:
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"unknown {what} {name!r}: known are {', '.join(sorted(table))}")
    return table[name]


def _present(case: Case, names: Collection[str]) -> None:
    for name in sorted(set(names) - case.keys()):
        raise ValueError(f"missing field {name!r}")


def _only(what: str, value: object, names: Collection[str]) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"expect: an object with {', '.join(sorted(names))}, not {value!r}")
    for name in sorted(value.keys() - names):
        raise ValueError(f"unknown {what} {name!r}: known are {', '.join(sorted(names))}")


def difference(op: Op, expected: Any, actual: Any) -> str | None:
    """What came out otherwise than expected; None if nothing did."""
    if not op.expects:
        return _unequal("", _normal(op, expected), op.normal(actual))
    actual = {name: actual.get(name) for name in expected}
    wanted, got = _normal(op, expected), op.normal(actual)
    unequal = (_unequal(f"{name}: ", wanted[name], got[name]) for name in expected)
    return "; ".join(filter(None, unequal)) or None


def _normal(op: Op, expected: Any) -> Any:
    try:
        return op.normal(expected)
    except Exception:  # no such value can come out: the comparison shall say so
        return expected


def _unequal(label: str, expected: Any, actual: Any) -> str | None:
    """As JSON, where true is not 1 and a tuple is a list."""
    wanted, got = json.dumps(expected, sort_keys=True), json.dumps(actual, sort_keys=True)
    return None if wanted == got else f"{label}expected {wanted}, actual {got}"
