"""A published site says what the served one says, in files that need no server, and each publication is whole."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from jinja2 import Template

from arena.games.buttons import Buttons
from arena.replay.log_text import packed_log
from arena.reports.matches_report import selected
from arena.reports.publish_report import Published
from arena.site import ladder_page, page_shell, publishing
from arena.site.ladder_page import SELECTED
from arena.site.published_folder import NOTES, PART, CannotPublish, open_folder
from arena.worker.bot_output import Logged
from ladder import store
from tests.cli.commands import everything_in
from tests.site import homes, matches
from tests.tournament import playing

FEW = 4
"""Matches of a ladder, where some are not published."""
BOTS = ("ann", "a..html", "cid")
"""Names that are allowed, one of them as strange as can be."""
TITLE = "../<b>Ann</b> & \"co\" 'x'"


def make(home: Path) -> None:
    """Make a home with two ladders, with forfeits, with what a bot printed, and with a name for people."""
    ladder = homes.make(home, BOTS)
    playing.make(home, "birth", BOTS, 1, seats=3)
    with store.open(home, checkpoints=True) as db:
        store.bots.rename(db, "ann", TITLE)
        for match in store.watching.latest_of(db, ladder, 100):
            lines = tuple((None, text) for text in matches.HOSTILE)
            store.logs.keep(db, [packed_log(Logged(match.id, 0, match.line_up[0], lines, "process", 0, 1))])


def publish(home: Path, target: Path, most: int = SELECTED) -> Published:
    return publishing.publish_site(home, target, most)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that nobody changes."""
    folder = tmp_path_factory.mktemp("publish") / "home"
    make(folder)
    return folder


@pytest.fixture(scope="module")
def site(home: Path) -> Path:
    """Its published site, which nobody changes."""
    target = home.with_name("site")
    publish(home, target)
    return target


