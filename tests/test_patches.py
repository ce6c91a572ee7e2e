"""What a test may set, and what it may see: nothing of the arena is replaced by something that only pretends to be it.

Fakes are handed over, where a function or a class takes what they stand for. What is found here is found in the text of
the tests, also in that of the programs in them; those may change themselves as they like, but by public names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clone import ROOT, own

FOLDERS = {"arena": ROOT, "ladder": ROOT, "arena_bot": ROOT / "bots/python", "builtin": ROOT / "bots/python"}
"""The arena's own packages, and where they lie."""
SETTING = re.compile(r"[A-Z][A-Z0-9_]*")
"""A constant, which may be set: a test would wait for an hour, or fill a disk."""
SEAMS = {
    "arena.games.game": "the registry: who has installed a package has other games",
    "arena.games.names": "the registry",
    "arena.submission.templates.templates": "the registry: another arena knows other languages",
    "arena.games.buttons.Buttons.board": "a game of another package, which draws itself",
    "arena.games.birth.Birth.rules_version": "an arena with later rules",
    "arena.games.burning_desire.BurningDesire.rules_version": "an arena with later rules",
    "arena.site.publishing.arena_digest": "a later arena",
    "arena_bot.table.monotonic": "a clock",
    "arena.worker.local_host.run_worker": "how a worker begins in its process: one that dies, say, or starts no bot",
    "arena.sandbox.places.python": "the machine: where its Python lies",
    "arena.sandbox.users.take_user": "the machine: as whom it lets a bot run",
    "arena.sandbox.cgroups.own_groups": "the machine: in which control groups it put this process",
    "arena.core.compilation.core": "the machine: which core was compiled here, as one that watches its memory",
}
"""What else of the arena a test may set, and what that stands for: other packages, versions, clocks and machines."""
EVERYBODYS = {"_asdict", "_field_defaults", "_fields", "_make", "_replace", "_repr_html_"}
"""Names that begin with an underscore and are public: of named tuples, and of notebooks."""
PRIVATE = re.compile(r"_[^\W_]\w*")
TESTED = {"ladder": "ladder", "sdk": "arena_bot"}
"""By folder of tests, the room that it tests, where that is not `arena.FOLDER`."""
ALLOWED: Mapping[str, str] = {}
"""What breaks the rule all the same, and why."""
WHAT_TO_DO = """
Hand over a fake where one is taken, derive a class and override what is public, set a constant, or have the system
answer otherwise. If there is a seam of the arena in truth, make it public; SEAMS lists what may be set, with reasons.
"""


class Found(NamedTuple):
    """A line of a test, and what it names there."""

    line: int
    name: str


