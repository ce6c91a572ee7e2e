"""Entering a bot: what may be handed in, what it is called, and what becomes of one that fails."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from subprocess import PIPE
from typing import Any

import psutil
import pytest

from arena import roster, submission
from arena.roster import admission
from ladder import store
from tests.cli.commands import ARENA, PATIENCE, Ran, arena, environment, everything_in
from tests.tournament import programs

pytestmark = pytest.mark.timeout(300)  # several processes one after the other, on whatever machine

BIRTH = ("--game", "birth")


def submit(cwd: Path, *words: str) -> Ran:
    return arena("submit", *words, cwd=cwd)


def accepted(cwd: Path, *words: str) -> Any:
    ran = submit(cwd, *words, *BIRTH, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def refused(cwd: Path, *words: str) -> str:
    """What people are told; nothing is stored."""
    before = everything_in(cwd)
    ran = submit(cwd, *words)
    assert (ran.code, ran.out) == (1, "")
    assert everything_in(cwd) == before
    return ran.err


def folder(cwd: Path, name: str, manifest: str, bot: str = programs.FIRST) -> None:
    (cwd / name).mkdir()
    (cwd / name / "bot.py").write_text(bot)
    (cwd / name / "bot.toml").write_text(manifest)


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_a_python_file_needs_no_preparation(cwd: Path) -> None:
    """No #!, no chmod, no name: the arena's own interpreter runs it, and it is called like the file."""
    programs.write(cwd, Mine=programs.FIRST)
    verdict = accepted(cwd, "Mine.py")
    assert (verdict["accepted"], verdict["news"], verdict["games"]) == ("mine@1", "entered", ["birth"])
    assert (verdict["reason"], verdict["failures"]) == (None, [])


@pytest.mark.long
def test_a_bot_plays_every_game_unless_it_says_otherwise(cwd: Path) -> None:
    """And is told the next thing to type."""
    programs.write(cwd, mine=programs.FIRST)
    said = submit(cwd, "mine.py").out
    assert said == "accepted as mine@1 for birth, burning-desire, buttons; next: arena ladder --game buttons\n"


LINES = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "decision":
        print(json.loads(line)["legal"][0], flush=True)
"""


@pytest.mark.long
def test_a_lone_file_may_read_and_print_lines(cwd: Path) -> None:
    """An option stands in for the manifest that it does not have; what has one says it there."""
    programs.write(cwd, lines=LINES)
    assert accepted(cwd, "lines.py", "--protocol", "stdio")["accepted"] == "lines@1"
    won = arena("match", "lines", "random", *BIRTH, "--json", cwd=cwd)
    assert won.code == 0, won.err
    folder(cwd, "more", 'run = ["python", "bot.py"]')
    assert 'say protocol = "stdio" in its bot.toml' in refused(cwd, "more", "--protocol", "stdio")


@pytest.mark.long
def test_content_that_is_there_under_another_name_is_noted(cwd: Path) -> None:
    """Two names for one program split its evidence, and rarely on purpose."""
    programs.write(cwd, mine=programs.FIRST)
    assert accepted(cwd, "mine.py")["twins"] == []
    said = submit(cwd, "mine.py", "--name", "second", *BIRTH).err.splitlines()[-1]
    assert said.startswith("note: mine@1 has the same content (if it is the same bot: ")
    assert said.endswith("arena retire mine@1; if that was banned, ban this one, too)")
    programs.write(cwd, yours=programs.FIRST)
    assert accepted(cwd, "yours.py")["twins"] == ["mine@1", "second@1"]
    said = submit(cwd, "yours.py", "--name", "third", *BIRTH).err.splitlines()[-1]
    assert said.startswith("note: mine@1, second@1, yours@1 have the same content (if it is the same bot: ")


@pytest.mark.long
def test_only_the_ending_of_a_file_is_no_part_of_the_name(cwd: Path) -> None:
    """team.alpha and team.beta are two bots: none may take the other's place."""
    programs.write(cwd, **{"team.alpha": programs.FIRST, "team.beta": programs.LAST})
    assert accepted(cwd, "team.alpha.py")["accepted"] == "team.alpha@1"
    assert accepted(cwd, "team.beta.py")["accepted"] == "team.beta@1"


