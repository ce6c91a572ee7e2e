"""What `arena check` finds: for each thing that it tries there is a bot that fails exactly that."""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from arena import games, submission
from arena.check import Unjudged, probes
from arena.check.advice import advise
from arena.check.bot_check import Checked, CheckReporter, check_bot
from arena.check.extent import FULL_CHECK, QUICK_CHECK, SUBMISSION, Course, Extent
from arena.check.probes import PROBES
from arena.check.trials import Trial, busy_machine, failure, times, trials
from arena.referee.limits import Limits
from arena.referee.match import Forfeit, MatchOutcome, Void, VoidReason
from arena.replay.questions import QuestionSitting, Setup
from arena.sandbox import UNCONFINED
from arena.worker import control, heartbeat
from arena.worker.jobs import Entrant, Played, SeatRecord
from tests.cli.commands import arena, typed

pytestmark = pytest.mark.timeout(300)

FRAME = """
import sys, time
from google.protobuf.unknown_fields import UnknownFieldSet
from arena_bot import Bot, run
from arena_bot.table import Table

class Mine(Bot):
    def choose(self, turn):
        return turn.legal[0]

answer, begun, last = Table.answer, {{}}, {{}}

{0}

run(Mine)
{1}
"""

HONEST = FRAME.format("", "")


def complaint(test: str) -> str:
    """A bot that ends with a word when a frame is not to its liking."""
    lines = ["def strict(self, frame):", f"    {test}", "    return answer(self, frame)", "Table.answer = strict"]
    return FRAME.format("\n".join(lines), "")


FLAWS: dict[str, str] = {
    "start": FRAME.format("sys.exit('where is my opening book?')", ""),
    "play birth": FRAME.format("Mine.choose = lambda self, turn: turn.legal[0] if self.seats == 2 else 999", ""),
    "matches at once": complaint("len(self._bots) + len(frame.starts) > 1 and sys.exit('one at a time')"),
    "doubled question": complaint(
        "[last.get(d.match, 0) < d.decision or sys.exit('again?') for d in frame.decisions];"
        " last.update((d.match, d.decision) for d in frame.decisions)"
    ),
    "unknown fields": complaint("len(UnknownFieldSet(frame)) and sys.exit('what is that?')"),
    "match that ends at once": FRAME.format(
        "def choose(self, turn):\n    self.chosen = turn.legal[0]\n    return self.chosen\n"
        "Mine.choose, Mine.end = choose, lambda self, end: print(self.chosen)",
        "",
    ),
    "end when told": FRAME.format("", "time.sleep(1000)"),
}
IMPATIENT = complaint(
    "begun.update((start.match, time.monotonic()) for start in frame.starts);"
    " [time.monotonic() - begun.pop(d.match, time.monotonic()) < 4 or sys.exit('nobody there?')"
    " for d in frame.decisions]"
)


USUAL = Limits()


def checked(
    folder: Path,
    program: str,
    *,
    plays: Sequence[str] = ("birth",),
    limits: Limits = USUAL,
    extent: Extent = SUBMISSION,
    report: CheckReporter = lambda *_: None,
) -> Checked:
    (folder / "mine.py").write_text(program)
    program_there = submission.read_program(folder / "mine.py", plays=plays)
    return check_bot(program_there, limits, UNCONFINED, report, extent)


def test_an_honest_bot_comes_through(tmp_path: Path) -> None:
    """The control; with the time of each kind of decision."""
    found = checked(tmp_path, HONEST)
    assert found.failed == []
    assert {probe.name for probe in PROBES} - {finding.name for finding in found.findings} == {"late question"}
    assert untried(found) == {"late question": SUBMISSION.why}
    assert {kind.kind for kind in found.times} == {"play", "the first of a match"}
    assert found.forecast is not None
    assert (found.forecast.matches, found.forecast.lost) == (2, 0)


@pytest.mark.long
@pytest.mark.parametrize("name", FLAWS)
def test_a_bot_fails_what_it_does_wrong_and_nothing_else(name: str, tmp_path: Path) -> None:
    """With what to do about it, and what happened."""
    (failed,) = checked(tmp_path, FLAWS[name]).failed
    assert failed.name == name
    assert failed.advice
    assert failed.output or failed.transcript


