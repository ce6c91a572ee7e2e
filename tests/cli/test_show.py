"""What is known of a bot and of a match."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from arena.reports.bot_card import NotableMatch
from arena.reports.fault_card import fault_card
from arena.reports.words import why
from ladder import store
from tests.cli.commands import typed
from tests.cli.conftest import ESCAPES
from tests.cli.test_leaderboard import use_terminal


@pytest.fixture
def forfeited(home: Path) -> store.Match:
    """The match that bob forfeited."""
    with store.open_read(home) as db:
        return store.matches.find(db, store.matches.of_bot(db, "bob@1", 1)[0].id)


def test_a_bot_is_shown_with_its_forfeits_first(forfeited: store.Match) -> None:
    """Who looks a bot up mostly wants to know what went wrong."""
    head, _, sha, *_, columns, _, first, one, two, three, _, _ = typed("show", "bob@1", "-n", "10").out.splitlines()
    assert head == "bob@1: submitted, plays birth"
    assert sha == "sha256 " + 64 * "b"
    assert columns.split() == ["match", "game", "bots", "by", "seat", "seat", "place", "score", "forfeit"]
    assert (first.split()[0], first.split()[-1]) == (forfeited.id, "crash")
    assert not any(line.endswith("crash") for line in (one, two, three))


def test_the_card_tells_how_a_bot_did_in_a_ladder(forfeited: store.Match) -> None:
    """What it reached, against whom, from which seat, and which matches to look at first."""
    told = [line.split() for line in typed("show", "bob@1").out.splitlines()]
    for line in (
        f"birth, 2 players (ladder {forfeited.ladder.id})",
        "rank 2 of 2, rating -18.18, points –",
        "bob@1 2 -18.18 – 4 1 0 3 1",
        "ann@1 -10.93 25.0 (0–99) 2",
        "0 50.0±49.8 2 1 0 1",
        "1 0.0 (0–99) 2 0 0 2",
        f"{forfeited.id} forfeit: crash 0 2 0",
    ):
        assert line.split() in told, line


def test_the_card_of_a_bot_ends_with_what_to_type_next(forfeited: store.Match) -> None:
    """An id alone tells a newcomer nothing; whoever has no matches is told of none."""
    shown = typed("show", "bob@1").out
    before, asked = shown.splitlines()[-2:]
    said, command = asked.split(": ")
    assert (before, said) == ("", "what happened in one of these matches")
    program, *words = command.split()
    assert program == "arena"
    assert typed(*words).out.startswith("match ")
    assert "\nfinished matches in all ladders, and how many of them it forfeited\n" in shown
    assert words[-1] == forfeited.id


@pytest.mark.parametrize(("bot", "told"), [("ann", "none forfeited"), ("bob@1", "and how many of them it forfeited")])
def test_a_card_promises_no_column_that_it_has_not(bot: str, told: str, home: Path) -> None:
    """In the terminal and as a page."""
    assert f"\nfinished matches in all ladders, {told}\n" in typed("show", bot).out
    page = home.parent / "page.html"
    assert typed("show", bot, "--html", page).code == 0
    assert f"Finished matches in all ladders, {told}" in page.read_text()


def test_times_are_told_with_the_limit_and_as_shares_of_frames(home: Path) -> None:
    """Whoever reads a time must know of what it is, how exact it is, and how much was allowed."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=3)
        first = next(store.ladders.scheduled(db, ladder))
        seats = (store.records.SeatOutcome(0, 7), store.records.SeatOutcome(1, 3))
        times = [[0.1] * 98 + [3.0, 1250.5] if label == "bob@1" else [0.1] for label in first.line_up]
        store.matches.record(db, ladder, [store.records.FinishedMatch(first.id, seats, b"", b"", times)])
    told = typed("show", "bob@1").out
    assert "\ntime per decision (limit 1 s, ten times that at first, bank 10 s)\n" in told
    assert ["bob@1", "100", "0.11", "ms", "3.04", "ms", "1.25", "s"] in [line.split() for line in told.splitlines()]
    assert "where several decisions shared a frame, each counts an equal share of its time" in told
    assert "\ndone and not rated yet, so that only times include them: 1 of the ladder's matches\n" in told


