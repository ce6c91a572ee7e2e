"""Exports and copies say what is stored, and the pages about them say it right."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena import games
from arena.cli.data import cell
from arena.reports.leaderboard_columns import COLUMNS
from arena.reports.leaderboard_report import leaderboard_of
from ladder import store
from ladder.store import export
from tests.cli.commands import typed
from tests.test_docs import fences, rows
from tests.tournament import playing

DOCS = Path(__file__).parent.parent / "docs"
REFERENCE = (DOCS / "reference/database.md").read_text()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ladders, one of three seats in which bots forfeit."""
    home = tmp_path_factory.mktemp("exported") / "home"
    playing.make(home, "birth", ["ann", "bob"], 2)
    playing.make(home, "birth", ["ann", "bob", "eve"], 2, seats=3, forfeits=1.0)
    return home


def exported(table: str, home: Path) -> list[dict[str, Any]]:
    """The rows of a table, as a program reads them."""
    return [json.loads(line) for line in typed("export", table, "--home", home, "--format", "jsonl").out.splitlines()]


@pytest.mark.parametrize("table", export.TABLES)
def test_both_formats_have_the_same_rows_and_the_columns_of_the_page(table: str, home: Path) -> None:
    """Programs are written from that page, and a spreadsheet must not see other numbers than a program."""
    as_csv = list(csv.DictReader(io.StringIO(typed("export", table, "--home", home).out)))
    as_json = [
        json.loads(line) for line in typed("export", table, "--home", home, "--format", "jsonl").out.splitlines()
    ]
    assert as_csv == [{name: "" if value is None else str(value) for name, value in row.items()} for row in as_json]
    described = REFERENCE.split(f"### Export of {table}\n")[1].split("\n#")[0]
    assert [f"`{name}`" for name in as_json[0]] == [column for column, _ in rows(described)[1:]]


def test_an_export_is_complete(home: Path) -> None:
    """Every match with every seat, and after each the ratings of its bots, which end on the leaderboard."""
    exported = {
        table: [
            json.loads(line) for line in typed("export", table, "--home", home, "--format", "jsonl").out.splitlines()
        ]
        for table in export.TABLES
    }
    players = {match["match"]: match["players"] for match in exported["matches"]}
    assert len(exported["seats"]) == len(exported["history"]) == sum(players.values())
    last = {(row["ladder"], row["bot"]): (row["mu"], row["sigma"]) for row in exported["history"]}
    assert last == {(row["ladder"], row["bot"]): (row["mu"], row["sigma"]) for row in exported["ratings"]}
    assert all(len(match["seed"]) == 64 for match in exported["matches"])


def test_ratings_are_exported_as_the_table_shows_them(home: Path) -> None:
    """Of each ladder in its order: who copies them into a sheet must not have to rank, centre or estimate again."""
    found = exported("ratings", home)
    with store.open_read(home) as db:
        boards = [leaderboard_of(db, ladder, games.game("birth")) for ladder in reversed(store.ladders.all(db))]
    expected = [(board, bot) for board in boards for bot in board.bots]
    assert {name for column in COLUMNS for name in column.exported} < found[0].keys()
    for row, (board, bot) in zip(found, expected, strict=True):
        assert (row["ladder"], row["game"], row["players"]) == (board.ladder, "birth", board.players)
        assert (row["bot"], row["rank"], row["rating"]) == (bot.bot, bot.rank, bot.rating)
        assert bot.points is not None
        assert [row[f"points{end}"] for end in ("", "_low", "_high")] == list(msgspec.structs.astuple(bot.points)[:3])
        assert row["relative_mu"] - row["rating"] == pytest.approx(3 * row["sigma"])
        assert (row["sure"], row["status"]) == (int(bot.sure), "current")
    assert min(row["relative_mu"] for row in found) < 0 < max(row["relative_mu"] for row in found)


def test_ratings_of_a_game_that_is_gone_are_exported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored is there without it."""
    monkeypatch.setattr(games, "names", lambda: ())
    assert {(row["game"], row["rank"]) for row in exported("ratings", home)} == {(None, None)}


def test_an_empty_home_exports_a_header(tmp_path: Path) -> None:
    """A program that reads the file finds the columns it asks for."""
    store.open(tmp_path).close()
    assert typed("export", "ratings", "--home", tmp_path).out.startswith("ladder,bot,mu,")
    assert typed("export", "ratings", "--home", tmp_path, "--format", "jsonl").out == ""


def test_no_text_is_taken_for_a_formula() -> None:
    """A spreadsheet computes what begins so, and a formula can send a file away."""
    dangerous = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"]
    assert [cell(text) for text in dangerous] == [f"'{text}" for text in dangerous]
    assert [cell(value) for value in ("-12", "7", "ann@1", None, -0.5, 3)] == ["-12", "7", "ann@1", None, -0.5, 3]


def test_a_copy_is_the_home_of_that_moment(home: Path, tmp_path: Path) -> None:
    """It opens as a home does, and everything in it can be checked."""
    copy = tmp_path / "copied"
    copy.mkdir()
    with store.open(home) as writing:
        writing.execute("BEGIN IMMEDIATE")
        ran = typed("backup", copy / "arena.db", "--home", home)
        writing.execute("ROLLBACK")
    assert (ran.code, ran.err) == (0, "")
    assert [path.name for path in copy.iterdir()] == ["arena.db"]
    checked = json.loads(typed("verify", "--home", copy, "--json").out)
    assert (checked["difference"], len(checked["remarks"])) == (None, 1)
    with store.open_read(home) as db, store.open_read(copy) as copied:
        assert [store.ratings.ladder_hash(db, each) for each in store.ladders.all(db)] == [
            store.ratings.ladder_hash(copied, each) for each in store.ladders.all(copied)
        ]


def test_a_copy_overwrites_nothing(home: Path, tmp_path: Path) -> None:
    """Not even what is no database; and where there is nothing, nothing is copied."""
    there = tmp_path / "there"
    there.write_text("mine")
    refused = typed("backup", there, "--home", home)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == f"Error: {there} is there already and stays as it is: choose another name\n"
    assert there.read_text() == "mine"
    assert typed("backup", tmp_path / "new", "--home", tmp_path / "nowhere").code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("statement", [each.text for each in fences(DOCS / "data.md") if each.language == "sql"])
def test_the_queries_of_the_page_run(statement: str, home: Path) -> None:
    """They are copied, and find something where there is something."""
    with closing(sqlite3.connect(f"file:{home / 'arena.db'}?mode=ro", uri=True)) as db:
        assert db.execute(statement).fetchall()


def test_every_table_is_in_the_reference_with_its_columns(home: Path) -> None:
    """Whoever opens the database finds what is in it."""
    with store.open_read(home) as db:
        for name in db.table_names():
            described = REFERENCE.split(f"### Table {name}\n")[1].split("\n#")[0]
            assert [f"`{column.name}`" for column in db[name].columns] == [row[0] for row in rows(described)[1:]], name
