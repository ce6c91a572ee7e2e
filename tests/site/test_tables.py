"""People play at tables of a site: as many as there may be, each match by itself, and nothing is left behind."""

from __future__ import annotations

import asyncio
import re
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import psutil
import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from arena import games
from arena.replay import document, unrated_store
from arena.site.app import Site
from arena.site.security import FORM, LARGEST
from arena.site.tables import FAILED, FORGOTTEN, IDLE_SECONDS, LEFT, OPEN_TABLES, PlayTable, Stale, Tables
from ladder import store
from tests.site import homes, matches
from tests.site.people import ASKS, Person, fake, real, seat
from tests.tournament import programs

CRASHES = programs.program("def choose(self, turn): raise ValueError('too hard')")
PATIENCE = 60  # seconds, on a busy machine


class Asking:
    """A site whose tables do nothing but ask, and a table."""

    def __init__(self, site: TestClient, tables: Tables) -> None:
        self.site = site
        self.address = sit_down(site)
        self.table = tables.find(self.address.removeprefix("/play/"))

    def told(self, sign: str) -> str:
        """Wait until the table tells something with this text in it; return all that it told then."""
        assert self.site.portal is not None
        assert self.table is not None
        return self.site.portal.call(told, self.table, sign)

    def choose(self, question: int, action: object) -> int:
        """Answer a question; return the status."""
        return self.send("choice", question=question, action=action).status_code

    def send(self, what: str, **form: object) -> Response:
        """Send a form of the table's page."""
        path, headers = f"{self.address}/{what}", {"Content-Type": FORM}
        return self.site.post(path, data=form, headers=headers, follow_redirects=False)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    """Such a site, for one that comes from a page of it."""
    tables = fake(ASKS)
    with TestClient(Site(tmp_path, "127.0.0.1", tables=tables).app, base_url=homes.BASE) as client:
        client.headers |= {"Origin": homes.BASE}
        yield Asking(client, tables)


def sit_down(site: TestClient, **form: object) -> str:
    """Sit down at a new table; return its address."""
    answer = site.post("/play", data={"game": "birth", "bot": "random", "seat": "0", **form}, follow_redirects=False)
    assert answer.status_code == 303
    return answer.headers["location"]


async def told(table: PlayTable, sign: str) -> str:
    """Wait until a table tells something with this text in it; return all that it told then."""
    async with asyncio.timeout(PATIENCE):
        async for state in table.events():
            if sign in state:
                return state
    raise AssertionError(f"the match ended without {sign}")


def processes() -> set[psutil.Process]:
    """All processes below this one."""
    return set(psutil.Process().children(recursive=True))


# --- A match


@pytest.mark.long
@pytest.mark.parametrize("name", games.names())
def test_a_match_of_every_game_is_played_and_kept(name: str, tmp_path: Path) -> None:
    """As in a terminal, with every seat taken. What was chosen is what the match has."""
    bots = ["random"] * (games.game(name).seats[-1] - 1)
    tables = real(tmp_path)
    table = tables.add(seat(name, *bots, seat=1)).name
    with homes.Served(tmp_path, tables) as address:
        chosen, seen = Person(address).play(table, lambda choices: choices[-1])
    end = seen[-1]
    assert (end["step"]["over"], end["question"], end["end"]["kept"]) == (True, None, "unrated-1")
    shown = unrated_store.find_match(tmp_path, "unrated-1")
    document.check_document(shown)
    assert shown.bots == ("random", "you", *bots[1:])
    assert shown.forfeits == ()
    assert end["step"]["scores"] == list(shown.scores)
    assert chosen == [action for seat, action in shown.choices if seat == 1]


def test_nobody_sees_the_seed_before_the_end(tmp_path: Path) -> None:
    """Who knew it could foresee the dice."""
    tables = real(tmp_path)
    table = tables.add(seat("birth", "random")).name
    with homes.Served(tmp_path, tables) as address:
        _, seen = Person(address).play(table, lambda choices: choices[0])
    seed = unrated_store.find_match(tmp_path, "unrated-1").seed
    assert len(seen) > 10
    assert seed not in str(seen)


