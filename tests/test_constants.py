"""Whoever meets a number finds below it what it counts, in which unit and, if somebody chose it, why about so much."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import pytest

from tests.clone import ROOT, own

GENERATED = ROOT / "arena/v1"


def unsaid(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the names of each constant of a module that has a number and no docstring."""
    for block in blocks(tree):
        for statement, following in zip_longest(block, block[1:]):
            if (names := numbers(statement)) and not is_text(following):
                yield statement.lineno, ", ".join(names)


def blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    """Yield the statements of a module, and those that it has below `if`, `try` and the like, but in no function."""
    for _, field in ast.iter_fields(node):
        if isinstance(field, list):
            yield [child for child in field if isinstance(child, ast.stmt)]
            for child in field:
                if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                    yield from blocks(child)


def numbers(statement: ast.stmt) -> list[str]:
    """Return the names in capitals that a statement gives to what is a number or has some in it."""
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    else:
        return []
    if not any(map(is_number, ast.walk(value))):
        return []
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return [name for name in names if re.fullmatch("_?[A-Z][A-Z0-9_]*", name)]


def is_number(node: ast.AST) -> bool:
    """Tell whether something in an expression is a number, or made of named ones, as `WIDTH * HEIGHT` is."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Pow | ast.LShift)
    return isinstance(node, ast.Constant) and type(node.value) in {int, float, complex}


def is_text(statement: ast.stmt | None) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def test_every_number_with_a_name_is_explained() -> None:
    """A bare number is changed by guessing, or never."""
    modules = [path for place in ("arena", "ladder") for path in own((ROOT / place).rglob("*.py"))]
    missing = [
        f"{path.relative_to(ROOT)}:{line}: {names}"
        for path in sorted(modules)
        if not path.is_relative_to(GENERATED)
        for line, names in unsaid(ast.parse(path.read_text()))
    ]
    assert not missing, "no docstring under\n" + "\n".join(missing)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("SIZE = 64", ["SIZE"]),
        ('SIZE = 64\n"""Bytes."""', []),
        ("_SIZE: Final[int] = 64 * 1024", ["_SIZE"]),
        ("AREA = WIDTH * HEIGHT", ["AREA"]),
        ("FEW, MANY = 1, 2", ["FEW, MANY"]),
        ("FEW = MANY = 1", ["FEW, MANY"]),
        ('FEW = 1\nMANY = 2\n"""Of the second."""', ["FEW"]),
        ('SIZES = {"a": (1, 2)}', ["SIZES"]),
        ("if x:\n    SIZE = 64\nelse:\n    SIZE = -1.5", ["SIZE", "SIZE"]),
        ("try:\n    SIZE = 64\nexcept OSError:\n    LARGE = 1", ["SIZE", "LARGE"]),
        ("NAME = 'x'\nIS_SO = True\nNAMES = OURS | THEIRS\nlower = 1", []),
        ("def f():\n    SIZE = 64\nclass C:\n    SIZE = 64", []),
    ],
)
def test_numbers_are_found_in_every_usual_form(source: str, names: list[str]) -> None:
    """However many are assigned at once, and wherever in the module; what is no number may explain itself."""
    assert [name for _, name in unsaid(ast.parse(source))] == names