@pytest.mark.parametrize(
    ("name", "steps", "found"),
    [("unknown fields", 2, "nothing was found wrong so far"), ("play birth", 2, "it failed play birth")],
)
def test_a_check_that_is_stopped_says_how_far_it_came(name: str, steps: int, found: str, tmp_path: Path) -> None:
    """Who stops it after a minute wants to know what the minute was good for."""
    (tmp_path / "mine.py").write_text(FLAWS[name])

    def stop(done: int, *_: object) -> None:
        if done == steps:
            raise KeyboardInterrupt

    program = submission.read_program(tmp_path / "mine.py", plays=["birth"])
    with pytest.raises(KeyboardInterrupt, match=rf"^stopped after {steps} of \d+ steps: {found}$"):
        check_bot(program, USUAL, UNCONFINED, stop, SUBMISSION)


@pytest.mark.long
def test_a_bot_that_waits_for_nobody_fails_the_late_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may think for long; a bot that gives up meanwhile loses."""
    monkeypatch.setattr(probes, "PAUSE", 8.0)
    (failed,) = checked(tmp_path, IMPATIENT, extent=FULL_CHECK).failed
    assert failed.name == "late question"


def test_every_probe_has_its_flaw() -> None:
    """A probe that nothing fails would be none."""
    assert {probe.name for probe in PROBES} <= FLAWS.keys() | {"late question"}


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_the_first_fault_is_told_at_length(cwd: Path) -> None:
    """What fails, the frames, the bot's words, what to do; exit code 3; and a file that hides a module is noticed."""
    (cwd / "turtle.py").write_text(FLAWS["play birth"])
    ran = arena("check", "turtle.py", "--game", "birth", cwd=cwd)
    assert ran.code == 3
    assert "hint: turtle.py hides Python's own module turtle, which may be imported: rename it" in ran.err
    assert "play birth  FAILED  illegal with 3 players: chose 999, legal: " in ran.out
    *_, asked, answered, advice = ran.out.splitlines()
    assert asked.startswith('  referee: {"decisions": [{"match": ')
    assert json.loads(answered.removeprefix("      bot: "))["choices"][0]["action"] == 999
    assert advice.startswith("advice: choose from `turn.legal`")
    data = json.loads(arena("check", "turtle.py", "--game", "birth", "--json", cwd=cwd).out)
    assert (data["name"], data["passed"]) == ("turtle", False)
    assert [finding["check"] for finding in data["checks"] if not finding["passed"]] == ["play birth"]