@pytest.fixture
def crowded(home: Path) -> Path:
    """A home in which five bots with long names have played at one table, with times."""
    names = [f"the-bot-of-team-{letter}" for letter in "abcde"]
    key = store.records.LadderKey(
        "burning-desire", 5, {}, {"decision": 1.0, "bank": 10.0, "start": 30.0, "cpu": 60.0}, 1
    )
    with store.open(home, checkpoints=True) as db:
        for name in names:
            store.bots.add(
                db,
                store.bots.NewBot(name, digest=64 * name[-1], games=["burning-desire"], run=["x"], origin="submitted"),
            )
        ladder = store.ladders.find_or_make(db, key, draw_probability=0.1)
        store.ladders.plan(db, ladder, names, rounds=4)
        results = []
        for match in store.ladders.scheduled(db, ladder):
            ranks = [names.index(label.partition("@")[0]) for label in match.line_up]
            seats = tuple(store.records.SeatOutcome(rank, 1_000_000 - rank) for rank in ranks)
            results.append(store.records.FinishedMatch(match.id, seats, b"", b"", [[0.5, 1250.5]] * 5))
        store.matches.record(db, ladder, results)
        store.ratings.apply(db, ladder)
    return home


@pytest.mark.parametrize("width", [80, 100])
def test_a_card_fits_a_terminal(crowded: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is folded: it has as many as where nothing is."""
    lines = len(typed("show", "the-bot-of-team-b", "--home", crowded).out.splitlines())
    use_terminal(monkeypatch, width)
    told = typed("show", "the-bot-of-team-b", "--home", crowded).out.splitlines()
    assert (len(told), max(map(len, told)) <= width) == (lines, True)


def test_matches_worth_a_look_tell_who_the_other_was(crowded: Path) -> None:
    """With five at a table nobody could guess it."""
    told = typed("show", "the-bot-of-team-c", "--home", crowded).out
    assert re.search(r"lost to the-bot-of-team-a@1 by 2 +\d +3 +999998\n", told)


def test_an_upset_begins_with_who_was_likely_to_win() -> None:
    """The other way round, the loser would seem to have been likely to lose."""
    lost = NotableMatch(
        id="m",
        why="lost",
        forfeit=None,
        other="random@1",
        expected=0.987,
        margin=None,
        line_up=("planner@1", "random@1"),
        seat=0,
        rank=1,
        score=3,
    )
    won = msgspec.structs.replace(lost, why="won", other="planner@1", expected=0.013, seat=1, rank=0)
    assert why(lost) == "99 % likely to win, yet lost to random@1"
    assert why(won) == "1 % likely to win, yet won against planner@1"


def test_a_new_version_does_not_hide_the_older_ones(crowded: Path) -> None:
    """Whoever has just submitted wants to see what there is to beat."""
    with store.open(crowded, checkpoints=True) as db:
        name = "the-bot-of-team-a"
        store.bots.add(
            db, store.bots.NewBot(name, digest=64 * "0", games=["burning-desire"], run=["x"], origin="submitted")
        )
    told = typed("show", name, "--home", crowded).out
    assert f"{name}@2 has no rated match in it; of {name}@1:\nrank 1 of 5," in told


def test_a_card_has_all_matches_of_an_older_home(crowded: Path) -> None:
    """The first card after an update adds them up, and leaves nothing in the write-ahead log."""
    with store.open_read(crowded) as db:
        assert store.cards.lacking(db) == 480 + 4
    assert "by seat" in typed("show", "the-bot-of-team-a", "--home", crowded).out
    with store.open_read(crowded) as db:
        assert not store.cards.lacking(db)
    log = crowded / "arena.db-wal"
    assert not log.exists() or log.stat().st_size == 0


def test_a_card_that_lacks_something_says_so(crowded: Path) -> None:
    """While a ladder runs, which adds matches to the sums itself, and where nothing can be written."""
    with store.database.exclusive(crowded):
        told = typed("show", "the-bot-of-team-a", "--home", crowded).out
    assert "\nrated and not in points, by opponent and by seat yet: 480 of the ladder's matches\n" in told
    assert "by seat\n" not in told
    assert "rank 1 of 5" in told


def test_a_bot_without_a_ladder_is_told_why(crowded: Path) -> None:
    """That it has not played, or not this game; one that is retired is not sent to a ladder."""
    with store.open(crowded, checkpoints=True) as db:
        store.bots.add(db, store.bots.NewBot("new", digest=64 * "0", games=["birth"], run=["x"], origin="submitted"))
    assert typed("show", "new", "--home", crowded).out.endswith(
        "\nno matches yet: `arena ladder --game birth` plays them\n"
    )
    with store.open(crowded, checkpoints=True) as db:
        store.retirement.retire(db, "new")
    assert typed("show", "new", "--home", crowded).out.endswith("\nno matches\n")
    told = typed("show", "the-bot-of-team-a", "--game", "birth", "--home", crowded).out
    assert told.endswith("\nno version of it has a rated match of BIRTH\n")


@pytest.mark.usefixtures("home")
def test_as_many_matches_are_listed_as_wanted() -> None:
    """All of them, or those of one game."""
    assert len(json.loads(typed("show", "bob@1", "-n", "2", "--json").out)["matches"]) == 2
    assert len(json.loads(typed("show", "bob@1", "--game", "birth", "--json").out)["matches"]) == 4
    assert json.loads(typed("show", "bob@1", "--game", "buttons", "--json").out)["matches"] == []


def test_faults_are_counted_by_version_and_cause(home: Path) -> None:
    """The void ones too: a bot that ends its losses so would be seen."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=3)
        first = next(store.ladders.scheduled(db, ladder))
        store.matches.record(db, ladder, [store.records.VoidMatch(first.id, "overload: …")])
    lines = [line.split() for line in typed("show", "bob").out.splitlines()]
    assert ["version", "matches", "crash", "void"] in lines
    assert ["bob@1", "4", "1", "1"] in lines
    assert ["bob@2", "0", "0", "0"] in lines


def test_a_second_chance_is_told_with_the_way_to_give_it_back(home: Path) -> None:
    """Else nobody knew why a bot plays slowly from now on."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        assert store.chances.use(db, ladder, "bob@1", {"detail": "the process\nexited with code 3"})
        told = typed("show", "bob@1").out
        assert re.search(r"^second chance used in birth, 2 players \(.*: exited with code 3;", told, re.MULTILINE)
        assert "one match at a time there: `arena ladder … --forgive bob@1` gives it back\n" in told
        assert "second chance" not in typed("show", "ann").out
        assert store.chances.forgive(db, ladder, "bob@1")
    assert re.search(r"^second chance used .*; given back \d", typed("show", "bob@1").out, re.MULTILINE)
    (chance,) = json.loads(typed("show", "bob@1", "--json").out)["chances"]
    assert (chance["ladder"], chance["fault"]) == (ladder.id, "the process\nexited with code 3")
    assert chance["used"] <= chance["forgiven"]


@pytest.mark.usefixtures("home")
def test_a_name_means_the_newest_version() -> None:
    """As everywhere."""
    assert typed("show", "bob").out.splitlines()[0].startswith("bob@2: ")
    assert "\nbob@2 has no rated match in it; of bob@1:\n" in typed("show", "bob").out


@pytest.mark.usefixtures("home")
def test_a_built_in_bot_is_known_before_its_first_match() -> None:
    """`arena bots` lists it, so `arena show` knows it."""
    assert typed("show", "random").out.startswith("random: built-in, plays birth")


def test_a_match_is_found_by_the_beginning_of_its_id(forfeited: store.Match) -> None:
    """With what each seat did, and the seed, as the group is done."""
    shown = typed("show", forfeited.id[:7]).out
    assert shown.startswith(f"match {forfeited.id}: birth, ladder {forfeited.ladder.id}, done\n")
    heads, _, *seats = (line.split() for line in shown[shown.index("seat  bot") :].splitlines()[:4])
    assert heads == ["seat", "bot", "place", "score", "answers", "thought", "longest", "forfeit"]
    assert ["bob@1", "2", "0", "3", "0.500", "s"] in [row[1:7] for row in seats]  # it crashed at decision 4
    assert f"seed {forfeited.seed.hex() if forfeited.seed else ''}\n" in shown


def test_a_forfeit_is_shown_with_its_evidence(forfeited: store.Match) -> None:
    """Reason, exit, request and last words; nothing of it can do anything to a terminal."""
    seat = forfeited.line_up.index("bob@1")
    shown = typed("show", forfeited.id).out
    escaped = r"\x1b[31mred\x1b[0m \u202e \x07"
    for line in (
        f"seat {seat} (bob@1) forfeited at decision 4: crash: the process was killed {escaped}",
        '  it was asked: {"decision": 4, "legal": [1, 2, 3], "match": 1}',
        "  match 1: a process counts the matches that it plays, and this was its number",
        "  legal were: play 2, play 3, play 4",
        "  it answered: nothing",
        "  it had: 1 s, ten times that for its first decision, and 0 s in the bank",
        "  the process: was killed by SIGSEGV",
        "  started as: './my bot' --fast",
        f"  | last words {escaped}",
        f"  again: arena debug {forfeited.id} --seat {seat} --at 4 bob@1",
    ):
        assert line in shown.splitlines()


@pytest.mark.parametrize(
    ("charged", "words"),
    [
        (12.5, ""),
        (None, ""),  # of an arena before this one
        (10.25, ", charged 10.250 s: the machine was busy elsewhere"),
        (21.0, ", charged 21.000 s: it worked on several processors at once"),
    ],
)
def test_time_is_shown_by_the_wall_and_as_it_was_charged(
    charged: float | None, words: str, forfeited: store.Match
) -> None:
    """Its author would wonder."""
    seat = forfeited.line_up.index("bob@1")
    outcome = forfeited.seats[seat]
    evidence = {**(outcome.evidence or {}), "answer": 2, "seconds": 12.5, "charged": charged}
    seats = [*forfeited.seats[:seat], outcome._replace(evidence=evidence), *forfeited.seats[seat + 1 :]]
    told = list(fault_card(forfeited._replace(seats=tuple(seats)), seat))
    assert f"  it answered: 2 (play 3) after 12.500 s{words}" in told


def test_programs_get_the_evidence_as_it_is(forfeited: store.Match) -> None:
    """JSON escapes by itself; nothing is lost."""
    data = json.loads(typed("show", forfeited.id, "--json").out)
    (evidence,) = [seat["evidence"] for seat in data["seats"] if seat["forfeit"]]
    assert evidence["output"][1] == f"last words {ESCAPES}"
    assert set(data["ratings"]) == {"ann@1", "bob@1"}


def test_a_match_that_is_still_to_be_played_says_so(home: Path) -> None:
    """And why it was void, and nothing of its seed, from which its dice could be foreseen."""
    with store.open(home, checkpoints=True) as db:
        (ladder,) = store.ladders.all(db)
        store.ladders.plan(db, ladder, ["ann", "bob@1"], rounds=3)
        first = next(store.ladders.scheduled(db, ladder))
        store.matches.record(db, ladder, [store.records.VoidMatch(first.id, "internal: Traceback\n  …\nKeyError: 7\n")])
    shown = typed("show", first.id).out.splitlines()
    assert shown[0].endswith(", scheduled")
    assert shown[2:] == [
        "was void: KeyError: 7",
        "seed shown when every match of its group is done",
        f"line-up {', '.join(first.line_up)}",
    ]


def test_whose_questions_are_put_is_asked_where_nobody_forfeited(home: Path) -> None:
    """With the seats and their bots, so that one need not look the match up."""
    with store.open_read(home) as db:
        clean = store.matches.find(db, store.matches.of_bot(db, "bob@1", 4)[-1].id)
    one, other = clean.line_up
    for words, wrong in (([], "say whose questions"), (["--seat", "2"], "no seat 2")):
        ran = typed("debug", clean.id, "bob@1", *words)
        assert (ran.code, ran.out) == (2, "")
        assert f"{wrong}: match {clean.id} has --seat 0 ({one}), --seat 1 ({other})" in ran.err


def test_a_bot_is_a_page_to_send(home: Path, cwd: Path) -> None:
    """One file that asks for nothing from elsewhere and leads nowhere, with what the site shows."""
    ran = typed("show", "ann", "--html", "ann.html")
    assert (ran.code, ran.out) == (0, "ann.html\n")
    page = (cwd / "ann.html").read_text()
    assert "<h1>ann@1</h1>" in page
    assert "<style>" in page
    assert re.findall(r"""(?:href|src)="(?!data:)[^"#]""", page) == []
    assert "<nav" not in page
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page
    assert home.exists()


@pytest.mark.usefixtures("home")
def test_each_bot_has_its_page_in_a_folder(cwd: Path) -> None:
    """Of its newest version; again, they are replaced, but nothing that is no page."""
    for _ in range(2):
        assert typed("show", "--html-all", "cards").out == "2 pages in cards\n"
    assert [path.name for path in sorted((cwd / "cards").iterdir())] == ["ann.html", "bob.html"]
    assert "<h1>bob@2</h1>" in (cwd / "cards/bob.html").read_text()
    (cwd / "cards/ann.html").write_text("a letter")
    (cwd / "cards/bob.html").unlink()
    refused = typed("show", "--html-all", "cards")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert [path.read_text() for path in (cwd / "cards").iterdir()] == ["a letter"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", 2),
        ("--html x.html", 2),
        ("ann --html-all x", 2),
        ("ann --html x.html --json", 2),
        ("ann --html x.html --html-all x", 2),
        ("nobody --html x.html", 1),
    ],
)
def test_what_is_no_page_of_a_bot_is_said(words: str, code: int, cwd: Path) -> None:
    """In one line, and no file is written."""
    ran = typed("show", *words.split())
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (code, "", 1)
    assert not (cwd / "x.html").exists()