def test_the_news_begin_with_the_last_own_choice(tmp_path: Path) -> None:
    """And go on to the board that is shown, with what others chose and what was rolled."""
    tables = real(tmp_path)
    table = tables.add(seat("birth", "random", "random")).name
    with homes.Served(tmp_path, tables) as address:
        _, seen = Person(address).play(table, lambda choices: choices[0])
    asked = [state for state in seen if state.get("question") and state["number"]]
    assert asked
    for state in asked:
        assert [choice["seat"] for each in state["news"] for choice in each["choices"]] == [0, 1, 2]
        assert state["news"][-1]["choices"] == state["step"]["choices"]
        assert state["news"][-1]["rolls"] == state["step"]["rolls"]


def test_a_bot_that_crashes_is_told(tmp_path: Path) -> None:
    """As an event, and at the end; the person has won."""
    programs.write(tmp_path, crashes=CRASHES)
    tables = real(tmp_path)
    table = tables.add(seat("birth", str(tmp_path / "crashes.py"))).name
    with homes.Served(tmp_path, tables) as address:
        _, seen = Person(address).play(table, lambda choices: choices[0])
    end = seen[-1]
    assert "seat 1 forfeits: crash" in str(end["news"])
    assert "forfeited in step 2: crash" in end["end"]["told"][0]
    assert end["step"]["ranks"] == [0, 1]


def test_hostile_names_are_harmless(tmp_path: Path) -> None:
    """Who plays against a file has a path on the page."""
    hostile = tmp_path / matches.HOSTILE[1] / "first.py"
    hostile.parent.mkdir()
    hostile.write_text(programs.FIRST)
    tables = real(tmp_path)
    table = tables.add(seat("birth", str(hostile))).name
    with homes.Served(tmp_path, tables) as address:
        _, seen = Person(address).play(table, lambda choices: choices[0])
    assert matches.HARMLESS[1] in seen[-1]["match"]["bots"][1]
    assert not {"\x1b", "\u202e"} & set(str(seen))


# --- Choices


async def test_a_question_is_answered_once() -> None:
    """A second click, or another window, comes too late and changes nothing, also before the next question."""
    tables = fake("ask(1); tell(heard=json.loads(sys.stdin.readline())); sys.stdin.read()")
    async with tables.open():
        table = tables.add(seat("birth", "random"))
        await table.begin()
        await told(table, '"number":1')
        await table.choose(1, 4)
        with pytest.raises(Stale):
            await table.choose(1, 7)
        assert '"heard":{"question":1,"action":4}' in await told(table, "heard")


def test_a_choice_that_comes_too_late_is_said_so(asking: Asking) -> None:
    """And one that comes too early."""
    asking.told('"number":1')
    assert [asking.choose(2, 4), asking.choose(1, 4)] == [409, 204]
    asking.told('"number":2')
    assert [asking.choose(1, 4), asking.choose(2, 7)] == [409, 204]


@pytest.mark.parametrize("action", ["5", "-4", "4.0", "", "99999999999999999999", "four", "\u0664"])
def test_what_is_no_choice_is_refused(asking: Asking, action: str) -> None:
    """And the match goes on."""
    asking.told('"number":1')
    assert asking.choose(1, action) == 400
    assert asking.choose(1, 4) == 204


def test_nobody_answers_before_a_question(tmp_path: Path) -> None:
    """While bots start, say."""
    tables = fake("sys.stdin.read()")
    with TestClient(Site(tmp_path, "127.0.0.1", tables=tables).app, base_url=homes.BASE) as site:
        site.headers |= {"Origin": homes.BASE}
        answer = site.post(f"{sit_down(site)}/choice", data={"question": 1, "action": 4})
    assert answer.status_code == 409


def test_who_does_not_know_the_address_does_not_play(asking: Asking) -> None:
    """It cannot be guessed, and another one is not there."""
    assert len(asking.address.removeprefix("/play/")) >= 22  # characters of six bits
    assert asking.address != sit_down(asking.site)
    other = asking.address[:-1] + ("A" if asking.address[-1] != "A" else "B")
    for path in ("", "/events"):
        assert asking.site.get(other + path).status_code == 404
    for path in ("/choice", "/leave", "/again"):
        assert asking.site.post(other + path, data={"question": 1, "action": 4}).status_code == 404


