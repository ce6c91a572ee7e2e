"""What people see while they wait, and what terminals are kept from."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from arena.cli.compare import percentages
from arena.reports import words
from arena.reports.leaderboard_report import EstimateColumns
from arena.reports.words import percent
from arena.site import rendering
from arena.terminal import output
from tests.cli.commands import typed


def test_what_could_move_the_cursor_is_escaped() -> None:
    """Colours, bells, line breaks and letters that turn the direction of writing; nothing else is touched."""
    assert output.printable("a\x1b[31m\x07\r\n\u202eb") == r"a\x1b[31m\x07\r\n\u202eb"
    assert output.printable("größer – 3 × 4′") == "größer – 3 × 4′"


def test_many_bots_are_retired_at_once(home: Path) -> None:
    """Each with its line; with a name that is none, nobody."""
    assert typed("retire", "ann", "nobody").code == 1
    assert typed("retire", "ann", "bob@1", "ann").out == "retired ann@1\nretired bob@1\n"
    undone = typed("retire", "bob", "ann", "--undo", "--home", home)
    assert undone.out == "back in the field: bob@1\nback in the field: ann@1\n"


def test_what_is_to_be_typed_is_named_as_it_was_typed(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a clone `arena` is no command; its script says how people called it."""
    script = Path(output.__file__).parents[2] / "scripts" / "arena"
    (cwd / "a clone").symlink_to(script.parent)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    words = ["leaderboard", "--game", "birth"]
    for program, told in (
        ("./a clone/arena", "'./a clone/arena' ladder"),
        (str(script), f"{shlex.quote(str(script))} ladder"),
    ):
        ran = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True, check=True)
        assert ran.stderr.splitlines()[-1] == f"play one: {told} --game birth --players 2"
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    ran = subprocess.run(["arena", *words], cwd=cwd, capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines()[-1] == "play one: arena ladder --game birth --players 2"
    assert typed(*words).err.splitlines()[-1] == "play one: arena ladder --game birth --players 2"


def test_what_the_store_warns_of_is_said_beside_the_result(home: Path) -> None:
    """Once a command, on stderr; here, that the home was open to others."""
    home.chmod(0o755)
    ran = typed("retire", "bob")
    assert ran.out == "retired bob@1, bob@2\n"
    assert ran.err == "other users could look into '.arena', also at the seeds of dice: now it is closed to them\n"
    assert typed("retire", "bob", "--undo").err == ""


def test_a_log_has_a_line_of_progress_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no terminal a bar would be a mess, and silence for hours a worry."""
    monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
    with output.progress("BIRTH, 2 players") as report:
        report(1500, 3000)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("BIRTH, 2 players: 1,500 of 3,000 matches, ")
    assert said.err.endswith(" s left\n")


def test_a_command_that_starts_no_bot_says_soon_that_it_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`arena publish` into a file was silent for a quarter of a minute; after the first line it may be for longer."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with output.progress("publishing", "files", first=output.SOON) as report:
        for now in (output.SOON - 0.1, output.SOON, output.LOG_SECONDS, output.SOON + output.LOG_SECONDS):
            report(int(now), 99)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == [
        "publishing: 5 of 99 files",
        "publishing: 35 of 99 files",
    ]


def test_nobody_guesses_from_a_few(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From what the first one took, workers to be started and all, nothing follows for the others."""
    monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
    with output.progress("checking", "steps") as report:
        report(1, 9, "waiting")
    assert capsys.readouterr().err == "checking: 1 of 9 steps; waiting\n"


def test_a_budget_is_no_promise(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than all of it may be enough, from the first match on."""
    monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
    with output.progress("greedy or random", at_most=True) as report:
        report(5, 20_000)
    assert capsys.readouterr().err == "greedy or random: 5 of at most 20,000 matches\n"


@pytest.mark.parametrize(
    ("at_most", "count", "total", "said"),
    [
        (False, 10, 40, "it: 10 of 40 matches, one in 40 s, 20 min left\n"),
        (True, 400, 20_400, "it: 400 of at most 20,400 matches, 1.0/s, at most 5.6 h left\n"),
    ],
)
def test_slow_and_long_is_said_in_units_for_people(
    at_most: bool,
    count: int,
    total: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ "0.0/s" tells nothing, and nobody can read 100,000 s."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with output.progress("it", at_most=at_most) as report:
        now = 400.0
        report(count, total)
    assert capsys.readouterr().err == said


def test_a_ladder_says_how_much_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    """Its first results may take a while, and silence looks like a fault."""
    with output.progress("BIRTH, 2 players", begins=True) as report:
        report(0, 600)
        report(0, 600)  # results that were void
        report(1, 600)
    assert capsys.readouterr().err == "BIRTH, 2 players: 600 matches to go\n"


def test_only_the_notes_say_how_long_steps_last_of_which_some_are_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From how many are done nothing follows for the others."""
    with output.progress("checking", "steps", begins=True, paced=False) as report:
        report(0, 15, "about 7 s for a fast bot")
        monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
        report(14, 15, "about 4 s left")
    first, second = capsys.readouterr().err.splitlines()
    assert first == "checking: 15 steps to go; about 7 s for a fast bot"
    assert second == "checking: 14 of 15 steps; about 4 s left"


def test_what_is_over_soon_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Most commands say just their result."""
    with output.progress("BIRTH, 2 players") as report:
        report(1, 3)
    assert capsys.readouterr() == ("", "")


def test_json_is_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    """A bot may print what is no character at all, and no terminal's encoding may end a command."""
    output.print_json({"output": "\udcff ü"})
    assert capsys.readouterr().out == '{\n  "output": "\\udcff \\u00fc"\n}\n'


def test_what_a_build_is_doing_is_said_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same rhythm as everything else, and harmless whatever was printed."""
    with output.progress("checking", "steps") as report:
        report.passing("cargo, 3 s: too early")
        monkeypatch.setattr(output, "LOG_SECONDS", 0.0)
        report.passing("cargo, 65 s: Compiling \x1b[1mtonic")
    assert capsys.readouterr().err == "cargo, 65 s: Compiling \\x1b[1mtonic\n"


def test_a_terminal_shows_what_a_build_is_doing_beside_the_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until there is something else to show."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with output.progress("checking", "steps") as report:
        report.passing("cargo, 65 s: Compiling tonic")
    assert "cargo, 65 s: Compiling tonic" in capsys.readouterr().err


def test_nothing_is_minus_zero() -> None:
    """What is rounded to 0 is 0, wherever numbers with a sign are printed: in tables, sentences and pages."""
    signed = re.compile(r":[+][^z}]*[fg]}")
    files = Path(output.__file__).parents[1].rglob("*.py")
    written = [path for path in files if signed.search(path.read_text())]
    assert written == []
    assert percentages(-0.01, -0.02, 0.02, equal=50) == "0.0 % (0.0 to 0.0)"
    assert percent(EstimateColumns(mean=-1e-9, low=-0.01, high=0.01, groups=9)) == "0.0±1.0"
    assert rendering.formatted("%+.2f to %.1f, %s", -0.001, -0.04, "-0.5") == "+0.00 to +0.0, -0.5"
    assert rendering.formatted("%.2f", -0.001) == "0.00"
    assert rendering.formatted("%.2f", -0.01) == "-0.01"


def test_what_nobody_can_play_settles_nothing() -> None:
    """61,542,193 groups are no advice."""
    assert words.more_groups(0) == "That is settled: the interval of the lead is on one side of 0."
    assert words.more_groups(1).startswith("About 1 more group with")
    assert words.more_groups(1_234).startswith("About 1,234 more groups with")
    for number in (None, 61_542_193):
        assert words.more_groups(number) == "They are so close that no number of groups that can be played would tell."