HANGS = FRAME.format(
    "def choose(self, turn):\n"
    "    begun.setdefault(id(self), len(begun))\n"
    "    if len(begun) == 50:\n"
    "        print(time.monotonic(), file=sys.stderr, flush=True)\n"
    "        time.sleep(1000)\n"
    "    return turn.legal[0]\n"
    "Mine.choose = choose",
    "",
)
"""It stops in the fiftieth match of its process, and says when."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "seconds"), [("submit", 10), ("check", 25)]
)  # `check` goes on with the late question
def test_a_bot_that_hangs_among_many_matches_is_found_at_once(command: str, seconds: float, cwd: Path) -> None:
    """In the time of one first decision and the bank, here 2.5 s, and not of all that it owes."""
    (cwd / "mine.py").write_text(HANGS)
    ran = arena(command, "mine.py", "--game", "birth", "--limit", "200ms", "--bank", "500ms", cwd=cwd)
    over = time.monotonic()
    assert ran.code != 0
    said = ran.out + ran.err
    assert re.findall(r"^matches at once: (.*)", said, re.MULTILINE) == ["no answer in 3.05 s"]
    (hung,) = re.findall(r"^  \| (\d+\.\d+)$", said, re.MULTILINE)
    assert over - float(hung) < seconds


@pytest.mark.long
def test_a_frame_of_questions_is_as_large_as_a_bot_has_shown_to_answer(tmp_path: Path) -> None:
    """One that takes 40 ms a decision and answers at the end of a frame is not asked 80 of them in one."""
    at_the_end = (
        "def at_the_end(self, frame):\n"
        "    replies = b''.join(answer(self, frame))\n"
        "    return [replies] if replies else []\n"
        "Table.answer = at_the_end\n"
        "Mine.matches = 80\n"
        "Mine.choose = lambda self, turn: time.sleep(0.04) or turn.legal[0]"
    )
    quick = Limits(decision=0.2, bank=0.2)
    assert checked(tmp_path, FRAME.format(at_the_end, ""), limits=quick).failed == []


SLOW = FRAME.format("Mine.matches = 2\nMine.choose = lambda self, turn: time.sleep(0.05) or turn.legal[0]", "")
"""It holds two matches at once, which is heard only when it has joined for the probes."""


def untried(found: Checked) -> dict[str, str]:
    return {each.check: each.why for each in found.untried}


def test_a_quick_check_plays_one_match_of_each_game(tmp_path: Path) -> None:
    """Enough to say that the bot runs; what it leaves out is named."""
    found = checked(tmp_path, HONEST, plays=["birth", "buttons"], extent=QUICK_CHECK)
    assert (found.failed, found.forecast and found.forecast.matches) == ([], 2)
    assert found.matches == {"play birth": 1, "play buttons": 1}
    assert [finding.name for finding in found.findings][:3] == ["start", "play birth", "play buttons"]
    assert untried(found).keys() == {"birth with 3 players", "buttons with 2, 3 players", "late question"}


def course(*times: float, plays: Sequence[str] = ("birth", "buttons"), extent: Extent = FULL_CHECK) -> Course:
    """What is left of a check when its first match took these times."""
    entrant = submission.built_ins()["random"].entrant()
    made = Course([trial for name in plays for trial in trials(entrant, name, USUAL)], extent)
    made.pace.learn(made.remaining.pop(0), times)
    made.fit()
    return made


def named(left: Sequence[Trial]) -> list[str]:
    return [f"{trial.game} with {trial.players}" for trial in left]


def test_the_shortest_match_of_each_game_comes_first() -> None:
    """A bot of usual speed plays all, and one that cannot play a game is found out soon."""
    assert named(course(0.01).remaining) == ["buttons with 4", "birth with 3", "buttons with 2", "buttons with 3"]


def test_a_bot_too_slow_for_everything_plays_the_shortest_match_of_the_longest_game() -> None:
    """Its first match shows what all would last; what is left out is named."""
    left = course(0.5, 3.0)
    assert named(left.remaining) == ["buttons with 4", "birth with 3"]
    (one,) = left.untried()
    assert one.check == "buttons with 2, 3 players"
    assert re.fullmatch(r"a decision takes about 3,000 ms, and the rest would last 1\d min", one.why)


def test_a_bot_too_slow_for_any_other_game_is_not_asked_to_play_it() -> None:
    """Nothing is begun that would not end in time."""
    left = course(1.0, 30.0)
    assert left.remaining == []
    assert [each.check for each in left.untried()] == ["birth with 3 players", "play buttons"]


def test_a_submission_is_checked_whatever_it_lasts() -> None:
    """What is entered has been tried."""
    assert len(course(1.0, 30.0, extent=SUBMISSION).remaining) == 4


def test_as_many_matches_at_once_as_would_last_too_long_are_left_out(tmp_path: Path) -> None:
    """A bot that thinks for long may claim to hold 768, and all else is tried still."""
    thinks = FRAME.format("Mine.choose = lambda self, turn: time.sleep(0.01) or turn.legal[0]", "")
    found = checked(tmp_path, thinks, extent=Extent(late=False, seconds=4.0))
    assert found.failed == []
    assert "matches at once" in untried(found)
    assert "end when told" in {finding.name for finding in found.findings}


@pytest.mark.long
def test_how_long_the_rest_lasts_is_said_from_the_first_decisions_on(tmp_path: Path) -> None:
    """Before that for a fast bot, afterwards by the bot's own pace; at the end nothing is left."""
    told = list[tuple[int, int, float, bool]]()
    checked(tmp_path, SLOW, report=lambda *step: told.append(step))
    done, total, seconds, known = told[0]
    assert (done, total, known) == (0, 7, False)
    assert seconds < 3
    assert any(done == 0 for done, _, _, known in told if known)
    assert next(seconds for done, _, seconds, _ in told if done == 1) > 768 * 3 * 0.05
    assert told[-1] == (7, 7, 0.0, True)