@pytest.mark.long
def test_a_manifest_says_all_there_is_to_say(cwd: Path) -> None:
    """Name, games and the line for `arena bots` come from it."""
    folder(cwd, "f", 'name = "ann"\nabout = "plays\\u001b"\ngames = ["birth"]\nrun = ["python", "bot.py"]')
    assert submit(cwd, "f").out.startswith("accepted as ann@1 for birth;")
    assert r"ann@1     submitted  birth                           plays\x1b" in arena("bots", cwd=cwd).out


@pytest.mark.long
def test_options_go_before_the_manifest(cwd: Path) -> None:
    """One folder may be entered under several names; without any it has that of the folder."""
    folder(cwd, "Folder", 'run = ["python", "bot.py"]')
    assert accepted(cwd, "Folder")["accepted"] == "folder@1"
    assert accepted(cwd, "Folder", "--name", "other")["accepted"] == "other@1"


def test_any_executable_file_will_do(cwd: Path) -> None:
    """Here a shell script; a single file keeps its name without what follows the dot."""
    executable(cwd / "script.sh", f"#!/bin/sh\nexec python - <<'END'\n{programs.FIRST}\nEND\n")
    assert accepted(cwd, "script.sh")["accepted"] == "script@1"


@pytest.mark.long
@pytest.mark.needs("cc")
def test_a_compiled_program_will_do(cwd: Path) -> None:
    """What the kernel can run, the arena can run."""
    (cwd / "bot.c").write_text(
        '#include <unistd.h>\nint main() { return execlp("python", "python", "-c", PROGRAM, (char *) 0); }'
    )
    subprocess.run(["cc", f"-DPROGRAM={json.dumps(programs.FIRST)}", "bot.c", "-o", "compiled"], cwd=cwd, check=True)
    assert accepted(cwd, "compiled")["accepted"] == "compiled@1"


@pytest.mark.long
def test_another_content_is_another_version(cwd: Path) -> None:
    """And the same again is none, tried neither: it is entered already. Which games it plays need not be said again."""
    programs.enter(cwd, mine=programs.FIRST)
    for games in ((), BIRTH):
        again = submit(cwd, "mine.py", *games)
        assert (again.code, again.out) == (0, "mine@1 has just this content already: nothing to do\n")
    programs.write(cwd, mine=programs.LAST)
    assert submit(cwd, "mine.py").out.startswith("accepted as mine@2 for birth;")


@pytest.mark.long
def test_other_games_are_another_version(cwd: Path) -> None:
    """A version never changes, and what it claims to play belongs to it."""
    programs.enter(cwd, mine=programs.FIRST)
    assert submit(cwd, "mine.py", "-g", "buttons").out.startswith("accepted as mine@2 for buttons;")


def test_a_name_that_looks_like_anothers_is_refused(cwd: Path) -> None:
    """Whoever reads a leaderboard in haste must not take one bot for another."""
    programs.write(cwd, b0t=programs.FIRST, p1anner=programs.FIRST)
    programs.enter(cwd, bot=programs.LAST)
    assert "'b0t' could be taken for 'bot', which is there: choose another with --name" in refused(cwd, "b0t.py")
    assert "'p1anner' could be taken for 'planner'" in refused(cwd, "p1anner.py")


@pytest.mark.long
def test_a_retired_bot_returns_when_it_is_submitted_again(cwd: Path) -> None:
    """There is no other way back, and none is needed."""
    programs.enter(cwd, mine=programs.FIRST)
    arena("retire", "mine", cwd=cwd)
    assert "submitted, retired" in arena("bots", cwd=cwd).out
    assert submit(cwd, "mine.py", *BIRTH).out.startswith("was retired, and plays again: mine@1 for birth; next: ")
    arena("retire", "mine", cwd=cwd)
    assert accepted(cwd, "mine.py")["news"] == "returned"
    assert "retired" not in arena("bots", cwd=cwd).out


def test_a_bot_that_crashes_is_not_entered(cwd: Path) -> None:
    """Its author sees what it printed, harmless, and what happened where, once; the advice names the game."""
    programs.write(cwd, mine=programs.program(r'def choose(self, turn): raise SystemExit("\x1b[31mno\x1b[0m")'))
    fault, asked, output, advice, error = refused(cwd, "mine.py", *BIRTH).splitlines()
    assert fault == "play birth: crash with 2 players: the process exited with code 1"
    assert asked.startswith('  referee: {"decisions": [{"match": 1, "decision": ')
    assert output == r"  | \x1b[31mno\x1b[0m"
    assert advice.startswith(
        "advice: the last line of what it printed says what is wrong; with `arena match attach: random"
    )
    assert error == "Error: mine is not entered: it failed 'play birth'"


