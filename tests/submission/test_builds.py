"""Building: by commands and never by a shell, with an end, a log, and a result that is what its digest says."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from arena import submission
from arena.sandbox import UNCONFINED, Grade, Sandbox, places, probe
from arena.sandbox.confine import BUILD
from arena.submission import BadSubmission, Program, build_limits
from arena.submission import build as building
from arena.submission.build import BuildFailed, Building, build
from arena.submission.intake import take_in
from tests.cli.commands import ARENA, PATIENCE, Ran, arena, environment, everything_in
from tests.needs import grades
from tests.sdk.test_packages import wheel
from tests.tournament import programs


def handed_in(folder: Path, *commands: list[str], run: str = "./made.sh") -> Program:
    """A folder with a build, taken in."""
    source = folder / "mine"
    source.mkdir()
    (source / "bot.toml").write_text(f"run = {json.dumps([run])}\nbuild = {json.dumps(commands)}\n")
    (source / "part").write_text("#!/bin/sh\n")
    (folder / "scratch").mkdir()
    return take_in(source, folder / "scratch").program


SILENT = Building(lambda _: None)


def built(program: Program, folder: Path, sandbox: Sandbox = UNCONFINED) -> Program:
    return build(program, folder / "log", sandbox, SILENT)


def failed(program: Program, folder: Path, sandbox: Sandbox = UNCONFINED) -> str:
    with pytest.raises(BuildFailed) as refused:
        built(program, folder, sandbox)
    return str(refused.value)


MAKE = ["sh", "-c", "cat part > made.sh; chmod +x made.sh; echo made"]


def test_what_is_built_is_kept_under_its_own_digest(tmp_path: Path) -> None:
    """The version's digest is that of the source; what runs is another tree, whole and read-only."""
    program = built(handed_in(tmp_path, MAKE), tmp_path)
    stored = submission.store(program, tmp_path / "bots")
    assert stored.root == tmp_path / "bots" / str(program.built)
    assert program.built != program.digest
    assert sorted(path.name for path in stored.root.iterdir()) == ["bot.toml", "made.sh", "part"]
    assert {path.stat().st_mode & 0o777 for path in stored.root.iterdir()} == {0o444, 0o555}
    assert (tmp_path / "log").read_text() == "$ sh -c 'cat part > made.sh; chmod +x made.sh; echo made'\nmade\n"


