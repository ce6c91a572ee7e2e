"""The page of a match is one small file, which nothing that a bot says can change."""

from __future__ import annotations

import errno
import json
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from arena import games
from arena.reports.replay_report import match_replay
from arena.site.page_shell import match_page
from tests.cli.commands import arena, typed
from tests.referee.toy import Toy
from tests.site import matches

LARGEST = 300_000
"""Bytes of a page of a usual match: it should go with a mail."""


class Parsed(HTMLParser):
    """The elements of a page, the text in each script and style, and all attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.text = ""
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs
        self._open = (tag, dict(attrs)) if tag in {"script", "style"} else None

    def handle_data(self, data: str) -> None:
        if self._open is None:
            self.text += data
        else:
            self.raw.append((*self._open, data))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._open = None


def usual() -> str:
    return match_page(match_replay(matches.exported("buttons-3")))


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_and_nothing_else() -> None:
    """By their hashes: a script that got into the page would not run."""
    page = Parsed(usual())
    policy = policy_of(usual())
    allowed = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in executed(page)}
    assert set(re.findall(r"'sha256-[^']+'", policy)) == allowed
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def policy_of(page: str) -> str:
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page)
    assert found is not None
    return found[1].replace("&#39;", "'")


def executed(page: Parsed) -> Sequence[str]:
    """The scripts and styles of a page, without its data."""
    return [text for tag, attributes, text in page.raw if attributes.get("type") != "application/json"]


def test_the_page_needs_nothing_else() -> None:
    """It is opened from a mail, in lecture halls without internet, and years later."""
    page = Parsed(usual())
    links = [value or "" for name, value in page.attributes if name in {"src", "href", "action", "srcset"}]
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert "@import" not in usual()
    assert "url(" not in usual()


@pytest.mark.parametrize(("name", "seats"), matches.TABLES)
def test_a_usual_match_is_a_small_file(name: str, seats: int) -> None:
    """Bots that choose at random have longer matches than others: of them a match of 500 steps is counted."""
    shown = match_replay(matches.random_match(name, ["random@1"] * seats))
    size, steps = len(match_page(shown).encode()), len(shown.steps)
    assert size * min(1, 500 / steps) < LARGEST


def test_hostile_text_is_shown_as_it_is() -> None:
    """Names, logs and pictures come from bots and files; the page has the elements that it has without them."""
    harmless, harmful = Parsed(usual()), Parsed(match_page(match_replay(matches.hostile())))
    assert harmful.elements == harmless.elements
    assert all(name in harmful.text for name in matches.HARMLESS)
    (data,) = [text for _, attributes, text in harmful.raw if attributes.get("type") == "application/json"]
    assert tuple(json.loads(data)["bots"]) == matches.HARMLESS


def test_a_game_from_elsewhere_is_shown_by_its_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """It brings no board, but every game has a picture for terminals."""
    monkeypatch.setattr(games, "game", lambda _: Toy())
    page = match_page(match_replay(matches.random_match("toy", ["a", "b"])))
    (data,) = [text for _, attributes, text in Parsed(page).raw if attributes.get("type") == "application/json"]
    first = json.loads(data)["steps"][0]
    assert (first["picture"], "view" in first) == ("()", False)


def test_the_page_reads_without_a_script() -> None:
    """Players, outcome and every step in words are in the HTML itself."""
    text = " ".join(Parsed(usual()).text.split())
    for words in ("Buttons", "seat 0 forfeits: crash", "dice round/0/turn/0:", "11 0 place 1,4"):
        assert words in text


def test_a_match_that_nobody_played_has_a_page() -> None:
    """All bots but one did not start: its only step says so, and that it is over."""
    shown = match_replay(matches.unplayed("buttons-2"))
    assert [step.over for step in shown.steps] == [True]
    text = " ".join(Parsed(match_page(shown)).text.split())
    assert re.search(r"0 start (dice \S+ [\d ]+)?seat 0 forfeits: start", text)


# --- The commands


def test_the_path_of_the_page_is_printed(tmp_path: Path) -> None:
    """So it can be opened as in `xdg-open $(arena replay last --html match.html)`."""
    file = tmp_path / "match.html"
    ran = typed("replay", matches.EXPORTED / "birth-2.json", "--html", file)
    assert (ran.code, ran.out) == (0, f"{file}\n")
    assert file.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--html", "none/match.html"], "there is no folder 'none'"),
        (["--html", "."], "is a directory"),
        (["--html", ""], "a file needs a name"),
        (["--html", matches.EXPORTED / "birth-2.json"], "is there and is no page of a match"),
        (["--html", "/dev/null"], "is there and is no page of a match"),
        (["--html", "match.html", "--json"], "use it without --json"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(words: list[str | Path], why: str) -> None:
    """Before anything is done."""
    ran = typed("replay", matches.EXPORTED / "birth-2.json", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert why in ran.err


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the system's answer is made up."""
    monkeypatch.setattr(os, "access", lambda path, *_, **__: Path(path) != tmp_path)
    ran = typed("replay", matches.EXPORTED / "birth-2.json", "--html", tmp_path / "match.html")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "cannot be written" in ran.err


def test_only_a_page_is_replaced_by_a_page(tmp_path: Path) -> None:
    """An empty file has nothing to lose, either."""
    file = tmp_path / "match.html"
    file.touch()
    for name in ("birth-2", "birth-3"):
        assert typed("replay", matches.EXPORTED / f"{name}.json", "--html", file).code == 0
        assert matches.exported(name).seed in file.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_that_cannot_be_completed_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as on a disk that is full."""
    file = tmp_path / "match.html"
    file.write_text("<!doctype html>old")

    def write_some(part: Path, content: bytes) -> None:
        part.write_text(content[:10].decode())
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_some)
    ran = typed("replay", matches.EXPORTED / "birth-2.json", "--html", file)
    assert (ran.code, ran.err) == (1, f"Error: cannot write {str(file)!r}: No space left on device\n")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("<!doctype html>old", [file])


MATCH = ("match", "random", "random", "--game", "birth", "--home", "home")


def test_a_match_is_written_as_a_page_when_it_was_played(tmp_path: Path) -> None:
    """Also where its result is printed as JSON; elsewhere the path of the page is printed."""
    ran = arena(*MATCH, "--html", "match.html", "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["replay"]["seed"] in (tmp_path / "match.html").read_text("utf-8")
    assert arena(*MATCH, "--html", "match.html", cwd=tmp_path).out.endswith("\nmatch.html\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--html", "bot.py"], "is there and is no page of a match"),
        (["--replay", "bot.py"], "is there and is no replay"),
        (["--replay", "both", "--html", "./both"], "give them two names"),
    ],
)
def test_a_match_costs_no_file(words: list[str], why: str, tmp_path: Path) -> None:
    """Neither the source of a bot nor its own replay; and this is said before it is played."""
    (tmp_path / "bot.py").write_text("import arena")
    ran = arena(*MATCH, *words, cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert why in ran.err
    assert (tmp_path / "bot.py").read_text() == "import arena"
    assert not (tmp_path / "home").exists()