def test_a_long_line_that_a_bot_printed_is_quoted_in_part(cwd: Path) -> None:
    """Who reads the refusal, or forwards it, finds the advice below it."""
    programs.write(cwd, mine=programs.program('def choose(self, turn): raise SystemExit("x" * 1000)'))
    _, _, output, advice, _ = refused(cwd, "mine.py", *BIRTH).splitlines()
    assert output == f"  | {'x' * 300} … 700 characters more"
    assert advice.startswith("advice: ")


@pytest.mark.long
def test_a_bot_that_plays_some_games_is_told_how_to_say_so(cwd: Path) -> None:
    """Every game that it failed in is named."""
    programs.write(
        cwd, mine=programs.program('def choose(self, turn): return turn.legal[0 if self.game == "birth" else 99]')
    )
    error = refused(cwd, "mine.py").splitlines()[-1]
    assert error == (
        "Error: mine is not entered: it failed 'play burning-desire'; it failed 'play buttons' too; if there are games"
        " that it does not play, say with --game which it plays; see it whole: arena check mine.py"
    )


def test_a_refusal_for_programs_is_json_whatever_the_reason(cwd: Path) -> None:
    """Also of what is no bot at all."""
    folder(cwd, "mine", "run = 1\n")
    ran = submit(cwd, "mine", "--json")
    verdict = json.loads(ran.out)
    assert (ran.code, verdict["accepted"], verdict["news"], verdict["failures"]) == (1, None, "refused", [])
    assert ran.err.splitlines()[-1] == f"Error: {verdict['reason']}"


def test_a_refusal_for_programs_has_the_evidence(cwd: Path) -> None:
    """With --json, stdout has the failures, stderr the same line as always, and the exit code is the same."""
    programs.write(cwd, mine=programs.program("def choose(self, turn): return 4000"))
    ran = submit(cwd, "mine.py", *BIRTH, "--json")
    (failure,) = json.loads(ran.out)["failures"]
    assert (ran.code, failure["reason"], failure["check"]) == (1, "illegal", "play birth")
    assert failure["transcript"][-1]["frame"]["choices"][0]["action"] == 4000
    assert ran.err.startswith(
        "Error: mine is not entered: it failed 'play birth': illegal with 2 players: chose 4000, legal: "
    )


def test_garbage_that_may_be_executed_is_not_entered(cwd: Path) -> None:
    """Only trying shows whether the kernel takes a file; what it says is passed on."""
    executable(cwd / "mine", "\x7fELF of some other machine\x00")
    *_, advice, error = refused(cwd, "mine").splitlines()
    assert advice.startswith("advice: the system cannot start ./mine: the first line of a script has to name")
    assert error == "Error: mine is not entered: it failed 'start'"


def test_a_script_for_an_interpreter_that_is_not_there_is_not_entered(cwd: Path) -> None:
    """Likewise."""
    executable(cwd / "mine", "#!/no/such/interpreter\n")
    fault, *_, output, _, error = refused(cwd, "mine").splitlines()
    assert fault.startswith("start: the process exited")
    assert "./mine" in output
    assert error == "Error: mine is not entered: it failed 'start'"


@pytest.mark.long
def test_a_bot_that_never_joins_is_not_entered(cwd: Path) -> None:
    """It has its time to start and no more, once and not for every game again."""
    (cwd / "mine.py").write_text("import time\ntime.sleep(1000)")
    fault, advice, error = refused(cwd, "mine.py", "--start-limit", "2s").splitlines()
    assert fault == "start: did not join within 2 s"
    assert advice.startswith("advice: end it with run(YourBot)")
    assert error == "Error: mine is not entered: it failed 'start'"


def test_a_start_limit_that_nobody_can_keep_is_said(cwd: Path) -> None:
    """That is nobody's fault but of whoever set it."""
    programs.write(cwd, mine=programs.FIRST)
    assert "neither it nor the built-in random bot joined" in refused(cwd, "mine.py", "--start-limit", "1ms")