def test_the_same_build_has_the_same_digest(tmp_path: Path) -> None:
    """Nothing of when and where it was made is in it."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (built(handed_in(tmp_path / name, MAKE), tmp_path / name) for name in ("one", "two"))
    assert (one.digest, one.built) == (two.digest, two.built)


def test_a_build_may_write_over_what_was_handed_in(tmp_path: Path) -> None:
    """Authors build at their desks, and some tools open what is there already; to root every file is open."""
    program = built(handed_in(tmp_path, ["sh", "-c", "stat -c %a part > made.sh"]), tmp_path)
    assert (program.root / "made.sh").read_text() == "644\n"


CHANGES = {
    "another content": "chmod u+w made.sh; echo exit >> made.sh",
    "one file more": "touch more",
    "one file less": "rm -f made.sh",
    "a program that is none any more": "chmod a-x made.sh",
    "a link in place of a file": "rm -f made.sh; ln -s part made.sh",
}


def test_a_failed_build_shows_the_end_of_its_log(tmp_path: Path) -> None:
    """Mostly the reason is there; the rest is in the file that the error names."""
    said: list[str] = []
    with pytest.raises(BuildFailed):
        build(handed_in(tmp_path, ["sh", "-c", "seq 20; exit 1"]), tmp_path / "log", UNCONFINED, Building(said.append))
    assert said[1:] == [f"  | {number}" for number in range(11, 21)]


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_stored_is_compared_with_its_digest(change: str, tmp_path: Path) -> None:
    """Whatever somebody did to it, it is not what was entered."""
    stored = submission.store(built(handed_in(tmp_path, MAKE), tmp_path), tmp_path / "bots")
    assert submission.intact(stored)
    subprocess.run(["sh", "-c", CHANGES[change]], cwd=stored.root, check=True)
    assert not submission.intact(stored)


def test_what_was_handed_in_may_change_meanwhile(tmp_path: Path) -> None:
    """The copy is what is built and kept, and what its digest was made of."""
    program = handed_in(tmp_path, MAKE)
    (tmp_path / "mine/part").write_text("#!/bin/false")
    (tmp_path / "mine/bot.toml").write_text('run = ["./evil"]')
    done = built(program, tmp_path)
    assert (done.root / "made.sh").read_text() == "#!/bin/sh\n"
    assert done.run == ("./made.sh",)


def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    """Whatever it looks like."""
    words = ["echo", "$(touch canary)", "`touch canary`", ";", "touch", "canary", "|", ">canary", "*"]
    program = built(handed_in(tmp_path, words), tmp_path)
    assert (tmp_path / "log").read_text().splitlines()[-1] == " ".join(words[1:])
    assert not (program.root / "canary").exists()


def test_a_failure_names_the_command_and_the_log(tmp_path: Path) -> None:
    """What it printed is there to the last line; what would have followed did not run."""
    said = failed(handed_in(tmp_path, ["sh", "-c", "echo oh no >&2; exit 7"], MAKE), tmp_path)
    assert said.startswith("mine is not built: \"sh -c 'echo oh no >&2; exit 7'\" exited with code 7; ")
    assert said.endswith(f"is in '{tmp_path / 'log'}'")
    assert (tmp_path / "log").read_text().splitlines()[1:] == ["oh no"]


def test_a_program_that_is_not_there_cannot_build(tmp_path: Path) -> None:
    """It is named."""
    assert "no-such-compiler" in failed(handed_in(tmp_path, ["no-such-compiler"]), tmp_path)


@pytest.mark.long
def test_a_build_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And everything that it started has it too."""
    monkeypatch.setattr(build_limits, "WALL", 5.0)
    script = "echo $$ > first; setsid sh -c 'echo $$ > second; sleep 1000' & sleep 1000"
    program = handed_in(tmp_path, ["sh", "-c", script])
    assert "was stopped: a build may take" in failed(program, tmp_path)
    for name in ("first", "second"):
        assert gone(int((program.root / name).read_text()))


def working(seconds: float) -> list[str]:
    """A command whose children work so long, one after the other."""
    work = "import time; [0 for _ in iter(lambda: time.process_time() < 0.1, False)]"
    run = f"subprocess.run([sys.executable, '-c', {work!r}])"
    return ["python", "-c", f"import subprocess, sys; [{run} for _ in range({round(seconds * 10)})]"]


