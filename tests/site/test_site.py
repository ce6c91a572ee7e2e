"""The site shows what reports say, to nobody else than it is meant for, and never what is to stay secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape
from itertools import chain, pairwise
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

from arena import games
from arena.replay import unrated_store
from arena.reports import bot_card, front_report, leaderboard_report, pair_report
from arena.reports.history_report import BotHistory, RatingHistory, RatingPoint
from arena.reports.leaderboard_columns import COLUMNS
from arena.reports.replay_report import match_replay
from arena.reports.words import percent
from arena.site import docs, ladder_page, plots
from arena.site.page_shell import parts_of
from arena.site.rendering import percent_text
from ladder import store
from tests.cli.conftest import ESCAPES, make_home
from tests.referee.toy import Toy
from tests.site import homes, matches
from tests.tournament import playing


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a finished ladder; nobody changes it."""
    folder = tmp_path_factory.mktemp("site") / "home"
    homes.make(folder)
    return folder


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[TestClient]:
    """Its site."""
    with homes.site(home) as client:
        yield client


@pytest.fixture(scope="module")
def ladder(home: Path) -> store.Ladder:
    """Its ladder."""
    with store.open_read(home) as db:
        return store.ladders.all(db)[0]


def text(page: str) -> str:
    """What a page says, without its elements."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def links(page: str) -> set[str]:
    """Where the links, scripts and styles of a page lead."""
    return {unescape(link) for link in re.findall(r'(?:href|src)="([^"]+)"', page)}


# --- What is shown


def test_every_link_leads_to_a_page(site: TestClient) -> None:
    """From the front on, whatever can be clicked is there: bots, matches, pages of the documentation, styles."""
    seen, left = set[str](), {"/"}
    while left:
        address = left.pop()
        answer = site.get(address)
        assert answer.status_code == 200, address
        seen.add(address)
        if answer.headers["content-type"].startswith("text/html"):
            found = {urljoin(address, link).partition("#")[0] for link in links(answer.text) if ":" not in link}
            sorts = {link for link in found if "sort=" in link or "/compare?" in link} & seen
            left |= {link for link in found - seen - sorts if link.startswith("/") and len(seen) < 400}
    assert {"/docs/docs/games.md", "/compare", "/static/site.css"} <= seen
    assert any(address.endswith(".json") for address in seen)


def test_the_board_of_a_game_from_elsewhere_is_a_file_of_the_site(
    site: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page names the address, since a page of the site has no script in itself; other games have none there."""
    monkeypatch.setattr(Toy, "board", "arenaBoards.toy = 1;")
    monkeypatch.setattr(games, "names", lambda: ("toy", "buttons"))
    monkeypatch.setattr(games, "game", lambda _: Toy())
    assert "/boards/toy.js" in parts_of(match_replay(matches.random_match("toy", ["a", "b"]))).scripts
    answer = site.get("/boards/toy.js")
    assert (answer.text, answer.headers["content-type"]) == ("arenaBoards.toy = 1;", "text/javascript; charset=utf-8")
    monkeypatch.setattr(Toy, "board", "")
    assert [site.get(f"/boards/{name}.js").status_code for name in ("toy", "chess")] == [404, 404]