def test_an_address_can_be_opened_again(asking: Asking) -> None:
    """All that there is to show comes at once."""
    asking.told('"number":1')
    asking.choose(1, 4)
    asking.told('"number":2')
    assert asking.told('"number":2') == asking.told('"number":2')
    assert asking.site.get(asking.address).status_code == 200


# --- Who may send what


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://127.0.0.1:81",
        "http://127.0.0.1.evil.example",
        "127.0.0.1",
        "",
        "http://[",
    ],
)
def test_only_pages_of_the_site_send_forms(asking: Asking, origin: str | None) -> None:
    """Any page in the world could send one to 127.0.0.1, but browsers say which one it was."""
    asking.told('"number":1')
    del asking.site.headers["Origin"]
    headers = {} if origin is None else {"Origin": origin}
    for path in ("/play", f"{asking.address}/choice", f"{asking.address}/leave", f"{asking.address}/again"):
        answer = asking.site.post(path, data={"question": 1, "action": 4}, headers=headers)
        assert answer.status_code == 403
    assert asking.site.post("/play", headers={**headers, "Host": "evil.example"}).status_code == 421


def test_only_small_forms_are_taken(asking: Asking) -> None:
    """Nothing else is ever sent by a page of the site."""
    for content_type in ("application/json", "text/plain", "multipart/form-data; boundary=a"):
        headers = {"Content-Type": content_type}
        assert asking.site.post("/play", content=b"{}", headers=headers).status_code == 415
    sizes = {LARGEST: 400, LARGEST + 1: 413}  # what is small enough is read: there is no such game
    for size, code in sizes.items():
        body = b"game=".ljust(size, b"b")
        assert asking.site.post("/play", content=body, headers={"Content-Type": FORM}).status_code == code
    both = {"Content-Type": FORM, "Content-Length": "5", "Transfer-Encoding": "chunked"}
    assert asking.site.post("/play", content=iter([b"a" * 9000]), headers=both).status_code == 400
    unknown_length = asking.site.post("/play", content=iter([b"game=birth"]), headers={"Content-Type": FORM})
    assert unknown_length.status_code == 413


def test_forms_are_taken_only_where_people_play(asking: Asking, tmp_path: Path) -> None:
    """And nowhere on a site that lets nobody play."""
    for path in ("/", "/compare", "/player", "/unrated/1", "/static/table.js"):
        assert asking.site.post(path, data={"game": "birth"}).status_code == 405
    assert asking.site.put("/play", data={"game": "birth"}).status_code == 405
    with homes.site(tmp_path) as site:
        assert site.post("/play", data={"game": "birth"}, headers={"Origin": homes.BASE}).status_code == 405
        assert site.get("/play").status_code == 404
        assert "/play" not in site.get("/").text


def test_matches_played_last_are_found_again(tmp_path: Path) -> None:
    """From where one begins to play: who closed the page has no other link."""
    with homes.Served(tmp_path, fake(ASKS)) as address:
        assert "/unrated/" not in urllib.request.urlopen(f"{address}/play", timeout=PATIENCE).read().decode()
    unrated_store.keep(tmp_path, [matches.exported("birth-2")] * 12)
    with homes.Served(tmp_path, fake(ASKS)) as address:
        page = urllib.request.urlopen(f"{address}/play", timeout=PATIENCE).read().decode()
    assert re.findall(r'href="/unrated/(\d+)"', page) == [str(number) for number in range(12, 2, -1)]
    shown = matches.exported("birth-2")
    winner = shown.ranks.index(0)
    assert f"1. <bdi>{shown.bots[winner]}</bdi> {shown.scores[winner]}" in page


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"bot": "./mine.py"}, "no bot"),
        ({"bot": "/etc/passwd"}, "no bot"),
        ({"bot": "attach:"}, "no bot"),
        ({"bot": "--home=/tmp"}, "no bot"),
        ({"bot": "<script>alert(1)</script>"}, "no bot"),
        ({"bot": ""}, "choose another one"),
        ({"bot": []}, "not 1"),
        ({"bot": ["random"] * 3}, "not 4"),
        ({"seat": "2"}, "the seats 0 to 1"),
        ({"seat": "-1"}, "the seats 0 to 1"),
        ({"seat": ""}, "the seats 0 to 1"),
        ({"game": "chess"}, "unknown game"),
        ({"game": ["birth", "birth"]}, "unknown game"),
    ],
)
def test_only_bots_of_the_home_are_played_against(asking: Asking, form: dict[str, object], why: str) -> None:
    """By their names, never by a file; and as many as the game is for."""
    answer = asking.site.post("/play", data={"game": "birth", "bot": "random", "seat": "0", **form})
    assert (answer.status_code, why in answer.text) == (400, True)
    assert "<script>alert" not in answer.text