@pytest.mark.long
@pytest.mark.parametrize("held", [False, True])
def test_a_build_may_not_work_for_ever(held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of all its processes is counted, ended ones too, whether there is a control group or not."""
    monkeypatch.setattr(build_limits, "CPU", 2.0)
    said = failed(handed_in(tmp_path, working(1000)), tmp_path, probe() if held else UNCONFINED)
    assert "was stopped: a build may use 0.0333333 minutes of processor time; " in said


@pytest.mark.long
def test_the_commands_of_a_build_work_for_one_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are."""
    monkeypatch.setattr(build_limits, "CPU", 10.0)
    monkeypatch.setattr(build_limits, "LOOK", 0.05)
    said = failed(handed_in(tmp_path, *[[*working(1.0), str(number)] for number in range(20)]), tmp_path)
    assert "was stopped: a build may use " in said


@pytest.mark.long
def test_a_build_that_waits_pays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a build takes as long as it takes."""
    monkeypatch.setattr(build_limits, "CPU", 3.0)
    built(handed_in(tmp_path, ["sleep", "5"]), tmp_path)


@pytest.mark.long
def test_a_build_may_not_stand_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing more is to come of it, and people wait."""
    monkeypatch.setattr(build_limits, "IDLE", 1.0)
    said = failed(handed_in(tmp_path, ["sleep", "1000"]), tmp_path)
    assert "was stopped: a build may do nothing, and print nothing, for 0.0166667 minutes; " in said


@pytest.mark.long
@pytest.mark.parametrize("sign", ["echo", ":"])
def test_who_works_or_prints_does_not_stand_still(sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either is enough, little by little."""
    monkeypatch.setattr(build_limits, "IDLE", 5.0)
    script = f"i=0; while [ $i -lt 40 ]; do i=$((i+1)); {sign}; sleep 0.2; done"
    built(handed_in(tmp_path, ["sh", "-c", script]), tmp_path)


def test_people_see_what_a_long_command_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its beginning, how long it has run, and its latest line, of which the beginning is enough."""
    monkeypatch.setattr(building, "SHOWN_LINES", 0.0)
    program = handed_in(
        tmp_path, ["sh", "-c", "echo first; printf 'half way\\rnow %0200d\\n' 7; until test -e seen; do :; done"]
    )
    shown: list[str] = []

    def show(line: str) -> None:
        shown.append(line)
        if "now 000" in line:
            (program.root / "seen").touch()

    build(program, tmp_path / "log", UNCONFINED, Building(lambda _: None, show))
    assert re.fullmatch(r"building mine: sh -c 'echo first; p…, \d+ s: now 0{76}…", shown[-1])


def test_people_see_that_a_silent_command_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that downloads for minutes prints nothing, and neither does the log's own line count as its output."""
    monkeypatch.setattr(building, "SHOWN_LINES", 0.0)
    program = handed_in(tmp_path, ["sh", "-c", "until test -e seen; do :; done"])
    shown: list[str] = []

    def show(line: str) -> None:
        shown.append(line)
        (program.root / "seen").touch()

    build(program, tmp_path / "log", UNCONFINED, Building(lambda _: None, show))
    assert re.fullmatch(r"building mine: sh -c 'until test -e…, \d+ s", shown[0])


def test_what_is_over_soon_is_not_shown(tmp_path: Path) -> None:
    """Most commands that build something need no second."""
    shown: list[str] = []
    build(handed_in(tmp_path, MAKE), tmp_path / "log", UNCONFINED, Building(lambda _: None, shown.append))
    assert shown == []


def test_what_a_build_leaves_running_ends_with_it(tmp_path: Path) -> None:
    """Or it could change what was built, or build on for ever."""
    script = "setsid sh -c 'echo $$ > left; sleep 1000' & while ! test -s left; do sleep 0.01; done"
    program = built(handed_in(tmp_path, ["sh", "-c", script]), tmp_path)
    assert gone(int((program.root / "left").read_text()))


def wait_until(something: Callable[[], bool]) -> None:
    """For as long as a slow machine may need."""
    deadline = time.monotonic() + PATIENCE
    while not something():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(process: int) -> bool:
    """Whether a process has ended, as soon as the kernel says so."""
    wait_until(lambda: not Path(f"/proc/{process}").exists())
    return True


def test_a_build_may_not_print_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is on the organiser's disk."""
    monkeypatch.setattr(build_limits, "MAX_LOG", 1024 * 1024)
    assert "was stopped: a build may print 1 MiB" in failed(handed_in(tmp_path, ["yes"]), tmp_path)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../x", "a/../../x"])
def test_links_that_lead_out_are_refused(target: str, tmp_path: Path) -> None:
    """What is stored is read elsewhere: it would find another file there, or one of the organiser's."""
    program = handed_in(tmp_path, ["ln", "-s", target, "link"])
    with pytest.raises(BadSubmission, match=r"left 'link', a link that leads out"):
        built(program, tmp_path)


def test_links_that_lead_out_by_others_are_refused(tmp_path: Path) -> None:
    """By its words `link` stays in `a`."""
    script = "mkdir -p a/b; ln -s ../.. a/b/up; ln -s a/b/up/../.. link"
    with pytest.raises(BadSubmission, match=r"left 'link', a link that leads out"):
        built(handed_in(tmp_path, ["sh", "-c", script]), tmp_path)


def test_links_inside_stay_links(tmp_path: Path) -> None:
    """Package managers of some languages make hundreds."""
    program = built(handed_in(tmp_path, ["sh", "-c", "mkdir bin; ln -s ../part bin/tool"]), tmp_path)
    stored = submission.store(program, tmp_path / "bots")
    assert os.readlink(stored.root / "bin/tool") == "../part"
    assert submission.intact(stored)


def test_what_a_build_has_for_itself_is_not_in_its_folder(tmp_path: Path) -> None:
    """It is gone afterwards; folders that are called like anybody's home are the author's."""
    script = "mkdir .home .tmp; touch .home/mine; touch $HOME/x $TMPDIR/y"
    program = built(handed_in(tmp_path, ["sh", "-c", script], MAKE), tmp_path, probe())
    assert [path.name for path in program.root.parent.iterdir()] == ["mine"]
    left = sorted(str(path.relative_to(program.root)) for path in program.root.rglob("*"))
    assert left == [".home", ".home/mine", ".tmp", "bot.toml", "made.sh", "part"]


def test_a_link_for_a_home_leads_nobody_out(tmp_path: Path) -> None:
    """What a build has for itself is removed by the arena, with all that the arena may do."""
    others = tmp_path / "others"
    others.mkdir(mode=0o755)
    (others / "file").touch()
    before = others.stat()
    link = ["sh", "-c", f"rm -r $HOME $TMPDIR; ln -s {others} $HOME; ln -s {others} $TMPDIR"]
    built(handed_in(tmp_path, link, MAKE), tmp_path)
    assert (others.stat().st_mode, others.stat().st_uid) == (before.st_mode, before.st_uid)
    assert (others / "file").exists()


HOARDS = {
    "a large file": "dd if=/dev/zero of=large bs=1M count=64; sleep 1000",
    "in its home": "dd if=/dev/zero of=$HOME/large bs=1M count=64; sleep 1000",
    "many files": "i=0; while true; do i=$((i+1)); : > $i; done",
    "deep folders": "i=0; while [ $i -lt 150 ]; do i=$((i+1)); mkdir a; cd a; done",
}


@pytest.mark.parametrize("hoard", HOARDS)
def test_a_build_may_not_fill_the_disk(hoard: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its files together are counted."""
    monkeypatch.setattr(build_limits, "BUILD", BUILD._replace(disk_mib=32))
    monkeypatch.setattr(build_limits, "MAX_ENTRIES", 300)
    said = failed(handed_in(tmp_path, ["sh", "-c", HOARDS[hoard]]), tmp_path)
    assert ": a build may write 32 MiB and 300 files, 100 folders deep; " in said
    assert [path.name for path in (tmp_path / "scratch/bot").iterdir()] == ["mine"]


def test_a_build_leaves_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one whose files have no names any more."""
    monkeypatch.setattr(build_limits, "LEFT_FREE", 2**60)
    assert "a build has to leave " in failed(handed_in(tmp_path, ["sleep", "1000"]), tmp_path)


def test_a_build_closes_nothing(tmp_path: Path) -> None:
    """Else the user as whom the bot runs could not go in."""
    program = built(handed_in(tmp_path, ["sh", "-c", "mkdir -m 700 private; touch private/x"]), tmp_path)
    stored = submission.store(program, tmp_path / "bots")
    assert stat.S_IMODE((stored.root / "private").stat().st_mode) == 0o755


@pytest.mark.needs("root")
def test_a_build_may_close_a_folder_to_itself(tmp_path: Path) -> None:
    """We open it; only root can count what is in it meanwhile."""
    program = built(handed_in(tmp_path, ["mkdir", "-m", "0", "dark"]), tmp_path)
    stored = submission.store(program, tmp_path / "bots")
    assert stat.S_IMODE((stored.root / "dark").stat().st_mode) == 0o755


def test_a_build_sees_an_arena_that_lies_below_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or below /home, as most do: the folders that a build has of its own lie at these places."""
    known = [*places.python(), str(tmp_path / "clone")]
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "sdk").touch()
    monkeypatch.setattr(places, "python", lambda: known)
    program = handed_in(tmp_path, ["sh", "-c", "touch $TMPDIR/own"], ["ls", str(tmp_path / "clone" / "sdk")])
    built(program, tmp_path, probe())


@pytest.mark.parametrize("wanted", [None, *grades("C")])
def test_a_build_may_do_what_builds_do(wanted: Grade | None, tmp_path: Path) -> None:
    """Keep things at home, run what it has made, dial; in every sandbox, and from its first command on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        dial = f"import socket; socket.create_connection({server.getsockname()!r}).close()"
        script = "touch $HOME/x $TMPDIR/y && cp part tool && chmod +x tool && ./tool"
        program = handed_in(tmp_path, ["sh", "-c", script], ["python", "-c", dial])
        built(program, tmp_path, probe(wanted))


@pytest.mark.parametrize("wanted", grades("AB"))
def test_scripts_may_open_their_output_by_its_name(wanted: Grade, tmp_path: Path) -> None:
    """Whoever they run as; Landlock forbids it without bubblewrap."""
    built(handed_in(tmp_path, ["sh", "-c", "echo told >> /dev/stderr"]), tmp_path, probe(wanted))
    assert (tmp_path / "log").read_text().splitlines()[-1] == "told"


@pytest.mark.needs("grade C")
def test_tools_find_what_they_look_for_without_bubblewrap(tmp_path: Path) -> None:
    """pip gives up if it may not read which distribution this is, and much else if not what itself is made of."""
    release = places.settings(*places.RELEASE)
    children = ["sh", "-c", "head -c 1 /proc/self/maps /proc/self/exe /proc/$$/task/$$/children > /dev/null"]
    built(handed_in(tmp_path, ["head", "-c", "1", *release], children), tmp_path, probe(Grade.C))


@pytest.mark.needs("grade C")
def test_a_build_without_bubblewrap_reads_nobodys_mind(tmp_path: Path) -> None:
    """It sees the command lines of others, and nothing of what they have in memory, open, or around them."""
    secrets = " ".join(f"/proc/{os.getpid()}/{name}" for name in ("environ", "maps", "mem", "auxv", "fd/0", "cwd/x"))
    script = f"cat /proc/{os.getpid()}/cmdline && for each in {secrets}; do ! head -c 1 $each || exit 1; done"
    built(handed_in(tmp_path, ["sh", "-c", script]), tmp_path, probe(Grade.C))


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("grade", [pytest.param(each, marks=pytest.mark.needs(f"grade {each}")) for each in "ABC"])
def test_pip_installs_what_a_bot_needs(grade: str, tmp_path: Path) -> None:
    """Into its folder, from wherever this machine's proxies and certificates lead, and without complaints."""
    program = built(handed_in(tmp_path, ["pip", "install", "--target", "lib", "six"]), tmp_path, probe(Grade(grade)))
    assert (program.root / "lib/six.py").exists()
    assert "Traceback" not in (tmp_path / "log").read_text()


# --- As a command

SOURCE = '#include <unistd.h>\nint main(void) { return execlp("python", "python", "real.py", (char *) 0); }\n'
MANIFEST = 'run = ["./bot"]\ngames = ["birth"]\nlanguage = "c"\nbuild = [["cc", "-o", "bot", "bot.c"]]\n'


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(MANIFEST)
    (folder / "bot.c").write_text(SOURCE)
    (folder / "real.py").write_text(programs.FIRST)
    (folder / "node_modules").mkdir()
    return folder


def submit(mine: Path) -> Ran:
    return arena("submit", "mine", cwd=mine.parent)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_compiled_bot_from_its_source_to_the_leaderboard(mine: Path) -> None:
    """Built once, played as built; a source that does not compile leaves the version before it where it is."""
    first = submit(mine)
    assert (first.code, first.out) == (0, "accepted as mine@1 for birth; next: arena ladder --game birth\n"), first.err
    assert first.err.splitlines()[-2:] == [
        "building mine: cc -o bot bot.c",
        "left out as no part of a bot: node_modules",
    ]
    again = submit(mine)
    assert (again.out, "building" in again.err) == ("mine@1 has just this content already: nothing to do\n", False)
    (mine / "bot.c").write_text(SOURCE.replace(";", "", 1))
    broken = submit(mine)
    *_, error = broken.err.splitlines()
    assert (broken.code, broken.out) == (1, "")
    assert error.startswith("Error: mine is not built: 'cc -o bot bot.c' exited with code 1; what was printed is in '")
    assert "expected" in Path(error.split("'")[-2]).read_text()
    ladder = arena("ladder", "--game", "birth", "--rounds", "1", "--bots", "mine,random", "--json", cwd=mine.parent)
    assert {bot["bot"]: bot["forfeits"] for bot in json.loads(ladder.out)["bots"]} == {"mine@1": 0, "random@1": 0}
    shown = json.loads(arena("show", "mine", "--json", cwd=mine.parent).out)["bot"]
    assert (mine.parent / ".arena/bots" / shown["built"] / "bot").exists()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_stored_program_that_was_changed_plays_no_more(mine: Path) -> None:
    """A ladder says which, and plays it again once it is submitted again."""
    assert submit(mine).code == 0
    (stored,) = (mine.parent / ".arena/bots").iterdir()
    (stored / "real.py").chmod(0o644)
    (stored / "real.py").write_text(programs.LAST)
    ladder = ("ladder", "--game", "birth", "--rounds", "1", "--bots", "mine,random")
    ran = arena(*ladder, cwd=mine.parent)
    assert (ran.code, ran.out) == (1, "")
    assert "the program of mine@1 is not what was entered: remove '" in ran.err
    for path in stored.iterdir():
        path.unlink()
    stored.rmdir()
    assert submit(mine).code == 0
    assert arena(*ladder, cwd=mine.parent).code == 0


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_bot_has_the_memory_that_it_asked_for_and_no_more(mine: Path) -> None:
    """The limit is named to whoever goes beyond it."""
    (mine / "bot.toml").write_text('run = ["python", "bot.py"]\ngames = ["birth"]\n[limits]\nmemory_mib = 200\n')
    hungry = (
        "held = b''\ndef choose(self, turn):\n    Mine.held = Mine.held or b'x' * (250 << 20)\n    return turn.legal[0]"
    )
    (mine / "bot.py").write_text(programs.program(hungry))
    ran = submit(mine)
    assert ran.code == 1
    assert "200 MiB are allowed" in ran.err or "MemoryError" in ran.err
    (mine / "bot.toml").write_text('run = ["python", "bot.py"]\ngames = ["birth"]\n[limits]\nmemory_mib = 600\n')
    assert submit(mine).code == 0


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(number: signal.Signals, mine: Path) -> None:
    """Neither a process nor a file."""
    marker = f"3{os.getpid()}.5"
    (mine / "bot.toml").write_text(f'run = ["./bot"]\nbuild = [["sleep", "{marker}"]]\n')
    before = everything_in(mine.parent)
    words = [str(ARENA), "submit", "mine"]
    with subprocess.Popen(words, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        wait_until(lambda: running(marker))
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err.splitlines()[-1]) == (130, "", "stopped: mine was not entered")
    wait_until(lambda: not running(marker))
    assert everything_in(mine.parent) == before


@pytest.mark.long
@pytest.mark.timeout(300)
def test_what_a_killed_build_leaves_is_swept(mine: Path) -> None:
    """It ends with the arena, and its folders go when the next run begins."""
    marker = f"4{os.getpid()}.5"
    (mine / "bot.toml").write_text(f'run = ["./bot"]\nbuild = [["sleep", "{marker}"]]\n')
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as temporary:
        words, env = [str(ARENA), "submit", "mine"], {**environment(), "TMPDIR": temporary}
        with subprocess.Popen(words, env=env, stdout=PIPE, stderr=PIPE) as process:
            wait_until(lambda: asleep(marker))
            process.kill()
        wait_until(lambda: not running(marker))
        assert os.listdir(temporary)
        subprocess.run([str(ARENA), "doctor"], env=env, stdout=PIPE, check=True)
        assert os.listdir(temporary) == []


def asleep(seconds: str) -> bool:
    """Whether a build has come to its `sleep`: bubblewrap that is killed before leaves a child of its own behind."""
    return any(_arguments(pid) == ["sleep", seconds] for pid in psutil.pids())


def running(argument: str) -> bool:
    """Whether a process has it as an argument."""
    return any(argument in _arguments(pid) for pid in psutil.pids())


def _arguments(pid: int) -> list[str]:
    try:
        return psutil.Process(pid).cmdline()
    except psutil.Error:
        return []


WANTS_A_PACKAGE = """
import tiny
from arena_bot import Bot, run
class Mine(Bot):
    def choose(self, turn):
        return turn.legal[tiny.NAME == "other"]
run(Mine)
"""


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("ABC"))
def test_a_bot_in_python_names_its_packages(grade: Grade, tmp_path: Path) -> None:
    """In requirements.txt, without a word in bot.toml; here a wheel in the bot's own folder."""
    wheel(tmp_path / "mine", "tiny")
    (tmp_path / "mine/bot.toml").write_text('run = ["python", "bot.py"]')
    (tmp_path / "mine/bot.py").write_text(WANTS_A_PACKAGE)
    (tmp_path / "mine/requirements.txt").write_text("./tiny-1.0-py3-none-any.whl\n")
    ran = arena("submit", "mine", "--game", "birth", "--sandbox", grade, cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert "building mine: python -P -m arena_bot.packages" in ran.err
    again = arena("match", "mine", "random", "--game", "birth", "--sandbox", grade, "--json", cwd=tmp_path)
    assert json.loads(again.out)["matches"][0]["forfeits"] == []