def test_a_ladder_of_a_game_that_is_gone_is_named_without_a_link(
    home: Path, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its package may have been removed; the page of the ladder could not be made."""
    monkeypatch.setattr(games, "names", tuple)
    with homes.site(home) as site:
        front = site.get("/").text
    assert f"this arena does not have the game, {ladder.id}" in text(front)
    assert f"/ladder/{ladder.id}" not in links(front)


def test_the_page_of_a_ladder_calls_zero_what_the_leaderboard_does(site: TestClient, ladder: store.Ladder) -> None:
    """Below the table, and below the plot, over whose matches the zero is one, that of today."""
    said = text(site.get(f"/ladder/{ladder.id}").text)
    assert "almost certainly worth, mu − 3 sigma; 0 is the mean of the bots that the ladder began with." in said
    assert "; 0 is the mean, as it is now, of the bots that the ladder began with." in said


def test_links_to_headings_lead_to_them(site: TestClient) -> None:
    """Between the pages of the documentation and within them."""
    pages = {link: site.get(link).text for link in links(site.get("/docs/").text) if link.startswith("/docs/")}
    led = [(page, urljoin(page, link)) for page, text in pages.items() for link in links(text) if "#" in link]
    lost = []
    for page, address in led:
        path, _, anchor = address.partition("#")
        if path in pages and f'id="{anchor}"' not in pages[path]:
            lost.append((page, address))
    assert led
    assert lost == []


def test_no_page_of_the_documentation_needs_a_style_in_place(site: TestClient) -> None:
    """The policy forbids it: numbers in tables are aligned by a class."""
    pages = [site.get(link).text for link in links(site.get("/docs/").text) if link.startswith("/docs/")]
    assert not any(" style=" in re.sub("<pre.*?</pre>|<code.*?</code>", "", page, flags=re.DOTALL) for page in pages)
    assert any('<td class="number">' in page for page in pages)


def test_the_front_lists_what_there_is(site: TestClient, home: Path) -> None:
    """Its numbers are those of the report."""
    with store.open_read(home) as db:
        expected = front_report.front(db, running=False)
    said = text(site.get("/").text)
    (ladder,) = expected.ladders
    assert ladder.leader is not None
    assert f"{ladder.leader.bot} {ladder.leader.rating:.2f}" in said
    assert f"{ladder.progress.done} matches" in said
    assert expected.latest
    assert all(f"{match.id} Buttons 1. " in said for match in expected.latest)
    assert all(version.bot in said for version in expected.newest)


def test_the_list_of_pages_says_what_each_is_about(site: TestClient) -> None:
    """By its first sentence; one that goes on from a command has that in front."""
    said = text(site.get("/docs/").text)
    assert "The games After this page you can play three dice games, and know the actions of each." in said
    assert "Checking results arena verify checks everything that is stored in a home" in said
    assert all(page.title and page.about.endswith(".") for page in docs.pages().values())


def test_the_list_of_pages_has_the_two_books_first(site: TestClient) -> None:
    """Who writes a bot, and who runs a contest, need not read what others look up; every page is in one group."""
    headings, listed = re.findall(r"<h2>(.*)</h2>", page := site.get("/docs/").text), page.split("<h2>")[1:]
    assert headings == ["For players", "For organisers", "Reference", "Design notes"]
    groups = [re.findall(r'<li><a href="/docs/(\S+)"', part) for part in listed]
    assert [group[0] for group in groups[:2]] == ["README.md", "docs/contest.md"]
    assert "docs/protocol.md" in groups[2]
    assert sorted(chain(*groups)) == sorted(docs.pages())


def test_lists_say_why_who_has_fewer_points_won(tmp_path: Path) -> None:
    """In Buttons a line of stars beats any number of them."""
    homes.make(tmp_path, rounds=1)
    with store.open(tmp_path) as db:
        match = store.watching.latest_matches(db, 1)[0].id
        db.execute("UPDATE seats SET forfeit = NULL, score = CASE rank WHEN 0 THEN '1' ELSE '5' END")
    why = games.game("buttons").beyond_scores
    with homes.site(tmp_path) as site:
        assert why
        assert why in text(site.get("/").text)
        assert match in site.get("/").text


def test_the_leaderboard_has_the_numbers_of_the_command(site: TestClient, home: Path, ladder: store.Ladder) -> None:
    """People compare the two, and so do we: order, marks, ratings and intervals."""
    with store.open_read(home) as db:
        board = leaderboard_report.leaderboard_of(db, ladder, games.game("buttons"), cross=40)
    said = text(site.get(f"/ladder/{ladder.id}").text)
    for bot in board.bots:
        assert f"{bot.rating:.2f} {bot.mu - board.centre:+.2f} {bot.sigma:.2f}" in said
        assert percent(bot.points) in said
    assert isinstance(board.cross, list)
    assert all(f"{100 * each.low:.0f}–{100 * each.high:.0f}" in said for each in board.cross)


def test_every_column_is_on_the_page_and_sorts_it(site: TestClient, ladder: store.Ladder) -> None:
    """What is listed once is everywhere: the page, as the terminal, makes its columns from that list."""
    page = site.get(f"/ladder/{ladder.id}").text
    for column in COLUMNS:
        assert f'sort={column.name}">{column.heading}</a></th>' in page
        ordered = site.get(f"/ladder/{ladder.id}?sort={column.name}").text
        assert f'aria-sort="{"ascending" if column.is_rising else "descending"}"' in ordered


def test_what_opens_says_what_is_in_it(site: TestClient, ladder: store.Ladder) -> None:
    """By name, not by number."""
    assert "Options Show boards, max_rounds {" in text(site.get(f"/ladder/{ladder.id}").text)


def test_the_leaderboard_is_sorted_and_filtered_by_its_address(site: TestClient, ladder: store.Ladder) -> None:
    """So a view of it can be sent to others."""

    def shown(query: str) -> list[str]:
        page = site.get(f"/ladder/{ladder.id}?{query}").text
        return re.findall(r'<th scope="row"><a href="/bot/([^"]+)', page.split("</table>")[0])

    assert shown("sort=bot") == ["ann@1", "bob@1", "cid@1"]
    assert sorted(shown("sort=matches")) == ["ann@1", "bob@1", "cid@1"]
    assert shown("bots=BOB") == ["bob@1"]
    assert shown("bots=ann,cid&sort=bot") == ["ann@1", "cid@1"]
    assert shown("bots=nobody") == []
    assert len(shown("sort=nothing")) == 3


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, store.Ladder]:
    """A home with a ladder of more bots than are compared with each other, and more than a page of ten."""
    home = tmp_path_factory.mktemp("crowd")
    return home, playing.make(home, "birth", [f"bot{number:02}" for number in range(ladder_page.LARGEST_CROSS + 5)], 1)


def test_many_bots_are_on_pages_that_lead_to_each_other(
    crowd: tuple[Path, store.Ladder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each bot is on one of them, in the order of the command, whatever the column; a search has pages of its own."""
    home, ladder = crowd
    monkeypatch.setattr(ladder_page, "PAGE", 10)
    with store.open_read(home) as db:
        bots = leaderboard_report.leaderboard_of(db, ladder, games.game("birth")).bots
    labels, by_name = [bot.bot for bot in bots], sorted(bot.bot for bot in bots)
    with homes.site(home) as site:

        def shown(query: str) -> list[str]:
            page = site.get(f"/ladder/{ladder.id}{query}").text
            table, _, below = page.partition("</table>")
            found = re.findall(r'<th scope="row"><a href="/bot/([^"]+)', table)
            leading.update(map(unescape, re.findall(r'href="([^"]*page=[^"]*)"', below.partition("</nav>")[0])))
            return found

        leading = set[str]()
        assert shown("") == labels[:10]
        assert {"?sort=rank&page=2", "?sort=rank&page=5"} <= leading
        assert [label for number in range(1, 6) for label in shown(f"?page={number}")] == labels
        assert shown("?page=99") == labels[40:] == shown("?page=5")
        assert shown("?page=-1") == shown("?page=²") == shown("?page=0") == labels[:10]
        assert shown("?sort=bot&page=2") == by_name[10:20]
        leading.clear()
        assert shown("?bots=bot1,bot2") == [label for label in labels if label[3] in "12"][:10]
        assert leading == {"?sort=rank&bots=bot1%2Cbot2&page=2"}


def test_a_page_of_the_leaderboard_is_found_by_a_bot(
    crowd: tuple[Path, store.Ladder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By part of its name, in the order that is shown; the row is marked, and the address goes there."""
    home, ladder = crowd
    monkeypatch.setattr(ladder_page, "PAGE", 10)
    with homes.site(home) as site:
        for query in ("around=BOT33", "around=bot33&sort=points"):
            page = site.get(f"/ladder/{ladder.id}?{query}").text
            (row,) = re.findall(r'<tr id="chosen".*?</tr>', page, re.DOTALL)
            assert "bot33@1" in row
            assert 'action="#chosen"' in page
        assert "No bot has a name like “nobody”" in site.get(f"/ladder/{ladder.id}?around=nobody").text
        assert "No bot of these has" in site.get(f"/ladder/{ladder.id}?around=bot33&bots=bot1").text


def test_a_page_of_few_bots_has_no_others(site: TestClient, ladder: store.Ladder) -> None:
    """Nor a way to go to them."""
    said = text(site.get(f"/ladder/{ladder.id}").text)
    assert "Go to" not in said
    assert "Pages" not in said


def test_the_page_of_a_bot_has_its_card(site: TestClient, home: Path) -> None:
    """A name means the newest version; a version is another address."""
    with store.open_read(home) as db:
        card = bot_card.bot_card(db, store.bots.find(db, "bob"), 20)
    said = text(site.get("/bot/bob").text)
    (own,) = card.ladders[0].versions
    assert f"Rating {own.rating:.2f}" in said
    assert percent(own.points) in said
    for opponent in card.ladders[0].opponents:
        assert percent(opponent.points) in said
    assert own.times is not None
    assert f"{own.times.decisions:,}" in said
    assert site.get("/bot/bob@1").text == site.get("/bot/bob").text


def test_the_histogram_counts_every_decision(site: TestClient, home: Path) -> None:
    """Each bucket tells its number where the mouse is."""
    with store.open_read(home) as db:
        (own,) = bot_card.bot_card(db, store.bots.find(db, "ann"), 0).ladders[0].versions
    assert own.times is not None
    counted = re.findall(r"ms: ([0-9,]+) decisions", site.get("/bot/ann").text)
    assert sum(int(count.replace(",", "")) for count in counted) == own.times.decisions


@pytest.mark.parametrize("mu", [-9.0, 0.0, 9.0])
def test_every_line_of_a_plot_has_its_name(mu: float) -> None:
    """None lies on another one or outside, however close together all but one of the bots are."""
    ends = [-10.0, *(mu + each / 100 for each in range(plots.PLOT_LINES - 2)), 10.0]
    lines = [[RatingPoint(matches=matches, mu=end, sigma=0.1) for matches in (1, 2)] for end in ends]
    bots = [BotHistory(bot=f"bot{number}@1", points=points) for number, points in enumerate(lines)]
    drawn = plots.rating_plot(RatingHistory(matches=2, bots=bots))
    at = sorted(float(y) for y in re.findall(r'y="([0-9.]+)">bot', drawn))
    assert len(at) == plots.PLOT_LINES
    assert all(after - before > plots.NAMES_APART - 0.1 for before, after in pairwise(at))
    assert at[-1] < plots.HEIGHT
    looks = re.findall(r'<polyline class="line ([^"]+)"', drawn)
    assert len(set(looks)) == plots.PLOT_LINES


def test_two_bots_are_compared_as_the_report_says(site: TestClient, home: Path, ladder: store.Ladder) -> None:
    """With the intervals, and how much more would settle it."""
    with store.open_read(home) as db:
        found = pair_report.paired(db, ladder, "ann@1", "bob@1")
    said = text(site.get(f"/compare?ladder={ladder.id}&a=ann&b=bob").text)
    assert found.points is not None
    assert f"{100 * found.points.mean:.1f}" in said
    assert found.above is not None
    assert max(found.above, 1 - found.above) > 0.5
    better = "ann@1" if found.above > 0.5 else "bob@1"
    chance = percent_text(max(found.above, 1 - found.above))
    for a, b in (("ann", "bob"), ("bob", "ann")):
        said = text(site.get(f"/compare?ladder={ladder.id}&a={a}&b={b}").text)
        assert f"{better} is better with a probability of {chance}" in said


def test_two_bots_of_one_ladder_are_proposed(tmp_path: Path) -> None:
    """The first two of its leaderboard, and no bot of another ladder can be chosen."""
    playing.make(tmp_path / "home", "buttons", ("ann", "bob", "cid"), 1)
    playing.make(tmp_path / "home", "birth", ("dot", "eve"), 1)
    with store.open_read(tmp_path / "home") as db:
        boards = {each.id: [row.label for row in store.ratings.leaderboard(db, each)] for each in store.ladders.all(db)}
    with homes.site(tmp_path / "home") as site:
        offered = {link for link in links(site.get("/compare").text) if link.startswith("/compare?")}
        assert offered == {f"/compare?ladder={ladder}" for ladder in boards}
        for ladder, bots in boards.items():
            page = site.get(f"/compare?ladder={ladder}").text
            assert set(re.findall(r"<option[^>]*>([^<]+)", page)) == set(bots)
            assert re.findall(r"<option selected>([^<]+)", page) == bots[:2]
            assert f"<h1>{bots[0]} and {bots[1]}</h1>" in page


@pytest.mark.parametrize("name", ["a", "b"])
def test_one_bot_is_compared_with_the_first_of_the_others(
    site: TestClient, home: Path, ladder: store.Ladder, name: str
) -> None:
    """And not left out for two others."""
    with store.open_read(home) as db:
        first, *_, last = [row.label for row in store.ratings.leaderboard(db, ladder)]
    assert f"<h1>{last} and {first}</h1>" in site.get(f"/compare?ladder={ladder.id}&{name}={last}").text
    assert f"<h1>{first} and " in site.get(f"/compare?ladder={ladder.id}&{name}={first}").text
    assert site.get(f"/compare?ladder={ladder.id}&{name}=nobody").status_code == 404


def test_one_bot_alone_is_compared_with_nobody(tmp_path: Path) -> None:
    """A ladder may have been made and not played."""
    with store.open(tmp_path) as db:
        key = store.records.LadderKey("birth", 2, {}, {}, 1)
        ladder = store.ladders.find_or_make(db, key, draw_probability=0.0, seed="known")
    with homes.site(tmp_path) as site:
        assert "Fewer than two bots" in site.get(f"/compare?ladder={ladder.id}").text


def test_what_cannot_be_compared_is_said_so(site: TestClient, ladder: store.Ladder) -> None:
    """A bot with itself, with nobody, or in another ladder."""
    assert "Both are the same bot" in site.get(f"/compare?ladder={ladder.id}&a=ann&b=ann@1").text
    assert "Compare" in site.get(f"/compare?ladder={ladder.id}&a=ann").text
    assert site.get(f"/compare?ladder={ladder.id}&a=ann&b=nobody").status_code == 404
    assert site.get("/compare?ladder=nothing&a=ann&b=bob").status_code == 404


def test_a_match_is_shown_with_its_viewer(site: TestClient, home: Path) -> None:
    """The scripts are files of the site, and the data is in the page, so it needs nothing else."""
    with store.open_read(home) as db:
        match = store.watching.latest_matches(db, 1)[0]
    page = site.get(f"/match/{match.id}")
    assert {"/static/viewer.js", "/static/boards/buttons.js", "/static/dice.js"} <= links(page.text)
    assert '<script type="application/json" id="match">' in page.text
    assert not re.search(r"<script>|<style|style=", page.text)
    assert site.get(f"/match/{match.id[:6]}").text == page.text


def test_a_match_can_be_kept(site: TestClient, home: Path) -> None:
    """As a page in one file, and as the document that `arena replay` opens."""
    with store.open_read(home) as db:
        match = store.watching.latest_matches(db, 1)[0]
    one = site.get(f"/match/{match.id}.html")
    assert one.headers["content-disposition"] == f'attachment; filename="{match.id}.html"'
    assert "<style>" in one.text
    assert site.get(f"/match/{match.id}.json").json()["match"] == match.id


def test_a_forfeit_is_shown_with_its_evidence(site: TestClient, home: Path) -> None:
    """What the author of the bot needs first."""
    with store.open_read(home) as db:
        forfeited = next(m for m in store.watching.latest_matches(db, 100) if any(forfeit for _, _, forfeit in m.seats))
    said = text(site.get(f"/match/{forfeited.id}").text)
    assert "was killed by SIGSEGV" in said
    assert "last words" in said


def test_a_table_of_very_many_bots_is_left_to_the_command(
    home: Path, ladder: store.Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be no picture any more, and take long."""
    monkeypatch.setattr("arena.site.ladder_page.LARGEST_CROSS", 2)
    with homes.site(home) as site:
        said = text(site.get(f"/ladder/{ladder.id}").text)
    assert "arena leaderboard --game buttons --players 2 --cross" in said
    assert "Chance of each place" not in said


def test_an_arena_without_documentation_says_where_it_is(home: Path, tmp_path: Path) -> None:
    """One that was installed has no folder of it."""
    with homes.without_documentation(tmp_path), homes.site(home) as site:
        assert "installed without its documentation" in site.get("/docs/").text
        linked = site.get("/docs/docs/games.md")
        assert (linked.status_code, "installed without its documentation" in linked.text) == (404, True)


# --- What is refused


def test_every_answer_is_guarded(site: TestClient, ladder: store.Ladder) -> None:
    """Whatever the page: no script but ours, no frame, no guessing of types, no trace left elsewhere."""
    for address in ("/", f"/ladder/{ladder.id}", "/nothing", "/static/live.js", "/bot/nobody", "/docs/"):
        headers = site.get(address).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers


MADE_UP = (
    "localhost.",
    "[::1].evil.example",
    "[::1]evil:80",
    "127.0.0.1:80.evil",
    "[127.0.0.1",
    "localhost:80:80",
)
"""What only begins as a name of the site does."""


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.", "[::2]", "10.0.0.1", *MADE_UP]
)
def test_another_name_is_refused(site: TestClient, host: str) -> None:
    """A site of somebody else could let its name lead here, and read what only this machine may."""
    assert site.get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:99", "LocalHost:1"])
def test_its_own_names_are_not_refused(site: TestClient, host: str) -> None:
    """With any port: it may be forwarded."""
    assert site.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_nothing_can_be_sent(site: TestClient, method: str) -> None:
    """It only shows."""
    answer = site.request(method, "/")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert site.head("/").status_code == 200


@pytest.mark.parametrize(
    "address",
    [
        "/nothing",
        "/ladder/nothing",
        "/ladder/nothing/events",
        "/bot/nobody",
        "/bot/ann@9",
        "/match/zzzzzz",
        "/unrated/1",
        "/docs/nothing.md",
        "/docs/../pyproject.toml",
        "/static/../app.py",
        "/static/nothing.js",
    ],
)
def test_what_is_not_there_is_said_so(site: TestClient, address: str) -> None:
    """In a page, with the right status."""
    answer = site.get(address)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text
    assert not re.search("Not Found|'the home", unescape(answer.text)), "one spelling, and a home is not called so"


def test_hostile_addresses_are_harmless(site: TestClient, ladder: store.Ladder) -> None:
    """What is typed into an address comes back as text."""
    hostile = "<script>alert(1)</script>\"'‮"
    for answer in (
        site.get(f"/bot/{hostile.replace('/', '')}"),
        site.get("/compare", params={"ladder": ladder.id, "a": hostile, "b": "ann"}),
        site.get(f"/ladder/{ladder.id}", params={"bots": hostile, "sort": hostile}),
    ):
        assert "<script>alert" not in answer.text


def test_what_bots_print_is_harmless(tmp_path: Path) -> None:
    """Escape sequences and changes of direction are escaped, as in a terminal."""
    make_home(tmp_path / "home")
    with homes.site(tmp_path / "home") as site, store.open_read(tmp_path / "home") as db:
        pages = [site.get(f"/match/{line.id}").text for line in store.matches.of_bot(db, "bob@1", 10)]
        pages.append(site.get("/bot/bob@1").text)
    assert not {char for char in ESCAPES if not char.isprintable()} & set("".join(pages))


def test_a_match_of_hostile_bots_is_harmless(tmp_path: Path) -> None:
    """Names of unrated bots are paths, and may be anything."""
    unrated_store.keep(tmp_path, [matches.hostile()])
    with homes.site(tmp_path) as site:
        page = site.get("/unrated/1").text
        assert site.get("/unrated/1.json").json()["bots"] == list(matches.HOSTILE)
        assert "<style>" in site.get("/unrated/1.html").text
        assert site.get("/unrated/2").status_code == 404
    assert "<b>bold" not in page
    assert not {"\x1b", "\u202e"} & set(page)
    assert page.count("</script>") == len(re.findall("<script", page))


# --- What stays secret


def test_seeds_and_logs_of_unfinished_groups_are_nowhere(tmp_path: Path) -> None:
    """Whoever knew them could foresee the dice of matches that are still to be played."""
    home = tmp_path / "home"
    ladder = playing.make(home, "buttons", ("ann", "bob"), 1)
    with store.open(home, checkpoints=True) as db:
        store.ladders.plan(db, ladder, ["ann", "bob"], rounds=2)
        (first, second) = store.ladders.scheduled(db, ladder)
        outcome = store.records.SeatOutcome(0, 0, "crash", {"detail": "it went", "output": ["a secret die"]})
        store.matches.record(db, ladder, [store.records.FinishedMatch(first.id, (outcome, outcome), b"[]", b"")])
        log = store.logs.Log("ann", first.id, 0, "p", 0, 1, b"")
        store.logs.keep(db, [log])
    with homes.site(home) as site:
        said = site.get(f"/match/{first.id}").text
        assert "when every match of its group is done" in said
        assert "a secret die" not in said
        assert "still to be played" in site.get(f"/match/{second.id}").text
        assert site.get(f"/match/{first.id}.json").status_code == 404
        assert site.get(f"/match/{first.id}/log/0").status_code == 404
        addresses = ["/", f"/ladder/{ladder.id}", f"/ladder/{ladder.id}/seats", "/bot/ann", f"/match/{first.id}"]
        everything = "".join(site.get(address).text for address in addresses)
    assert first.seed.hex() not in everything
    assert ladder.event_seed.hex() not in everything
    assert f"/match/{first.id}" not in site_list(everything)


def site_list(pages: str) -> str:
    """The lists of latest matches on pages."""
    return "".join(re.findall(r'<section id="latest">.*?</section>', pages, re.DOTALL))


# --- Fresh, and quick


def test_an_unchanged_page_is_not_sent_again(site: TestClient) -> None:
    """The browser has it already."""
    first = site.get("/")
    again = site.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert site.get("/bot/ann").headers["etag"] != first.headers["etag"]


def test_a_page_shows_what_was_played_since(tmp_path: Path) -> None:
    """As soon as it is stored."""
    home = tmp_path / "home"
    ladder = homes.make(home, ("ann", "bob"), 1)
    with homes.site(home) as site:
        before = site.get("/")
        playing.make(home, "buttons", ("ann", "bob", "cid"), 1)
        after = site.get("/", headers={"If-None-Match": before.headers["etag"]})
        assert after.status_code == 200
        assert "cid@1" in after.text
        assert site.get(f"/ladder/{ladder.id}").status_code == 200


def test_what_is_being_played_is_said(tmp_path: Path) -> None:
    """And that nobody plays, where somebody should go on."""
    home = tmp_path / "home"
    ladder = playing.make(home, "buttons", ("ann", "bob"), 1)
    with store.open(home, checkpoints=True) as db:
        store.ladders.plan(db, ladder, ["ann", "bob"], rounds=2)
    with homes.site(home) as site:
        for address in ("/", f"/ladder/{ladder.id}"):
            with store.database.exclusive(home):
                assert re.search(
                    r"2 of 4 matches , playing now: [0-9.]+/s, about .* left", text(site.get(address).text)
                )
            assert "nobody plays the rest now" in site.get(address).text


def test_a_page_that_is_slow_is_not_made_at_every_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or those who watch would slow down the ladder. When it is over, they see how it ended."""
    ladder = homes.make(tmp_path / "home", ("ann", "bob"), 1)
    monkeypatch.setattr("arena.site.cache.QUICK", 0.0)
    monkeypatch.setattr("arena.site.cache.SHARE", 1e-6)
    with homes.site(tmp_path / "home") as site:
        with store.database.exclusive(tmp_path / "home"):
            before = site.get("/").text
            with store.open(tmp_path / "home", checkpoints=True) as db:
                store.ladders.plan(db, ladder, ["ann", "bob"], rounds=2)
            assert site.get("/").text == before
            assert "2 of 4 matches" in site.get("/?another").text
        assert "nobody plays the rest now" in site.get("/").text


# --- Homes that are not as they should be


def test_a_home_that_is_missing_is_an_empty_site(tmp_path: Path) -> None:
    """And is not made: to look is not to begin."""
    with homes.site(tmp_path / "none") as site:
        assert "No ladder was played here yet" in site.get("/").text
        assert site.get("/compare").status_code == 200
        assert not (tmp_path / "none").exists()
        homes.make(tmp_path / "none", ("ann", "bob"), 1)
        assert "ann@1" in site.get("/").text


@pytest.mark.parametrize("content", [b"", b"this is no database" * 100])
def test_a_broken_home_is_one_plain_page(tmp_path: Path, content: bytes) -> None:
    """It says what to do, and the site comes back by itself when that is done."""
    (tmp_path / "arena.db").write_bytes(content)
    with homes.site(tmp_path) as site:
        answer = site.get("/")
        assert answer.status_code == (503 if content else 200)
        assert "Traceback" not in answer.text
        assert site.get("/docs/docs/data.md").status_code == 200
        (tmp_path / "arena.db").unlink()
        assert site.get("/").status_code == 200


def test_a_home_that_is_replaced_while_it_is_shown(tmp_path: Path) -> None:
    """The site goes on with whatever is there: another home, rubbish, and the home again."""
    home, other = tmp_path / "home", tmp_path / "other"
    homes.make(home, ("ann", "bob"), 1)
    homes.make(other, ("cid", "dot"), 1)
    with homes.site(home) as site:
        assert site.get("/bot/ann").status_code == 200
        home.rename(tmp_path / "aside")
        other.rename(home)
        assert site.get("/bot/ann").status_code == 404
        assert site.get("/bot/cid").status_code == 200
        home.rename(other)
        home.mkdir()
        (home / "arena.db").write_text("rubbish" * 1000)
        assert site.get("/bot/cid").status_code == 503
        (home / "arena.db").unlink()
        home.rmdir()
        (tmp_path / "aside").rename(home)
        assert site.get("/bot/ann").status_code == 200


def test_a_database_that_became_a_pipe_does_not_hold_the_site_up(tmp_path: Path) -> None:
    """Nobody writes into the pipe, so whoever opened it would wait for ever."""
    homes.make(tmp_path, ("ann", "bob"), 1)
    with homes.site(tmp_path) as site:
        assert site.get("/").status_code == 200
        (tmp_path / "arena.db").rename(tmp_path / "arena.old")
        os.mkfifo(tmp_path / "arena.db")
        assert site.get("/").status_code == 503
        (tmp_path / "arena.old").rename(tmp_path / "arena.db")
        assert site.get("/").status_code == 200


def test_a_home_of_a_newer_arena_is_one_plain_page(tmp_path: Path) -> None:
    """Rather than numbers that may be wrong."""
    with store.open(tmp_path) as db:
        db.execute("PRAGMA user_version = 999")
    with homes.site(tmp_path) as site:
        answer = site.get("/")
        assert (answer.status_code, "update the arena" in answer.text) == (503, True)