def test_a_bot_that_fails_game_after_game_in_the_same_way_is_not_asked_on(tmp_path: Path) -> None:
    """The third game would tell nothing new; each is named, with the reason why it was left out."""
    crash = FRAME.format("Mine.choose = lambda self, turn: sys.exit('no')", "")
    found = checked(tmp_path, crash, plays=games.names())
    assert [finding.name for finding in found.failed] == ["play birth", "play burning-desire"]
    why = untried(found)
    assert why["play buttons"] == "it failed 2 games for the same reason; --game names those that it plays"
    assert why["doubled question"] == "it played no game to its end"


def test_a_bot_that_fails_one_game_plays_the_others(tmp_path: Path) -> None:
    """Also the number of players that were not tried is named."""
    crash = FRAME.format("Mine.choose = lambda self, turn: 999 if self.rules.name == 'birth' else turn.legal[0]", "")
    found = checked(tmp_path, crash, plays=["birth", "buttons"])
    assert [finding.name for finding in found.failed] == ["play birth"]
    assert untried(found) == {"birth with 3 players": "it failed birth", "late question": SUBMISSION.why}


@pytest.mark.long
def test_the_answer_says_what_was_not_tried_and_what_a_decision_takes(cwd: Path) -> None:
    """In the table as in the JSON."""
    (cwd / "mine.py").write_text(HONEST)
    ran = typed("check", "mine.py", "--game", "birth", "--quick")
    assert ran.code == 0
    assert re.match(r"checking: 6 matches and tests to go; about \d s for a fast bot; it has 30 s to join\n", ran.err)
    assert "\nnot tried, since --quick leaves it out: birth with 3 players; late question\n" in ran.out
    rows = re.findall(r"^(\S.*?)  +ok(?:  (\d) match)?$", ran.out, re.MULTILINE)  # the start is part of the match
    assert sum(int(matches or 1) for name, matches in rows if name != "start") == 6
    assert ("play birth", "1") in rows
    assert re.search(r"^about \S+ ms a decision: half of them took less$", ran.out, re.MULTILINE)
    data = json.loads(typed("check", "mine.py", "--game", "birth", "--quick", "--json").out)
    assert {each["check"] for each in data["not_tried"]} == {"birth with 3 players", "late question"}
    assert 0 < data["decision_ms"] < 1000


TRACEBACK = ["Traceback (most recent call last):", "SyntaxError: invalid syntax"]


@pytest.mark.parametrize(
    ("run", "reason", "detail", "output", "advice"),
    [
        ("python", Forfeit.START, "the process exited with code 1", TRACEBACK, "the last line of what it printed"),
        ("python", Forfeit.START, "the process exited with code 0", [], r"end it with run\(YourBot\)"),
        ("python", Forfeit.START, "the process exited with code 1", ["no model.bin"], "the last line of what it"),
        (
            "python",
            Forfeit.CRASH,
            "the process exited with code 1",
            TRACEBACK,
            "the last line .*; with `arena match att",
        ),
        (
            "python",
            Forfeit.CRASH,
            "the process exited with code 0",
            [],
            "it printed nothing: with `arena match attach:",
        ),
        (
            "python",
            Forfeit.CRASH,
            "the process was ended by SIGSEGV",
            ["x"],
            "see what it printed; with `arena match att",
        ),
        (
            "./bot",
            Forfeit.START,
            "cannot be run: [Errno 13] Permission denied: './bot'",
            [],
            r"\./bot has .*`chmod \+x`",
        ),
        (
            "python",
            Forfeit.START,
            "the process exited with code 1",
            ["EOFError: EOF"],
            "it reads lines",
        ),
        ("./text", Forfeit.START, "the process exited with code 0 before", [], "a shell ran it, since its first line"),
        ("./none", Forfeit.START, "the process exited with code 127", [], r"there is no file \./none in what"),
        ("./runs", Forfeit.START, "the process exited with code 127", [], "what it printed says"),
        (
            "./script",
            Forfeit.START,
            "the process exited with code 127",
            [],
            r".*names /no/interpreter, which",
        ),
        ("./env", Forfeit.START, "the process exited with code 127", [], ".* names nonesuch, which is not on"),
        ("./env-s", Forfeit.START, "the process exited with code 127", [], ".* names nonesuch, which is not on"),
        ("./crlf", Forfeit.START, "the process exited with code 127", [], r"the first line of \./crlf ends as on Wind"),
        ("python", Forfeit.START, "", ["ModuleNotFoundError: No module named 'arena.v1'"], "arena in the bot's folder"),
        (
            "./text",
            Forfeit.START,
            "the process exited with code 127",
            [],
            r"the system cannot start \./text: the",
        ),
        ("nonesuch", Forfeit.START, "the process exited with code 127", [], "this machine has no program nonesuch"),
        ("sh", Forfeit.START, "the process exited with code 127", [], "what it printed says"),
        ("python", Forfeit.CRASH, "", ["ModuleNotFoundError: No module named 'a.b'"], "put a into the bot's folder"),
        ("python", Forfeit.CRASH, "", ["FileNotFoundError: [Errno 2] No such: 'w.npy'"], r"put w\.npy into the bot's"),
        ("./bot", Forfeit.START, "did not join within 30 s", [], ".* dial ARENA_ADDR.* lines: .protocol = "),
        ("./bot", Forfeit.TIMEOUT, "", ["pthread_create failed"], ".* not start threads .* ask for more: `tasks`"),
        ("./bot", Forfeit.TIMEOUT, "", ["I think"], "think less"),
        ("./bot", Forfeit.CRASH, "", [], ".*`arena match attach: random --game birth`"),
    ],
)
def test_advice_is_by_cause(
    run: str, reason: Forfeit, detail: str, output: list[str], advice: str, tmp_path: Path
) -> None:
    """Few who wrote a syntax error, or forgot to make a file executable, need to hear of addresses and tokens."""
    (tmp_path / "bot.toml").write_text(f'run = ["{run}"]')
    lines = {
        "bot": "",
        "runs": "#!/bin/sh",
        "script": "#!/no/interpreter",
        "env": "#!/usr/bin/env nonesuch",
        "env-s": "#!/usr/bin/env -S -i X=1 nonesuch -u",
        "crlf": "#!/bin/sh\r",
        "text": "hello",
    }
    for name, line in lines.items():
        (tmp_path / name).write_text(f"{line}\n")
        (tmp_path / name).chmod(0o644 if name == "bot" else 0o755)
    program = submission.read_program(tmp_path, name="mine")
    assert re.match(advice, advise(program, "birth", reason, detail, output))