class Source:
    """The text of a test, or of a program in it."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._meanings = dict(_meanings(self.tree))

    def programs(self) -> Iterator[Source]:
        """Yield the programs in it."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and re.search(r"^\s*(import|from) \w", str(node.value), re.MULTILINE):
                try:
                    yield Source(str(node.value))
                except SyntaxError:  # it only speaks of imports, or is a part of a program
                    continue

    def replaced(self) -> Iterator[Found]:
        """Yield what it replaces, by its full name: one that begins with "?" is that of a value in the test."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="setattr" | "delattr"), args=args):
                    yield Found(node.lineno, self._patched(args))
                case ast.Call(func=ast.Name("setattr" | "delattr"), args=[of, *_] as args) if self._is_known(of):
                    yield Found(node.lineno, self._patched(args))
                case ast.Call(func=ast.Attribute(attr="setitem" | "delitem"), args=[of, *_]):
                    yield Found(node.lineno, self._meaning(of))
                case ast.ClassDef():
                    above = {name for room in self._derived_from(node) for name in _private_names(room)}
                    given = [(name, line) for name, line in _given(node) if name in above]
                    yield from (Found(line, f"super().{name}") for name, line in given)
                case ast.Attribute(value=of, attr=name, ctx=ast.Store() | ast.Del()) if not _is_self(of):
                    if PRIVATE.fullmatch(name) or self._is_known(of):
                        yield Found(node.lineno, self._meaning(node))
                case ast.Subscript(value=of, ctx=ast.Store() | ast.Del()) if self._is_known(of):
                    yield Found(node.lineno, self._meaning(of))
                case ast.ImportFrom() | ast.Import() if re.search(r"\bmock\b", ast.unparse(node)):
                    yield Found(node.lineno, "?.mock")

    def private(self) -> Iterator[Found]:
        """Yield the private names of the arena, or of values in the test, that it reads."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(value=of, attr=name) if not _is_self(of) and not self._is_of_others(of):
                    names = [name]
                case ast.ImportFrom(module=str(module), names=aliases) if module.partition(".")[0] in FOLDERS:
                    names = [alias.name for alias in aliases]
                case ast.ClassDef() if self._derived_from(node):
                    own = {name for name, _ in _given(node)}
                    names = [each.attr for each in _of_self(node) if each.attr not in own]
                case _:
                    continue
            yield from (Found(node.lineno, each) for each in names if PRIVATE.fullmatch(each))

    def _patched(self, args: list[ast.expr]) -> str:
        match args:
            case [ast.Constant(value=str(name)), *_]:
                return name
            case [of, ast.Constant(value=str(name)), *_]:
                return f"{self._meaning(of)}.{name}"
        return f"?.{', '.join(map(ast.unparse, args))}"

    def _meaning(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return self._meanings.get(name, f"?.{name}")
            case ast.Attribute(value=of, attr=name):
                return f"{self._meaning(of)}.{name}"
        return _imported(node) or f"?.{ast.unparse(node)}"

    def _derived_from(self, node: ast.ClassDef) -> list[str]:
        """The rooms of the classes of the arena from which a class is derived."""
        above = [self._meaning(base).split(".") for base in node.bases]
        return [".".join(name[: 1 + (name[0] == "arena")]) for name in above if name[0] in FOLDERS]

    def _is_known(self, node: ast.expr) -> bool:
        return not self._meaning(node).startswith("?")

    def _is_of_others(self, node: ast.expr) -> bool:
        return self._is_known(node) and self._meaning(node).partition(".")[0] not in {*FOLDERS, "tests"}


def _meanings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield names of a test, and what they mean in full."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield name, f"tests.{name}"
            case ast.Import(names=aliases):
                yield from ((each.asname or each.name.partition(".")[0], each.name) for each in aliases)
            case ast.ImportFrom(module=str(module), names=aliases):
                yield from ((each.asname or each.name, f"{module}.{each.name}") for each in aliases)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if module := _imported(value):
                yield name, module


def _imported(node: ast.expr) -> str:
    """The module that a call of `import_module` gives; empty if it is no such call."""
    match node:
        case ast.Call(
            func=ast.Name("import_module") | ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name))]
        ):
            return name
    return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _given(node: ast.ClassDef) -> Iterator[tuple[str, int]]:
    """Yield the names of the methods and attributes that a class gives itself, each with its line."""
    for each in (*node.body, *_of_self(node)):
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, each.lineno
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, each.lineno
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, each.lineno


def _of_self(node: ast.ClassDef) -> list[ast.Attribute]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and _is_self(each.value)]


def may_be_set(name: str) -> bool:
    """Say whether a test may set what has this full name."""
    of, *_, last = name.split(".")
    if of == "?" or any(map(PRIVATE.fullmatch, name.split("."))):
        return False
    return of not in FOLDERS or SETTING.fullmatch(last) is not None or name in SEAMS


def may_be_read(name: str, room: str) -> bool:
    """Say whether the tests of a room may read a private name; those of no room compare constants with pages."""
    return name in EVERYBODYS or (name in _private_names(room) if room else name.isupper())


@cache
def _private_names(room: str) -> frozenset[str]:
    package, *inner = room.split(".")
    folder = FOLDERS[package].joinpath(package, *inner)
    files = [path for path in folder.rglob("*") if path.suffix in {".py", ".pyi"}]
    return frozenset(name for path in files for name in re.findall(rf"\b{PRIVATE.pattern}", path.read_text()))


@cache
def _every_test() -> Mapping[Path, Source]:
    """The files of the tests, each by its path in the clone; but for this one, which has examples of faults."""
    paths = own(sorted({*(ROOT / "tests").rglob("*.py")} - {Path(__file__)}))
    return {path.relative_to(ROOT): Source(path.read_text()) for path in paths}