class Elements(HTMLParser):
    """What a page consists of, without where links lead and without what only a server can do."""

    VOID = frozenset({"meta", "link", "input", "img", "br", "hr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[tuple[str, ...]] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self._open: list[tuple[str, bool]] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        served = "data-served" in found or self._left_out()
        if tag not in self.VOID:
            self._open.append((tag, served))
        if served or found.get("http-equiv"):
            return
        self.links += [found[name] for name in ("href", "src") if name in found]
        self.ids |= {found["id"]} if "id" in found else set()
        rest = (f"{name}={value}" for name, value in found.items() if name not in ("href", "src"))
        self.parts.append((tag, *rest))

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        opened, served = self._open.pop()
        assert opened == tag
        if not served:
            self.parts.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._left_out():
            self.parts.append((" ".join(data.split()),))

    def _left_out(self) -> bool:
        return any(served for _, served in self._open)


def pages(site: Path) -> Iterator[tuple[Path, Elements]]:
    """The pages of a published site."""
    for path in sorted(site.rglob("*.html")):
        yield path, Elements(path.read_text("utf-8"))


def address(file: str) -> str:
    """Where the server has what a file shows."""
    if file.startswith("docs/") and file != "docs/index.html":
        return f"/{file.removesuffix('.html')}.md"
    return f"/{file.removesuffix('.html').removesuffix('index')}"


def changed(site: Path, before: dict[str, str]) -> set[str]:
    """The files that are not as they were; the notes are no part of the site."""
    after = everything_in(site)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} - {NOTES}


# --- What is published


@pytest.mark.parametrize("most", [SELECTED, FEW, 0])
def test_every_link_leads_to_a_file(home: Path, tmp_path: Path, most: int) -> None:
    """To a heading or a step in it, too; nothing leads to a server or out of the folder, however little is shown."""
    site = tmp_path / "a site"
    publish(home, site, most)
    found = dict(pages(site))
    lost = []
    for path, page in found.items():
        for link in page.links:
            target, anchor = urldefrag(urljoin(path.as_uri(), link))
            if link.startswith(("https://", "http://")):
                assert path.is_relative_to(site / "docs"), (path, link)
                continue
            file = Path(unquote(urlsplit(target).path))
            is_there = link == "data:," or (file.is_file() and file.is_relative_to(site))
            has_anchor = not anchor or anchor in found[file].ids
            if link.startswith("/") or "?" in link or not is_there or not has_anchor:
                lost.append((str(path), link))
    assert lost == []


def test_the_site_has_every_kind_of_page(site: Path, home: Path) -> None:
    """Whatever can be shown without a server; of our own games none brings a board in its class."""
    for kind in publishing.kinds(SELECTED):
        assert "{board}" in kind.file or list(site.glob(re.sub(r"{\w+}", "*", kind.file))), kind.file
    with store.open_read(home) as db:
        played = sum(store.ladders.counts(db, ladder).done for ladder in store.ladders.all(db))
    assert len(list(site.glob("match/*.html"))) == len(list(site.glob("match/*.json"))) == played
    assert {path.stem for path in site.glob("bot/*")} == {f"{name}@1" for name in BOTS}


def test_so_many_matches_of_each_ladder_are_shown(home: Path, tmp_path: Path) -> None:
    """A page of the ladder lists them, each with a link."""
    publish(home, tmp_path / "site", FEW)
    with store.open_read(home) as db:
        for ladder in store.ladders.all(db):
            chosen = [*selected(db, ladder, FEW).ids]
            listed = Elements((tmp_path / f"site/ladder/{ladder.id}/matches.html").read_text()).links
            assert {link for link in listed if "/match/" in link} == {f"../../match/{id}.html" for id in chosen}
            assert len({*chosen}) == FEW
    assert len(list((tmp_path / "site/match").glob("*.html"))) == 2 * FEW


def test_matches_worth_a_look_leave_room_for_the_latest(home: Path) -> None:
    """In a large field there would be nothing but forfeits. Where there is room, no match is left out."""
    with store.open_read(home) as db:
        ladder = next(each for each in store.ladders.all(db) if each.key.game == "buttons")
        few, every = selected(db, ladder, 6), selected(db, ladder, SELECTED)
        last = [match.id for match in store.watching.latest_of(db, ladder, 100)]
    kinds, ids = [match.why for match in few.worth_a_look], {match.id for match in few.worth_a_look}
    assert 2 <= len(kinds) == len({*kinds}) <= 3
    assert [match.id for match in few.latest] == [id for id in last if id not in ids][: 6 - len(kinds)]
    assert len(every.worth_a_look) > 3
    assert {*every.ids} == {*last}


def test_the_board_that_a_game_brings_is_a_file(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of its matches lead there, as those of the arena's own games lead to theirs."""
    copytree(page_shell.STATIC, tmp_path / "static", ignore=ignore_patterns("buttons.js"))
    monkeypatch.setattr(page_shell, "STATIC", tmp_path / "static")
    monkeypatch.setattr(Buttons, "board", "arenaBoards.buttons = () => 'é';")
    publish(home, tmp_path / "site", FEW)
    assert (tmp_path / "site/boards/buttons.js").read_text("utf-8") == Buttons.board
    pages = [page.read_text("utf-8") for page in (tmp_path / "site/match").glob("*.html")]
    assert sum('src="../boards/buttons.js"' in page for page in pages) == FEW


def test_what_needs_a_server_is_not_there(site: Path) -> None:
    """No forms, no script that listens for news, no attribute that only the site itself reads."""
    for path, page in pages(site):
        assert "form" not in {part[0] for part in page.parts}, path
        assert not re.search(r"<[^>]*(data-served|data-events|live\.js)", path.read_text("utf-8")), path


def test_a_policy_comes_before_everything_that_it_holds(site: Path) -> None:
    """The server is not there to send it."""
    for path, _ in pages(site):
        first, second, *_ = re.findall(r"<(?:meta|link|script|style)[^>]*>", path.read_text("utf-8"))
        assert first == '<meta charset="utf-8">', path
        assert second.startswith('<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '), path
        assert "unsafe" not in second


def test_the_files_say_what_the_site_says(site: Path, home: Path) -> None:
    """Element by element, but for where links lead, and for what needs a server."""
    with homes.site(home) as client:
        for path, page in pages(site):
            file = str(path.relative_to(site))
            assert page.parts == Elements(client.get(address(file)).text).parts, file
        for path in site.rglob("*.json"):
            assert path.read_text() == client.get(address(str(path.relative_to(site)))).text


def test_hostile_names_are_text_and_name_no_files_outside(site: Path) -> None:
    """What a bot is called and what it prints changes neither links nor files."""
    outside = {path.name for path in site.parent.iterdir()} - {f"{name}.py" for name in BOTS}
    assert outside == {"home", "site"}
    assert "<b>" not in "".join(path.read_text("utf-8") for path in site.rglob("*.html"))
    (printed, *_) = site.glob("match/*/log/0.html")
    assert all(line in " ".join(part[0] for part in Elements(printed.read_text()).parts) for line in matches.HARMLESS)


def test_a_match_that_cannot_be_shown_says_so(tmp_path: Path) -> None:
    """As the site does; all others are published."""
    make(tmp_path / "home")
    with store.open(tmp_path / "home", checkpoints=True) as db, store.database.write(db):
        broken = store.watching.latest_matches(db, 1)[0].id
        db.execute(
            "UPDATE groups SET seed = zeroblob(32) WHERE id = (SELECT group_id FROM matches WHERE id = ?)", [broken]
        )
        db.execute("UPDATE logs SET lines = x'00'")
    publish(tmp_path / "home", tmp_path / "site")
    assert "cannot be shown" in (tmp_path / f"site/match/{broken}.html").read_text()
    assert "a log cannot be read" in next(tmp_path.glob("site/match/*/log/0.html")).read_text()


def test_what_is_secret_is_in_no_file(tmp_path: Path) -> None:
    """Seeds, evidence and what bots printed, as long as a match of the group is still to be played."""
    home, site = tmp_path / "home", tmp_path / "site"
    ladder = playing.make(home, "buttons", ("ann", "bob"), 1)
    with store.open(home, checkpoints=True) as db:
        store.ladders.plan(db, ladder, ["ann", "bob"], rounds=2)
        first, *_ = store.ladders.scheduled(db, ladder)
        outcome = store.records.SeatOutcome(0, 0, "crash", {"detail": "it went", "output": ["a secret die"]})
        store.matches.record(db, ladder, [store.records.FinishedMatch(first.id, (outcome, outcome), b"[]", b"")])
        store.logs.keep(db, [packed_log(Logged(first.id, 0, "ann@1", ((None, "a secret die"),), "p", 0, 1))])
    publish(home, site)
    everything = b"".join(path.read_bytes() for path in site.rglob("*") if path.is_file())
    assert len(list(site.glob("match/*.html"))) == 2
    assert not [secret for secret in (first.seed, ladder.event_seed) if secret.hex().encode() in everything]
    assert b"a secret die" not in everything


# --- Publishing again


@pytest.fixture
def again(tmp_path: Path) -> tuple[Path, Path]:
    """A home, and its published site, for a test that changes them."""
    make(tmp_path / "home")
    publish(tmp_path / "home", tmp_path / "site")
    return tmp_path / "home", tmp_path / "site"


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The names of the templates of which pages are made, as they are made."""
    names: list[str | None] = []
    render = Template.render

    def note_and_render(template: Template, *values: Any, **more: Any) -> str:
        names.append(template.name)
        return render(template, *values, **more)

    monkeypatch.setattr(Template, "render", note_and_render)
    return names


def test_nothing_new_writes_nothing(again: tuple[Path, Path], rendered: list[str | None]) -> None:
    """Not even a file with the same content, which a web server would send again; and no match is looked at again."""
    home, site = again
    times = {path: path.stat().st_mtime_ns for path in site.rglob("*") if path.is_file() and path.name != NOTES}
    made = publish(home, site)
    assert "front.html" in rendered
    assert "served_match.html" not in rendered
    assert (made.files, made.written, made.removed) == (len(times), 0, 0)
    assert {path: path.stat().st_mtime_ns for path in times} == times


def test_a_file_that_is_gone_is_written_again(again: tuple[Path, Path]) -> None:
    """Somebody may have removed it."""
    home, site = again
    before = everything_in(site)
    for path in (next(site.glob("match/*.html")), site / "index.html"):
        path.unlink()
    assert publish(home, site).written == 2
    assert changed(site, before) == set()


def test_new_matches_change_only_what_shows_them(again: tuple[Path, Path]) -> None:
    """The pages of earlier matches, of another ladder and of the documentation stay."""
    home, site = again
    before = everything_in(site)
    ladder = playing.make(home, "buttons", BOTS, 3)
    made = publish(home, site)
    new = {name for name in everything_in(site) if name not in before}
    with store.open_read(home) as db:
        assert {f"match/{each.id}.html" for each in store.watching.latest_of(db, ladder, 6)} <= new
    assert {name.partition("/")[0] for name in new} == {"match"}
    old = changed(site, before) - new
    own = {f"ladder/{ladder.id}.html", f"ladder/{ladder.id}/matches.html", f"ladder/{ladder.id}/seats.html"}
    assert old == {"index.html", *own, *(f"bot/{name}@1.html" for name in BOTS)}
    assert made.written == len({name for name in new | old if (site / name).is_file()})


def test_a_match_that_is_annulled_says_so(again: tuple[Path, Path]) -> None:
    """It is on no list any more, but somebody may have a link to it. Ratings that changed with it are shown, too."""
    home, site = again
    before = everything_in(site)
    with store.open(home, checkpoints=True) as db:
        ladder = next(each for each in store.ladders.all(db) if each.key.game == "buttons")
        (*_, first) = store.watching.latest_of(db, ladder, 100)
        (last, *_) = store.watching.latest_of(db, ladder, 1)
        store.annulment.annul_match(db, first.id, "it was a trial")
        store.ratings.apply(db, ladder)
    for _ in range(2):
        publish(home, site)
        assert "it was a trial" in (site / f"match/{first.id}.html").read_text()
        assert first.id not in (site / f"ladder/{ladder.id}/matches.html").read_text()
    assert f"match/{last.id}.html" in changed(site, before)


def test_a_new_name_is_on_every_page_of_a_bot(again: tuple[Path, Path]) -> None:
    """Also on those of its matches, and on no other match."""
    home, site = again
    before = everything_in(site)
    with store.open(home, checkpoints=True) as db:
        store.bots.rename(db, "cid", "Cedric")
        played = {line.id for line in store.matches.of_bot(db, "cid@1", 100)}
    publish(home, site)
    renamed = {name for name in changed(site, before) if name.startswith("match/") and name.count("/") == 1}
    assert renamed == {f"match/{id}.html" for id in played}
    assert all("Cedric" in (site / name).read_text() for name in renamed)


def test_another_version_of_the_arena_makes_all_matches_again(
    again: tuple[Path, Path], rendered: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may show them in another way."""
    home, site = again
    monkeypatch.setattr("arena.site.publishing.arena_digest", lambda: "another")
    publish(home, site)
    assert rendered.count("served_match.html") == len([*site.glob("match/*.html")]) > 0


def test_links_go_with_what_they_lead_to(again: tuple[Path, Path], tmp_path: Path) -> None:
    """Such as the documentation, if this arena has none: then pages are made again that would stay otherwise."""
    home, site = again
    with homes.without_documentation(tmp_path):
        publish(home, site)
    assert not (site / "docs/docs").exists()
    links = [link for _, page in pages(site) for link in page.links]
    assert [link for link in links if "replays.html" in link] == []


def test_what_is_no_longer_shown_is_removed(again: tuple[Path, Path]) -> None:
    """With its folders; what others put into the site stays."""
    home, site = again
    own = [site / "CNAME", site / ".git/config", next(site.glob("match/*/log")) / "notes.txt"]
    for path in own:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    before = everything_in(site)
    made = publish(home, site, 0)
    gone = before.keys() - everything_in(site).keys()
    assert made.removed == sum(before[name] != "folder" for name in gone)
    assert list(site.glob("match/**/*")) == [own[2].parent.parent, own[2].parent, own[2]]
    assert [path.read_text() for path in own] == ["mine"] * 3


# --- The folder


def test_a_folder_with_other_files_is_left_alone(home: Path, tmp_path: Path) -> None:
    """It may be a mistake, such as the folder with everything."""
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(CannotPublish, match="holds other files"):
        publish(home, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_of_somebody_else_is_not_replaced(home: Path, tmp_path: Path) -> None:
    """Although the folder is a published one."""
    publish(home, tmp_path / "site", 0)
    (tmp_path / "site/match").mkdir()
    with store.open_read(home) as db:
        foreign = tmp_path / f"site/match/{store.watching.latest_matches(db, 1)[0].id}.html"
    foreign.write_text("mine")
    with pytest.raises(CannotPublish, match="was not published by the arena"):
        publish(home, tmp_path / "site")
    assert foreign.read_text() == "mine"
    foreign.unlink()
    publish(home, tmp_path / "site")


@pytest.mark.parametrize("writes", [1, 20, 60])
def test_what_was_interrupted_goes_on(home: Path, site: Path, tmp_path: Path, writes: int) -> None:
    """Wherever that was, every file is whole, none is lost from sight, and none is made twice."""
    target, left = tmp_path / "site", iter(range(writes))

    def stop(_done: int, _total: int) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publishing.publish_site(home, target, SELECTED, stop)
    whole = everything_in(site)
    there = everything_in(target)
    assert {name: whole[name] for name in there if name != NOTES} == {n: d for n, d in there.items() if n != NOTES}
    matches_there = len(list(target.glob("match/*.html")))
    made = publish(home, target)
    assert made.written <= made.files - matches_there
    assert changed(target, whole) == set()
    assert publish(home, target, 0).files == len([path for path in target.rglob("*") if path.is_file()]) - 1


def test_a_process_that_is_killed_leaves_a_folder_that_goes_on(home: Path, site: Path, tmp_path: Path) -> None:
    """Between any two writes: half a file beside the files, half a line in the notes, a file that is only announced."""
    target = tmp_path / "site"
    publish(home, target)
    lines = (target / NOTES).read_text().splitlines(keepends=True)
    (target / "index.html").write_text("as it was before")
    (target / PART).write_text("half a page")
    (target / NOTES).write_text("".join(lines) + '["index.html","",[]]\n["ladder/x')
    assert publish(home, target).written == 1
    assert changed(target, everything_in(site)) == set()


def test_a_file_is_ours_before_it_is_there(home: Path, tmp_path: Path) -> None:
    """What a process wrote just before it was killed is not taken for somebody else's, even in its first moment."""
    target, replace = tmp_path / "site", Path.replace

    def replace_and_end(part: Path, path: Path) -> None:
        replace(part, path)
        raise KeyboardInterrupt

    target.mkdir()
    (target / NOTES).write_text('["static/vie')
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "replace", replace_and_end)
        with pytest.raises(KeyboardInterrupt):
            publish(home, target, 0)
    (file,) = [path for path in target.rglob("*.*") if path.name != NOTES]
    file.write_text("what the arena has is another thing now")
    publish(home, target, 0)


def test_a_page_comes_after_those_to_which_it_leads(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody is led to what is not there yet, whenever it ends: not the first time, nor with new bots."""
    site, replace = tmp_path / "site", Path.replace
    seen, public = list[str](), set[Path]()

    def replace_and_look(part: Path, path: Path) -> None:
        replace(part, path)
        seen.append(path.relative_to(site).as_posix())
        if path in public:
            links = re.findall(r'href="([^"#:]+)["#]', path.read_text("utf-8"))
            missing = [link for link in links if not (path.parent / unquote(link)).is_file()]
            assert (path, missing) == (path, [])

    monkeypatch.setattr(Path, "replace", replace_and_look)
    publish(home, site)
    assert seen[-2:] == ["index.html", NOTES]
    public.update(site.rglob("*.html"))
    seen.clear()
    homes.make(home, ("ann", "bob", "cid", "aaa", "zed"))
    publish(home, site)
    assert any(file.startswith("bot/aaa") for file in seen)
    assert seen[-2:] == ["index.html", NOTES]


def test_notes_lead_nowhere_else(tmp_path: Path, home: Path) -> None:
    """The folder may come from somebody else, and what they name is removed."""
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "site").mkdir()
    lines = [["../precious"], [str(tmp_path / "precious")], ["static/../../precious"]]
    (tmp_path / "site" / NOTES).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    publish(home, tmp_path / "site", 0)
    assert (tmp_path / "precious").read_text() == "mine"


def test_only_one_process_publishes_in_a_folder(home: Path, tmp_path: Path) -> None:
    """The second one would remove what the first one writes."""
    with open_folder(tmp_path / "site"), pytest.raises(CannotPublish, match="another process is publishing"):
        publish(home, tmp_path / "site")
    publish(home, tmp_path / "site", 0)


def test_a_full_disk_is_one_line(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That names the file, and the page that was there before stays."""

    def write_some(part: Path, content: bytes) -> None:
        part.write_text(content[:10].decode())
        raise OSError(errno.ENOSPC, "No space left on device")

    publish(home, tmp_path / "site", FEW)
    before = everything_in(tmp_path / "site")
    monkeypatch.setattr(Path, "write_bytes", write_some)
    with pytest.raises(CannotPublish, match=r"cannot write '.*/site/match/\w+.html': No space left on device"):
        publish(home, tmp_path / "site")
    monkeypatch.undo()
    assert changed(tmp_path / "site", before) == set()


# --- The home


def test_a_site_is_of_one_moment(tmp_path: Path) -> None:
    """A ladder may play meanwhile: no page knows of a match that another one does not."""
    home, site = tmp_path / "home", tmp_path / "site"
    make(home)
    publish(home, site)
    before = everything_in(site)
    left = [BOTS]

    def play(_done: int, _total: int) -> None:
        if left:
            playing.make(home, "buttons", left.pop(), 3)

    assert publishing.publish_site(home, site, SELECTED, play).written == 0
    assert (left, changed(site, before)) == ([], set())
    assert publish(home, site).written > 0


def test_a_published_leaderboard_has_all_bots_on_one_page(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file answers no address with a number."""
    monkeypatch.setattr(ladder_page, "PAGE", 2)
    publish(home, tmp_path / "site")
    with store.open_read(home) as db:
        for ladder in store.ladders.all(db):
            page = (tmp_path / f"site/ladder/{ladder.id}.html").read_text()
            rows = re.findall(r'<th scope="row"><a href="[^"]*bot/', page.split("</table>")[0])
            assert len(rows) == len(store.ratings.leaderboard(db, ladder)) > 2
            assert "page=" not in page