def test_a_file_that_needs_another_is_told_to_become_a_folder(tmp_path: Path) -> None:
    """With what its bot.toml has to say; and lines are spoken with an option, since there is no bot.toml."""
    (tmp_path / "lone.py").write_text("import helper")
    program = submission.read_program(tmp_path / "lone.py")
    printed = ["ModuleNotFoundError: No module named 'helper'"]
    told = advise(program, "birth", Forfeit.START, "the process exited with code 1", printed)
    assert told.startswith("helper was not handed in with lone.py: put lone.py and its files into a folder")
    assert 'says run = ["python", "lone.py"]' in told
    told = advise(program, "birth", Forfeit.START, "the process exited with code 0", [])
    assert told.endswith("if it reads and prints lines: `--protocol stdio`")


LIMITS = Limits(decision=1.0, bank=2.0)


def result(trial: Trial, *seconds: float) -> Played:
    """A match in which the bot took these times, whatever it did."""
    seats = [SeatRecord(())] * trial.players
    seats[trial.seat] = SeatRecord(seconds)
    return Played(trial.task.id, MatchOutcome((0,) * trial.players, (0,) * trial.players), None, (), tuple(seats))


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [([3.3, 0.3, 0.3], 0), ([4.1, 0.3], 1), ([0.1, 0.6, 0.6, 0.6], 1), ([0.1, 0.5, 0.5, 0.5, 0.5], 0)],
)
def test_the_forecast_is_the_clock_at_three_times_the_times(seconds: list[float], lost: int) -> None:
    """Ten limits for the first decision, one for each other, and the bank for what is over."""
    entrant = submission.built_ins()["random"].entrant()
    first, *_ = trials(entrant, "birth", LIMITS)
    found = busy_machine([(first, result(first, *seconds))])
    assert (found.matches, found.lost, found.longest) == (1, lost, max(seconds))