def test_what_is_not_kept_is_missed_at_once(cwd: Path) -> None:
    """A copy is tried: a bot that leans on a cache beside it must not fail in its first ladder."""
    folder(cwd, "mine", 'run = ["python", "bot.py"]', "open('__pycache__/x')\n" + programs.FIRST)
    (cwd / "mine/__pycache__").mkdir()
    (cwd / "mine/__pycache__/x").touch()
    assert "FileNotFoundError" in refused(cwd, "mine", *BIRTH)


def test_a_version_that_fails_leaves_those_before_it(cwd: Path) -> None:
    """Whoever breaks a bot can still play it."""
    programs.enter(cwd, mine=programs.FIRST)
    programs.write(cwd, mine="syntax error")
    assert "SyntaxError" in refused(cwd, "mine.py", *BIRTH)
    assert "mine@1" in arena("bots", cwd=cwd).out


others = (pytest.param(number, marks=pytest.mark.long) for number in (signal.SIGTERM, signal.SIGHUP))


@pytest.mark.parametrize("number", [signal.SIGINT, *others])
def test_an_interrupted_qualification_leaves_nothing(number: signal.Signals, cwd: Path) -> None:
    """Neither a process nor a file; one line says so."""
    program = f"begun-{os.getpid()}-{number}.py"
    (cwd / program).write_text("import time\ntime.sleep(1000)")
    before = everything_in(cwd)
    words = [str(ARENA), "submit", program, "--name=mine"]
    with subprocess.Popen(words, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_for_program(program)
        process.send_signal(number)
        ran = Ran.of(process.wait(PATIENCE), *process.communicate(timeout=PATIENCE))
    assert (ran.code, ran.out, ran.err) == (130, "", "stopped: mine was not entered\n")
    assert everything_in(cwd) == before


def test_an_interruption_after_the_entry_does_not_deny_it(cwd: Path) -> None:
    """What is said is what is stored, at whatever moment Ctrl-C came."""
    programs.write(cwd, mine=programs.FIRST)
    program = submission.read_program(cwd / "mine.py", plays=["birth"])
    home = cwd / ".arena"

    def interrupted() -> None:
        with admission.told_if_stopped(home, cwd / "mine.py") as reached, store.open(home) as db:
            reached(program)
            roster.enter_bot(db, home, program, "submitted")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stopped: mine@1 is entered"):
        interrupted()


@pytest.mark.long
def test_a_home_that_cannot_be_made_is_said(cwd: Path) -> None:
    """In one line, as by every command."""
    programs.write(cwd, mine=programs.FIRST)
    (cwd / "file").touch()
    assert "choose another home" in refused(cwd, "mine.py", *BIRTH, "--home", "file/home")


def wait_for_program(name: str) -> None:
    """Until a bot of that name runs, whatever stands around it."""
    deadline = time.monotonic() + PATIENCE
    while not any(_arguments(process)[1:] == [name] for process in psutil.process_iter()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _arguments(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


@pytest.mark.long
def test_a_program_that_is_lost_can_be_submitted_again(cwd: Path) -> None:
    """Nobody must lose a match because a file of the arena's is gone."""
    programs.enter(cwd, mine=programs.FIRST)
    shutil.rmtree(cwd / ".arena/bots")
    ladder = ("ladder", *BIRTH, "--rounds", "1", "--bots", "mine,random")
    lost = arena(*ladder, cwd=cwd)
    assert (lost.code, lost.out) == (1, "")
    assert lost.err.splitlines()[-1].startswith("Error: the program of mine@1 is gone from ")
    accepted(cwd, "mine.py")
    assert "\nplayed 2 matches" in arena(*ladder, cwd=cwd).err


@pytest.mark.long
@pytest.mark.parametrize("games", ["", 'games = ["birth", "buttons"]\n'], ids=["none", "some"])
def test_games_that_were_said_once_need_not_be_said_again(games: str, cwd: Path) -> None:
    """The same content is unchanged, another plays the same games; until the manifest names others."""
    manifest = 'run = ["python", "bot.py"]\n'
    folder(cwd, "mine", games + manifest)
    assert submit(cwd, "mine", *BIRTH).out.startswith("accepted as mine@1 for birth;")
    assert submit(cwd, "mine").out.startswith("mine@1 has just this content already")
    (cwd / "mine/bot.py").write_text(programs.LAST)
    assert submit(cwd, "mine").out.startswith("accepted as mine@2 for birth;")
    (cwd / "mine/bot.toml").write_text(f'games = ["buttons"]\n{manifest}')
    assert submit(cwd, "mine").out.startswith("accepted as mine@3 for buttons;")