def faults(source: Source, room: str) -> Iterator[Found]:
    """Yield where a test breaks the rule."""
    yield from (found for found in source.replaced() if not may_be_set(found.name))
    for text in (source, *source.programs()):
        yield from (found for found in text.private() if not may_be_read(found.name, room))


def room_of(path: Path) -> str:
    """Return the room that a file of tests tests; empty of one that lies in no folder of a room."""
    _, *folders, _ = path.parts
    return TESTED.get(folders[0], f"arena.{folders[0]}") if folders else ""


@cache
def _broken() -> Sequence[tuple[str, int]]:
    """Where the tests break the rule: file and name, and the line."""
    of_file = ((path, faults(source, room_of(path))) for path, source in _every_test().items())
    return [(f"{path}: {each.name}", each.line) for path, found in of_file for each in found]


def test_nothing_of_the_arena_is_replaced_by_what_pretends_to_be_it() -> None:
    """What a test says of a match, a bot or a home is true then; and whoever changes what is private breaks no test."""
    wrong = [f"{what}, line {line}" for what, line in _broken() if what not in ALLOWED]
    assert not wrong, "\n".join([*wrong, WHAT_TO_DO])


def test_what_may_be_set_is_set() -> None:
    """A reason that nobody needs any more is no reason; so with what breaks the rule."""
    assert SEAMS.keys() - {each.name for source in _every_test().values() for each in source.replaced()} == set()
    assert ALLOWED.keys() - {what for what, _ in _broken()} == set()


FAULTS = {
    "a function of the arena": 'import arena.site.docs as docs\npatch.setattr(docs, "pages", dict)',
    "one by its name": 'patch.setattr("arena.worker.worker.Worker.play", None)',
    "one by the builtin": 'from arena.site import docs\nsetattr(docs, "pages", dict)',
    "one by assignment": "from arena.worker import local_host\nlocal_host.run = None",
    "one that is private": 'from arena.site import docs\npatch.setattr(docs, "_entry", None)',
    "one that is deleted": 'patch.delattr("arena.games.greedy.greedy")',
    "one of a value": 'patch.setattr(worker, "play", None)',
    "one by a name that changes": "patch.setattr(docs, name, None)",
    "one by a subclass": (
        "from arena.worker.worker import Worker\nclass Mine(Worker):\n    def _begin(self, task, bots): pass"
    ),
    "an attribute by a subclass": (
        "from arena.worker.worker import Worker\nclass Mine(Worker):\n    def __init__(self): self._queues = None"
    ),
    "one in the body of a subclass": (
        "from arena.worker.worker import Worker\nclass Mine(Worker):\n    _begin = lambda self: None"
    ),
    "an item": 'from arena.games import greedy\ngreedy.of["birth"] = None',
    "a private attribute": "worker._queues = None",
    "a mock": "from unittest.mock import patch",
    "a private name of another room": "home.close()\nhome._readers.clear()",
    "one of a class above": (
        "from arena.worker.worker import Worker\nclass Mine(Worker):\n    def left(self): return self._queues"
    ),
    "an import of one": "from arena.site.docs import _entry",
    "one in a program": 'RUN = """\nimport os\nfrom arena.site.docs import _entry\n"""',
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_usual_way_to_replace_or_to_see_is_found(fault: str) -> None:
    """Who wants to hide one from a reader of text can: nobody here does."""
    assert list(faults(Source(FAULTS[fault]), "arena.games")), FAULTS[fault]


FINE = {
    "a constant": 'from arena.site import docs\npatch.setattr(docs, "ROOT", None)',
    "what the system answers": 'import os\npatch.setattr(os, "kill", None)\nos._exit(0)',
    "a library": 'patch.setattr("jinja2.Template.render", None)',
    "a class of the test": 'class Mine:\n    board = ""\npatch.setattr(Mine, "board", "x")',
    "a seam": 'from arena import games\npatch.setattr(games, "names", tuple)',
    "a value's own": "wire.time.now = 3.0",
    "a private name of the room": "from arena.site.docs import _entry",
    "a row": "row._replace(a=1)",
}


@pytest.mark.parametrize("right", FINE)
def test_what_a_test_may_do_is_no_fault(right: str) -> None:
    """The rest of the tests stands on this."""
    assert list(faults(Source(FINE[right]), "arena.site")) == []