def test_times_are_told_apart_by_what_was_legal() -> None:
    """The first decision of a match stands alone: bots build their tables then."""
    entrant = submission.built_ins()["random"].entrant()
    first, *_ = trials(entrant, "buttons", LIMITS)
    game = games.game("buttons")
    match = first.setup.match()
    match.begin()
    while match.outcome is None:
        for asked in tuple(match.pending.values()):
            match.answer(asked.seat, asked.legal[0])
    own = sum(seat == first.seat for seat, _ in match.choices)
    seats = [SeatRecord(())] * 2
    seats[first.seat] = SeatRecord((0.5, *[0.001] * (own - 1)))
    found = times([(first, Played("1", match.outcome, None, tuple(match.choices), tuple(seats)))])
    by_kind = {each.kind: each for each in found}
    assert by_kind.pop("the first of a match")[2:] == (1, 500, 500, 500)
    assert sum(each.decisions for each in by_kind.values()) == own - 1
    words = {word for kind in by_kind for word in kind.split(" or ")}
    assert words <= {game.action_name(action).split()[0] for action in range(game.actions)}


def test_a_sitting_asks_its_seat_only_and_comes_to_an_end() -> None:
    """Everybody else's choices are made by luck."""
    for name in games.names():
        game = games.game(name)
        sitting = QuestionSitting(Setup(name, game.seats[-1], game.options({}), bytes(32)), 1, 1, Limits())
        while (asked := sitting.decision) is not None:
            assert asked.seat == 1
            assert sitting.question
            sitting.answer(asked.legal[-1])
        assert Forfeit.ILLEGAL.value.encode() not in sitting.end()


VOIDS = {
    Void(
        VoidReason.OVERLOAD, "no answer in 0.80 s, while the machine was busy elsewhere"
    ): "when less runs on this machine",
    Void(VoidReason.DISK, "No space left on device"): "make room in ",
    Void(VoidReason.INTERNAL, "Traceback\nValueError"): "try again",
}


UNJUDGED = "the bot could not be judged: a match of birth with 2 players was void ("


@pytest.mark.parametrize(("void", "remedy"), VOIDS.items())
def test_a_void_match_is_nothing_against_the_bot(void: Void, remedy: str) -> None:
    """One line says what its author can do."""
    trial = next(trials(Entrant("mine", "mine", ("mine",)), "birth", USUAL))
    with pytest.raises(Unjudged, match=rf"^{re.escape(UNJUDGED)}.*\); [^\n]*{remedy}[^\n]*$"):
        failure(trial, Played(trial.task.id, None, void))


@pytest.mark.parametrize("command", ["check", "submit"])
def test_a_machine_that_cannot_judge_says_so_in_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody should read a traceback for that."""
    (tmp_path / "mine.py").write_text(HONEST)

    def full(_: int) -> int:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("arena.worker.bot_pool.LEAST_FREE", 2**62)
    monkeypatch.setattr(os, "pidfd_open", full)
    ran = typed(command, tmp_path / "mine.py", "--game", "birth", "--home", tmp_path / "home")
    assert (ran.code, ran.out) == (1, "")
    *_, said = ran.err.splitlines()
    assert said.startswith(f"Error: {UNJUDGED}")
    assert "make room in " in said


SLOW_ONCE = """
import os, time
choose = Mine.choose
def slow_once(self, turn):
    if not os.path.exists("begun"):
        open("begun", "w").close()
        time.sleep(1000)
    return choose(self, turn)
Mine.choose = slow_once
"""


def test_a_machine_that_was_busy_for_a_moment_gets_another_chance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a ladder, where such a match is played again. Here every gap between two looks counts as one moment."""
    monkeypatch.setattr(heartbeat, "STOOD_STILL", 0.0)
    assert checked(tmp_path, FRAME.format(SLOW_ONCE, ""), limits=Limits(decision=0.1, bank=0.5)).failed == []
    assert (tmp_path / "begun").exists()


STARTS_ONCE = """
import os, sys
if os.path.exists("started"):
    sys.exit("OSError: [Errno 28] No space left on device")
open("started", "w").close()
"""


def test_who_cannot_start_again_where_nothing_starts_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine may lack something only after the matches of a check; where the arena's own bot starts, the bot fails.

    The bot is told to end after its matches, and is started again for what comes then.
    """
    with monkeypatch.context() as patched:
        patched.setattr(control, "PROGRAM", "raise SystemExit('no files are left')")
        with pytest.raises(Unjudged, match=r"cannot start bots now: .* no files are left; that is no fault of the bot"):
            checked(tmp_path, STARTS_ONCE + HONEST)
    (tmp_path / "started").unlink()
    (failed, *_) = checked(tmp_path, STARTS_ONCE + HONEST).failed
    assert failed.reason is Forfeit.START
