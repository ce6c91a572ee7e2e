"""What `--json` prints is a report, whole and nothing else: `scripts/reference` writes the page about it from them."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
import pytest

from arena.cli import main
from arena.cli.command_list import COMMANDS
from arena.reports import Report
from arena.reports.bench_report import Bench
from arena.reports.bot_card import BotCard
from arena.reports.bots_report import Bots, BuiltInCard, NewBot
from arena.reports.check_report import Check, Submission, Submissions
from arena.reports.compare_report import Comparison
from arena.reports.corrections_report import Corrected, CorrectionLine, CorrectionsLog
from arena.reports.debug_report import Debug
from arena.reports.games_report import Games
from arena.reports.leaderboard_report import LadderRun, Leaderboard, NoLeaderboard
from arena.reports.machine_report import Doctor, Selftest
from arena.reports.match_card import MatchCard
from arena.reports.match_log_report import MatchLog
from arena.reports.match_report import UnratedMatches
from arena.reports.publish_report import Published
from arena.reports.verify_report import Verified
from ladder import store
from tests.cli.commands import arena, typed
from tests.reports import REPORTS


def test_every_command_with_json_has_a_report() -> None:
    """A new one is in the table, and so in the reference, or this fails."""
    takes_json = set()
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        if any("--json" in parameter.opts for parameter in command.params):
            takes_json.add(name)
    assert {name.split()[0] for name in REPORTS} == takes_json


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "report"),
    [
        (["games"], Games),
        (["new", "mine"], NewBot),
        (["bots"], Bots),
        (["leaderboard", "--game", "birth"], Leaderboard),
        (["leaderboard", "--game", "birth", "--cross", "--by-seat"], Leaderboard),
        (["leaderboard", "--game", "buttons"], NoLeaderboard),
        (["annul", "ann", "--why", "it cheated"], Corrected),
        (["ban", "ann", "--why", "it cheated"], Corrected),
        (["rename", "ann", "Annie"], CorrectionLine),
        (["log"], CorrectionsLog),
        (["show", "ann"], BotCard),
        (["show", "greedy"], BuiltInCard),
        (["doctor"], Doctor),
        (["publish", "public"], Published),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_json_is_the_report(words: list[str], report: type[Report]) -> None:
    """Every field is there and of its type, and there is no other."""
    as_report(typed(*words, "--json").out, report)


@pytest.mark.parametrize(
    ("words", "report"),
    [
        (["match", "random", "greedy", "--game", "birth", "-n", "2"], UnratedMatches),
        (["ladder", "--game", "birth", "--bots", "random,greedy", "--rounds", "1", "-j", "1"], LadderRun),
        (["verify", "-j", "1"], Verified),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_json_of_a_command_that_plays_is_the_report(home: Path, words: list[str], report: type[Report]) -> None:
    """As above, in processes of their own."""
    as_report(arena(*words, "--json", cwd=home.parent).out, report)


def as_report(text: str, report: type[Report]) -> None:
    """Read a report strictly: with all its fields, or those that were asked for, and no others."""
    read = msgspec.json.decode(text, type=report)
    assert msgspec.to_builtins(read, str_keys=True) == msgspec.json.decode(text)


def test_the_card_of_every_match_is_a_report(home: Path) -> None:
    """Done or still to be played."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
        ids = [row["id"] for row in db.query("SELECT id FROM matches WHERE ladder = ?", [ladder.id])]
    assert ids
    for match in ids:
        as_report(typed("show", match, "--json").out, MatchCard)


def test_the_log_of_a_seat_is_a_report(home: Path) -> None:
    """Also where nothing was printed."""
    with store.open_read(home) as db:
        (ladder,) = store.ladders.all(db)
        ids = [
            row["id"] for row in db.query("SELECT id FROM matches WHERE ladder = ? AND status = 'done'", [ladder.id])
        ]
        shown = [id for id in ids if store.logs.may_be_shown(db, store.matches.find(db, id))]
    assert shown
    as_report(typed("show", shown[0], "--log", "0", "--json").out, MatchLog)


@pytest.mark.long
def test_judgements_of_a_bot_are_reports(cwd: Path) -> None:
    """Of one that passes, and of one that does not come to play."""
    (cwd / "good.py").write_text(GOOD)
    (cwd / "bad.py").write_text("raise SystemExit(3)")
    for bot in ("good.py", "bad.py"):
        as_report(arena("check", bot, "--game", "birth", "--json", cwd=cwd).out, Check)
        as_report(arena("submit", bot, "--game", "birth", "--json", cwd=cwd).out, Submission)
    as_report(arena("submit", "good.py", "bad.py", "--game", "birth", "--json", cwd=cwd).out, Submissions)
    assert arena("ladder", "--game", "birth", "--bots", "good,random", "--rounds", "1", cwd=cwd).code == 0
    with store.open_read(cwd / ".arena") as db:
        match = store.matches.of_bot(db, "good@1", 1, None)[0]
    debugged = arena("debug", match.id, "good", "--seat", str(match.seat), "--json", cwd=cwd)
    as_report(debugged.out, Debug)


GOOD = """
from arena_bot import Bot, run

class First(Bot):
    def choose(self, turn):
        return turn.legal[0]

run(First)
"""


@pytest.mark.long
def test_long_commands_print_reports(cwd: Path) -> None:
    """They start many processes."""
    compare = ("compare", "random", "greedy", "--game", "birth", "--matches", "8")
    as_report(arena(*compare, "--json", cwd=cwd).out, Comparison)
    as_report(arena("selftest", "--json", cwd=cwd).out, Selftest)
    only = ("--only", "rules", "--only", "ratings", "--seconds", "1s", "--repeats", "1")
    as_report(arena("bench", *only, "--json", cwd=cwd).out, Bench)
