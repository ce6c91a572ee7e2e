"""What an organiser corrects by hand, and what everybody else then sees of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena import games, roster
from ladder import store
from tests.cli.commands import typed

BOARD = ("leaderboard", "--game", "birth")
WHY = ("--why", "it read the seeds")


def first_match(home: Path) -> str:
    with store.open_read(home) as db:
        return str(db.execute("SELECT id FROM matches ORDER BY seq").fetchone()[0])


def test_an_annulled_match_says_so_wherever_it_is_shown(home: Path) -> None:
    """With the day, the user and the reason, to people and to programs; and the headline counts it."""
    match = first_match(home)
    ran = typed("annul", match[:8], "--why", "the machine\nslept")
    assert ran.out.startswith("annulled 2 matches; ratings computed anew: ladder ")
    shown, card = typed("show", match).out, json.loads(typed("show", match, "--json").out)
    assert ", annulled\nit does not count: annulled on " in shown
    assert f"by {card['annulled']['who']}: the machine slept\n" in shown
    assert (card["status"], card["annulled"]["why"], len(card["seats"])) == ("annulled", "the machine slept", 2)
    board = typed(*BOARD).out
    assert "2 matches, 2 annulled\n" in board
    assert "annulled matches count for nothing here: `arena log` says why" in board
    assert typed("annul", match, *WHY).err.endswith(": the machine slept\n")


def test_an_annulment_settles_the_ratings_of_what_is_left(home: Path) -> None:
    """At once: nobody has to know a second command."""
    typed("annul", first_match(home), *WHY)
    board = json.loads(typed(*BOARD, "--json").out)
    assert board["matches"] == {"to_play": 0, "done": 2, "rated": 2, "unplayable": 0, "dropped": 0, "annulled": 2}
    assert board["settled_matches"] == 2
    assert typed("annul", "bob@1", *WHY).out.startswith("annulled 2 matches; ")
    assert json.loads(typed(*BOARD, "--json").out)["bots"] == []


@pytest.mark.usefixtures("home")
def test_the_card_of_a_bot_says_that_its_matches_were_annulled() -> None:
    """Not that it has none yet."""
    typed("annul", "ann", *WHY)
    shown = typed("show", "ann").out
    assert shown.endswith("all its matches were annulled: `arena log` says why\n")
    assert [line.split() for line in shown.splitlines() if line.startswith(("version", "ann@1  "))] == [
        ["version", "matches", "void", "annulled"],
        ["ann@1", "0", "0", "4"],
    ]


def test_ratings_that_an_interruption_left_are_computed_by_the_next_command(home: Path) -> None:
    """Whichever that is: here the leaderboard."""
    with store.open(home) as db:
        store.annulment.annul_match(db, first_match(home), "why")
    board = typed(*BOARD).out
    assert "2 matches, 0 rated, 2 annulled\n" in board
    assert "2 matches, 2 annulled\n" in typed(*BOARD, "--settle").out


@pytest.mark.usefixtures("home")
def test_a_banned_bot_stays_out_until_the_ban_is_lifted() -> None:
    """Whoever tries to bring it back reads why it is out."""
    assert typed("ban", "bob", "--keep", *WHY).out == "banned bob; annulled 0 matches\n"
    assert "bob@1 (banned)" in typed(*BOARD).out
    assert "submitted, banned" in typed("bots").out
    assert "\nbanned on " in typed("show", "bob").out
    Path("bob.py").write_text("raise SystemExit")
    for words in (["retire", "bob@1", "--undo"], ["submit", "bob.py", "--sandbox=D"]):
        ran = typed(*words)
        assert (ran.code, "it read the seeds (to lift it: `arena ban bob --undo --why TEXT`)" in ran.err) == (1, True)
    ran = typed("ladder", "--game", "birth", "--bots", "ann,bob", "--sandbox=D")
    assert (ran.code, "'bob' cannot play: it was banned on" in ran.err) == (1, True)
    assert "already, on" in typed("ban", "bob", *WHY).err
    assert typed("ban", "bob", "--undo", *WHY).code == 0
    assert typed("retire", "bob", "--undo").out == "back in the field: bob@1, bob@2\n"


@pytest.mark.usefixtures("home")
def test_a_renamed_bot_is_shown_by_both_names() -> None:
    """The other name is for people, and the own one for commands; programs find what they found before."""
    before = json.loads(typed(*BOARD, "--json").out)
    assert typed("rename", "ann", " Team   Gamma ").out == "ann is shown as Team Gamma (ann)\n"
    for words in ([*BOARD], [*BOARD, "--cross"], ["show", "ann"], ["bots"]):
        assert "Team Gamma (ann@1)" in typed(*words).out
    after = json.loads(typed(*BOARD, "--json").out)
    assert [bot.pop("title") for bot in after["bots"]] == ["Team Gamma", None]
    assert [bot.pop("title") for bot in before["bots"]] == [None, None]
    assert after == before
    assert typed("rename", "ann", "ann").out == "ann is shown as ann\n"
    assert "Team" not in typed(*BOARD).out


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("title", "shown"),
    [("Ünal & Söhne", "Ünal & Söhne"), ("Команда 7", "Команда 7"), ("チーム漢字", "チーム漢字"), ("ｆｕｌｌ", "full")],
)
def test_a_name_for_people_may_be_of_any_script(title: str, shown: str) -> None:
    """But of one only, and letters that only look wider are the usual ones."""
    assert typed("rename", "ann", title).out == f"ann is shown as {shown} (ann)\n"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Bоb", "mixes letters of CYRILLIC and LATIN"),
        ("BOB", "could be taken for 'bob'"),
        ("b0b", "could be taken for 'bob'"),
        ("b o-b.", "could be taken for 'bob'"),
        ("Bőb", "could be taken for 'bob'"),
        ("7\u3164", "1 to 32"),  # an invisible letter
        ("...", "1 to 32"),
        ("שלום", "would turn the rows of tables around"),
        ("漢" * 17, "1 to 32"),  # each takes two columns
        ("o\u0308" * 2 + "\u0302" * 9, "1 to 32"),  # a pile of accents that no letter has
        ("a\u200bnn", "1 to 32"),
    ],
)
def test_a_name_for_people_is_taken_for_no_other(title: str, said: str) -> None:
    """Nor does it upset a table."""
    ran = typed("rename", "ann", title)
    assert (ran.code, said in ran.err) == (1, True), ran.err


@pytest.mark.usefixtures("home")
def test_nobody_submits_a_bot_that_is_called_like_another_for_people() -> None:
    """Whoever has the name for people was there before."""
    typed("rename", "ann", "Cop 1")
    Path("cop-1.py").write_text("raise SystemExit")
    assert "'cop-1' could be taken for 'Cop 1'" in typed("submit", "cop-1.py", "--sandbox=D").err


def test_a_match_shows_the_names_for_people(home: Path) -> None:
    """By seat, and to programs by label."""
    typed("rename", "bob", "Bobby")
    assert "Bobby (bob@1)" in typed("show", first_match(home)).out
    assert json.loads(typed("show", first_match(home), "--json").out)["titles"] == {"bob@1": "Bobby"}


@pytest.mark.usefixtures("home")
def test_the_log_has_the_newest_last() -> None:
    """With the user and the reason; what older arenas did has no user."""
    typed("annul", "bob", *WHY)
    typed("rename", "ann", "Annie")
    *lines, digest = typed("log").out.splitlines()
    assert [line.split()[4] for line in lines[2:]] == ["submit"] * 3 + ["annul", "rename"]
    assert lines[-2].endswith("bob    4 matches; it read the seeds")
    assert lines[-1].endswith("shown as Annie")
    *_, last = json.loads(typed("log", "--json").out)["corrections"]
    assert (last["what"], last["subject"], last["title"]) == ("rename", "ann", "Annie")
    assert digest == f"sha256 {last['digest']}"
    *few, digest_of_few = typed("log", "-n", "2").out.splitlines()
    assert (few[2:], digest_of_few) == (lines[-2:], digest)


def test_a_reason_from_outside_is_printed_safely(home: Path) -> None:
    """It is written by one and read by all, on their terminals."""
    match = first_match(home)
    typed("annul", match, "--why", "\x1b[2Jgone\u202e")
    for words in (["show", match], ["log"], ["annul", match, *WHY]):
        ran = typed(*words)
        assert r"\x1b[2Jgone\u202e" in ran.out + ran.err
        assert all(line.isprintable() for line in (ran.out + ran.err).splitlines())


def test_a_banned_built_in_bot_is_in_no_field(home: Path) -> None:
    """Not even where an update of the arena brings another version, which is not entered yet when a field is chosen."""
    game = games.game("birth")
    before = roster.check_field(home, game, 2, None)
    typed("ban", "random", *WHY)
    with store.open(home) as db:
        db.execute("UPDATE versions SET digest = 'of an older arena' WHERE name = 'random'")
    assert roster.check_field(home, game, 2, None) == [bot for bot in before if bot != "random"]
    assert "'random' cannot play: it was banned on" in typed("ladder", "--game", "birth", "--bots", "random,ann").err


@pytest.mark.usefixtures("home")
def test_matches_of_a_host_are_named_alone() -> None:
    """Not with a match or a bot, of which it is not clear what would be meant; and nothing is annulled for no host."""
    for words in (("ann", "--host", "two"), ()):
        ran = typed("annul", *words, *WHY)
        assert (ran.code, "one of them" in ran.err) == (2, True)
    ran = typed("annul", "--host", "two", *WHY)
    assert (ran.code, ran.err) == (1, "Error: no match counts that is of host two: nothing is annulled\n")