def test_the_form_proposes_the_bots_that_play_the_game(tmp_path: Path) -> None:
    """Also submitted ones, under the names that they were given for people, whatever these are."""
    homes.make(tmp_path, ("ann", "bob", "cid"), 1)
    with store.open(tmp_path) as db:
        store.retirement.retire(db, "bob")
        store.bots.rename(db, "ann", "<b>Ann</b>")
        store.bots.add(db, store.bots.NewBot("dot", "d" * 64, games=["birth"], run=["./run"], origin="submitted"))
    with TestClient(Site(tmp_path, "127.0.0.1", look=0.0, tables=fake(ASKS)).app, base_url=homes.BASE) as site:
        buttons, birth = site.get("/play?game=buttons").text, site.get("/play?game=birth").text
        assert site.get("/play?game=chess").status_code == 404
        assert site.get("/play").headers["referrer-policy"] == "same-origin", "or forms would come from nowhere"
    assert '<option value="ann@1">&lt;b&gt;Ann&lt;/b&gt; (ann@1)</option>' in buttons
    assert '<option value="cid@1">' in buttons
    assert "bob@1" not in buttons
    assert '<option value="planner" selected>' in buttons
    assert ("dot@1" in birth, "dot@1" in buttons) == (True, False)


@pytest.mark.parametrize("name", games.names())
def test_whatever_the_form_offers_can_be_played(asking: Asking, name: str) -> None:
    """It has as many opponents and seats as the chosen number of players asks for, and no impossible choice."""
    links = re.findall(r'href="(/play\?game=\w[^"]*players=\d)"', asking.site.get(f"/play?game={name}").text)
    assert [int(link[-1]) for link in links] == list(games.game(name).seats)
    for link, players in zip(map(unescape, links), games.game(name).seats, strict=True):
        page = asking.site.get(link).text
        assert page.count('name="bot"') == players - 1
        (seats,) = re.findall(r'name="seat">(.*?)</select>', page, re.DOTALL)
        assert re.findall(r"<option>(\d)", seats) == [str(seat) for seat in range(players)]
        sit_down(asking.site, game=name, bot=["random"] * (players - 1), seat=players - 1)


def test_every_page_leads_to_the_tables(tmp_path: Path) -> None:
    """At its top, and only where people can play: whoever reads about a match may want to play one."""
    ladder = homes.make(tmp_path / "home", ("ann", "bob"), 1)
    with store.open_read(tmp_path / "home") as db:
        match = store.watching.latest_matches(db, 1)[0].id
    pages = ["/", f"/ladder/{ladder.id}", "/bot/ann", f"/match/{match}", "/compare", "/docs/", "/nothing"]
    with homes.site(tmp_path / "home") as site:
        assert [path for path in pages if 'href="/play"' in site.get(path).text] == []
    with_tables = Site(tmp_path / "home", "127.0.0.1", tables=fake(ASKS))
    with TestClient(with_tables.app, base_url=homes.BASE) as site:
        assert [path for path in [*pages, "/play"] if '<a href="/play">Play</a>' not in site.get(path).text] == []


# --- How it ends


def test_the_ninth_table_has_to_wait(asking: Asking) -> None:
    """Until somebody leaves."""
    for _ in range(OPEN_TABLES - 1):
        sit_down(asking.site)
    form = {"game": "birth", "bot": "random", "seat": "0"}
    full = asking.site.post("/play", data=form)
    assert (full.status_code, "All tables are taken" in full.text) == (503, True)
    assert asking.send("again").status_code == 503
    assert asking.send("leave").headers["location"] == "/play"
    assert LEFT in asking.told("end")
    sit_down(asking.site)


