"""The pages of docs/reference, which `scripts/reference` writes: from the commands, the reports and the tables.

A sentence on them is the help of an option, the docstring of a field, or the comment on a column.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import EnumType
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click
import msgspec
from msgspec import UnsetType
from sqlite_utils import Database

from arena.cli import main
from arena.cli.command_list import COMMANDS
from arena.reports import ratings_report
from ladder.store import export, schema
from tests.reports import REPORTS

NOTE = "`scripts/reference` writes this page from the sources: to change a sentence, change it there."
WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", NoneType: "null", Any: "any value"}
"""What types are called on the pages."""
STORED = {"TEXT": "text", "INTEGER": "whole number", "REAL": "number", "BLOB": "bytes"}
"""What types of columns are called on the pages."""


def pages() -> dict[str, str]:
    """Return the pages, by the names of their files."""
    written = {"commands.md": commands(), "json.md": reports(), "database.md": tables()}
    return {name: "\n\n".join(parts) + "\n" for name, parts in written.items()}


# --- The commands


def commands() -> Iterator[str]:
    """Yield every command with its help, its options and its example."""
    yield "# Commands"
    yield f"Here you look up what a command does and what its options mean, as `arena COMMAND --help` says it.\n{NOTE}"
    top = click.Context(main, info_name="arena", terminal_width=1000, **main.context_settings)
    for name in COMMANDS:
        command = main.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top)
        about, _, example = inspect.cleandoc(command.help or "").partition("\b\nExample:\n")
        yield f"## arena {name}"
        yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
        yield about.replace("\b\n", "").strip()
        yield f"```sh\n{inspect.cleandoc(example)}\n```"
        options = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
        rows = [(" ".join(f"`{word}`" for word in names.split(", ")), said) for names, said in filter(None, options)]
        yield table(["option", "meaning"], rows)


# --- The values that --json prints


def reports() -> Iterator[str]:
    """Yield what each command prints with --json, then every type with its keys."""
    yield "# The JSON of the commands"
    yield f"Here you look up the keys of what a command prints with `--json`, for a program that reads it.\n{NOTE}"
    yield (
        "A command prints one value, in which every key is there unless its type says otherwise.\n"
        "Later versions may add keys, and take none away. Labels are those of versions, such as `mine@2`."
    )
    printed = [(f"`arena {name} --json`", " or ".join(map(link, types))) for name, types in REPORTS.items()]
    yield table(["command", "prints"], printed)
    for of in structs():
        yield f"## {of.__name__}"
        base = of.__bases__[0]
        more = "" if base in (msgspec.Struct, tuple) or not fields(base) else f" The keys of {link(base)}, and:"
        yield plain(of.__doc__ or "") + (" It is a list of these values." if issubclass(of, tuple) else more)
        own = {name: of for name, of in fields(of).items() if not more or name not in fields(base)}
        said = sentences(of)
        yield table(["key", "type", "meaning"], [(f"`{name}`", kind(of), said[name]) for name, of in own.items()])


def structs() -> Sequence[type]:
    """Return the types of all reports and of their parts, each before its parts."""
    found: dict[type, None] = {}

    def find(of: Any) -> None:
        if isinstance(of, type) and fields(of) and of not in found:
            found[of] = None
            for part in fields(of).values():
                find(part)
        for part in get_args(of):
            find(part)

    for types in REPORTS.values():
        for of in types:
            find(of)
    return list(found)


def fields(of: type) -> dict[str, Any]:
    """Return the fields of a struct or a named tuple with their types; none of anything else."""
    if issubclass(of, msgspec.Struct):
        omits = of.__struct_config__.omit_defaults
        each = msgspec.structs.fields(of)
        return {of.encode_name: of.type | UnsetType if omits and not of.required else of.type for of in each}
    return get_type_hints(of) if issubclass(of, tuple) and hasattr(of, "_fields") else {}


def sentences(of: type) -> dict[str, str]:
    """Return the docstrings of fields, also inherited ones, as they stand below them in the source."""
    said: dict[str, str] = {}
    for base in reversed(of.__mro__[: of.__mro__.index(msgspec.Struct) if issubclass(of, msgspec.Struct) else 1]):
        (body,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(body, ast.ClassDef)
        for field, below in pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(field.target, ast.Name):
                said[field.target.id] = plain(ast.literal_eval(below.value))
    return said


def plain(text: str) -> str:
    """Return a docstring as one line, in which Python's words are JSON's."""
    words = {"None": "null", "True": "true", "False": "false"}
    return re.sub(r"\b(None|True|False)\b", lambda word: words[word[0]], " ".join(text.split()))


def kind(of: Any) -> str:
    """Return a type in words."""
    origin, parts = get_origin(of), get_args(of)
    if origin in (Union, UnionType):
        given = [kind(part) for part in parts if part is not UnsetType]
        return " or ".join(given) + ("; may be left out" if UnsetType in parts else "")
    if origin is Literal or isinstance(of, EnumType):
        return " or ".join(f"`{value}`" for value in parts or of)
    if origin is not None and issubclass(origin, Mapping):
        return f"object: {kind(parts[1])}"
    if origin is not None:
        return f"list: {kind(parts[0])}" if parts[1:] in ((), (...,)) else f"[{', '.join(map(kind, parts))}]"
    return WORDS[of] if of in WORDS else link(of)


def link(of: type) -> str:
    return f"[{of.__name__}](#{of.__name__.lower()})"


# --- The tables


def tables() -> Iterator[str]:
    """Yield the tables that `arena export` prints, then those of the database."""
    yield "# Tables"
    yield f"Here you look up the columns of what `arena export` prints, and those of the database itself.\n{NOTE}"
    db = Database(memory=True)
    for migrate in schema.MIGRATIONS:
        migrate(db)
    yield "## Exported tables"
    yield (
        "Rows are in the order of the schedule, those of `ratings` in that of the leaderboards. Seats, legs and\n"
        "rounds count from 0. What follows `forfeits` in `ratings` is empty where the game is not installed."
    )
    for name, query in export.TABLES.items():
        yield f"### Export of {name}"
        shown = ratings_report.SHOWN if name == "ratings" else {}
        said = dict(re.findall(r"(\w+),? +-- (.+)", query)) | shown
        columns = [*export.columns(db, name), *shown]
        yield table(["column", "meaning"], [(f"`{column}`", sentence(said[column])) for column in columns])
    yield "## Tables of the database"
    yield "Times are seconds since 1970, durations seconds, digests SHA-256. JSON has sorted keys and no spaces."
    said_of = comments(inspect.getsource(schema))
    for name in db.table_names():
        yield f"### Table {name}"
        yield sentence(said_of[name, ""])
        said = {key.column: f"a row of `{key.other_table}`" for key in db.table(name).foreign_keys}
        said |= {column: text for (of, column), text in said_of.items() if of == name}
        kinds = {of.name: STORED[of.type] + ("" if of.notnull or of.is_pk else " or null") for of in db[name].columns}
        yield table(["column", "type", "meaning"], [(f"`{of}`", kinds[of], sentence(said[of])) for of in kinds])


def comments(source: str) -> dict[tuple[str, str], str]:
    """Return what the changes of the tables say of each table (with "") and column: beside it, or above it."""
    said: dict[tuple[str, str], str] = {}
    above: list[str] = []
    name = column = ""
    for line in source.splitlines():
        code, comment = [*re.split(r"(?:--|#) ", line, maxsplit=1), ""][:2]
        above.append(comment)
        if not code.strip():
            continue
        if made := re.search(r"CREATE TABLE (?:new_)?(\w+)()|ALTER TABLE (\w+) ADD COLUMN (\w+)", code):
            name, column = filter(lambda group: group is not None, made.groups())
        elif stored := re.match(r" +(\w+) (?:TEXT|INTEGER|REAL|BLOB)\b", code):
            column = stored[1]
        if (made or stored) and (text := " ".join(above).strip()):
            said[name, column] = text
        above = []
    return said


def sentence(text: str) -> str:
    """Return a comment as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    heading, *below = [f"| {' | '.join(line)} |" for line in [head, *escaped]]
    return "\n".join([heading, "|---" * len(head) + "|", *below])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for file, text in pages().items():
        (folder / file).write_text(text)