def test_who_plays_again_has_the_same_opponents(asking: Asking) -> None:
    """At a new table."""
    again = asking.send("again")
    assert again.status_code == 303
    assert again.headers["location"] != asking.address


async def test_a_table_that_everybody_left_ends() -> None:
    """After ten minutes without a request or a choice, and no other one with it."""
    now = 0.0
    tables = fake(ASKS, clock=lambda: now)
    async with tables.open():
        left, played = tables.add(seat("birth", "random")), tables.add(seat("birth", "random"))
        for table in (left, played):
            await table.begin()
        now = IDLE_SECONDS
        await tables.end_idle()
        assert not left.is_over
        assert tables.find(played.name) is played
        now = IDLE_SECONDS + 1
        await tables.end_idle()
        assert (left.is_over, played.is_over) == (True, False)
        assert FORGOTTEN in await told(left, "end")


async def test_tables_that_are_over_are_forgotten_in_the_end() -> None:
    """Their results can be looked at for a while; but whoever starts and leaves for ever fills no memory."""
    tables = fake("")
    async with tables.open():
        made = []
        for _ in range(3 * OPEN_TABLES):
            made.append(tables.add(seat("birth", "random")))
            await made[-1].begin()
            await made[-1].end(LEFT)
        there = [table for table in made if tables.find(table.name)]
    assert there == made[-OPEN_TABLES:]


async def test_a_process_that_fails_is_told_and_hurts_no_other_table() -> None:
    """Whatever it printed last."""
    failing = "if 'buttons' in sys.argv: print('{\"half', end=''); sys.exit(1)\n"
    tables = fake(failing + ASKS)
    async with tables.open():
        fails, plays = tables.add(seat("buttons", "random")), tables.add(seat("birth", "random"))
        for table in (plays, fails):
            await table.begin()
        assert FAILED in await told(fails, "end")
        await told(plays, '"number":1')
        await plays.choose(1, 4)
        assert '"end"' not in await told(plays, '"number":2')


async def test_what_rules_print_is_no_state() -> None:
    """A game from elsewhere may print for its author."""
    lines = ("here", "[1]", "7", '{"end": 3}', '{"question": {"number": 1}}', "[" * 100_000)
    tables = fake("".join(f"print({line!r})\n" for line in lines) + ASKS)
    async with tables.open():
        table = tables.add(seat("birth", "random"))
        await table.begin()
        await told(table, '"number":1')


async def test_a_line_without_an_end_ends_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would fill the memory of the site. The other tables go on."""
    monkeypatch.setattr("arena.site.tables.LONGEST_NAME", 1000)
    tables = fake("print('a' * 1_000_000, flush=True); sys.stdin.read()")
    async with tables.open():
        table = tables.add(seat("birth", "random"))
        await table.begin()
        assert FAILED in await told(table, "end")
        assert table.is_over


async def test_a_table_that_cannot_be_set_up_takes_no_place() -> None:
    """Its process could not be started."""
    tables = Tables(["/nowhere/python"])
    async with tables.open():
        for _ in range(2 * OPEN_TABLES):
            table = tables.add(seat("birth", "random"))
            with pytest.raises(OSError, match="nowhere"):
                await table.begin()


async def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With those that it started."""
    monkeypatch.setattr("arena.site.tables.ENDING", 0.2)
    stubborn = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    signal.pause()
tell(ready=True)
signal.pause()
"""
    before = processes()
    tables = fake(stubborn)
    async with tables.open():
        table = tables.add(seat("birth", "random"))
        await table.begin()
        await told(table, "ready")
        ours = processes() - before
        assert len(ours) == 2
    assert psutil.wait_procs(ours, PATIENCE)[1] == []


async def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """Neither bots nor the person's process, whether the site ends in the middle of a match or before it has begun."""
    before = processes()
    tables = real(tmp_path)
    async with tables.open():
        asked, begun = tables.add(seat("birth", "random")), tables.add(seat("birth", "random"))
        await asked.begin()
        await told(asked, '"question":{')
        await begun.begin()
        ours = processes() - before
        assert len(ours) >= 4
    assert psutil.wait_procs(ours | (processes() - before), PATIENCE)[1] == []
    assert not (tmp_path / "unrated").exists()
