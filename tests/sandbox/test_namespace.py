"""An ordinary user who has subordinate ids gives bots and builds users of their own, as root does."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest

import arena
from arena.sandbox import Grade, users
from arena.submission.intake import take_in
from tests.cli.commands import PATIENCE
from tests.needs import grades
from tests.submission.test_builds import built, wait_until
from tests.tournament import programs

pytestmark = [pytest.mark.needs("root"), pytest.mark.needs("mounting"), pytest.mark.needs("newuidmap")]

ROOT = Path(arena.__file__).parents[1]
ACCOUNT, FIRST = 60_001, 3_000_000
"""The account's id and the first of its subordinate ones, which only the test's own view of /etc knows."""
TELLS = """
import os, sys, tempfile
folder = tempfile.mkdtemp()
open(f"{folder}/file", "w").write("text")
sys.exit(f"{os.getuid()} {os.getgid()} {os.getgroups()} {os.listdir(folder)}")
"""

ENV = {"PATH": os.environ["PATH"], "HOME": "/opt/home", "TMPDIR": "/opt/tmp"}
IDS = range(FIRST + users.SPARE.start, FIRST + users.SPARE.stop)
"""The ids that bots and builds get, as the machine numbers them."""
CLOSES = """
import os, socket
for place in (".", os.environ["HOME"], os.environ["TMPDIR"]):
    os.chdir(place)
    os.mkdir("dark")
    open("dark/file", "w").write("text")
    os.link("dark/file", "dark/linked")
    if place != ".":
        os.symlink("/etc", "dark/away")
        os.mkfifo("dark/fifo")
    for name in ("dark/file", "dark"):
        os.chmod(name, 0)
"""
"""A build that leaves what nobody else can look into, in each folder that it may write to."""
NESTS = """
os.chdir(os.environ["HOME"])
for _ in range(3000):
    os.mkdir("a", 0o700)
    os.chdir("a")
os.mkdir("dark", 0)
"""
"""Goes on with folders that lie deeper than a path may be long."""
TAKES = """
import ctypes, os, time
kept = [os.pipe() for _ in range(1500)]
while ctypes.CDLL(None).inotify_init1(0) >= 0:
    pass
open("ready", "w").close()
time.sleep(1000)
"""
"""A build that has more pipes than a user may have of the usual size, and watches files as often as it may."""
ASKS = f"""
import ctypes, fcntl, os
os.setresuid({ACCOUNT}, {ACCOUNT}, {ACCOUNT})
print(fcntl.fcntl(os.pipe()[0], fcntl.F_GETPIPE_SZ), ctypes.CDLL(None).inotify_init1(0) >= 0)
"""
"""Prints what the account gets: how large a pipe, and whether it may watch files."""

Command: TypeAlias = Callable[..., list[str]]
Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


def outside_in(place: Path) -> list[Path]:
    """The folders around a place, the outermost first."""
    return list(reversed(place.parents))


def is_closed(folder: Path) -> bool:
    """Whether others than its owner may not enter a folder."""
    return not folder.stat().st_mode & 0o001


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """Words that run the arena as an account, with its own /etc/passwd, /etc/subuid, /etc/subgid that nobody else sees.

    Its home and the folder for its temporary files are `home` and `tmp` in the test's folder.
    """
    (tmp_path / "passwd").write_text(f"{Path('/etc/passwd').read_text()}somebody:x:{ACCOUNT}:{ACCOUNT}::/:/bin/sh\n")
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
        os.chown(tmp_path / name, ACCOUNT, ACCOUNT)
    shutil.chown(tmp_path / "tmp", group=12345)
    (tmp_path / "tmp").chmod(0o2755)  # what is made in it gets its group, which means nothing in the namespace

    def words(*words: str, given: str = f"somebody:{FIRST}:65536\n") -> list[str]:
        for name in ("subuid", "subgid"):
            (tmp_path / name).write_text(given)
        places = [ROOT, Path(sys.base_prefix).resolve()]  # they may lie in a folder that is root's alone
        shut = {closed[0] for place in places if (closed := [each for each in outside_in(place) if is_closed(each)])}
        first, second = (shlex.quote(str(place)) for place in places)
        etc, python = shlex.quote(str(tmp_path)), shlex.quote(sys.executable)
        shown = f"""
            for name in passwd subuid subgid; do mount --bind {etc}/$name /etc/$name; done
            mount -t tmpfs -o mode=755 none /opt
            mkdir /opt/home /opt/tmp /opt/0 /opt/1
            mount --bind {etc}/home /opt/home
            mount --bind {etc}/tmp /opt/tmp
            mount --rbind {first} /opt/0
            mount --rbind {second} /opt/1
            for folder in {shlex.join(map(str, shut))}; do mount -t tmpfs -o mode=755 none "$folder"; done
            [ -e {first} ] || {{ mkdir -p {first}; mount --rbind /opt/0 {first}; }}
            [ -e {second} ] || {{ mkdir -p {second}; mount --rbind /opt/1 {second}; }}
            cd /opt/home
            exec setpriv --reuid={ACCOUNT} --regid={ACCOUNT} --clear-groups {python} -m arena.cli "$@"
        """
        return ["unshare", "--mount", "sh", "-ec", shown, "sh", *words]

    yield words
    Path(f"/tmp/arena-users-{ACCOUNT}").unlink(missing_ok=True)


@pytest.fixture
def as_account(command: Command) -> Run:
    """Run the arena as an account to its end."""

    def run(*words: str, given: str = f"somebody:{FIRST}:65536\n") -> subprocess.CompletedProcess[str]:
        started = command(*words, given=given)
        return subprocess.run(started, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    return run


def author(folder: Path, *build: list[str], script: str = "") -> None:
    """A bot of the account's that reads what its build makes, the file `made`; `script` is its build.py."""
    (folder / "mine").mkdir()
    (folder / "mine/build.py").write_text(script)
    (folder / "mine/bot.py").write_text("print('made', open('made').read())\n" + programs.FIRST)
    toml = f"run = ['python', 'bot.py']\ngames = ['birth']\nbuild = {json.dumps(build)}\n"
    (folder / "mine/bot.toml").write_text(toml)


@contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on meanwhile."""
    with subprocess.Popen(words, env=ENV, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def left(folder: Path) -> list[str]:
    """What is left in the folder for temporary files."""
    return [path.name for path in (folder / "tmp").iterdir()]


def asleep(seconds: str) -> list[int]:
    """The users of all processes that sleep for so long: those of a build that has come so far."""
    found = []
    for process in psutil.process_iter():
        if arguments(process) == ["sleep", seconds]:
            with suppress(psutil.NoSuchProcess):  # it has ended since
                found.append(process.uids().real)
    return found


def has_file(folder: Path, name: str) -> bool:
    """Whether there is a file of this name anywhere in a folder, of which parts may come and go meanwhile."""
    return any(name in files for _, _, files in os.walk(folder))


def arguments(process: psutil.Process) -> list[str]:
    """The arguments of a process; none if it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def own_user(ran: subprocess.CompletedProcess[str]) -> tuple[bool, str]:
    """Whether bots have users of their own, and what `arena doctor` says of it."""
    (layer,) = [each for each in json.loads(ran.stdout)["layers"] if each["name"] == "own user"]
    return layer["on"], layer["why"]


@pytest.mark.needs("grade C")
def test_the_ids_are_named(as_account: Run) -> None:
    """They are the part of the account's ids that containers hardly use."""
    is_on, why = own_user(as_account("doctor", "--json"))
    first = FIRST + users.SPARE.start
    assert (is_on, f"of {first} to {FIRST + users.SPARE.stop - 1}" in why) == (True, True), why


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "gives somebody no ids (as root: usermod --add-subuids"),
        ("other:3000000:65536\n", "gives somebody no ids (as root: usermod --add-subuids"),
    ],
)
def test_without_ids_it_is_said_how_to_get_some(as_account: Run, given: str, said: str) -> None:
    """Bots then share what the kernel counts by user, with the account."""
    is_on, why = own_user(as_account("doctor", "--json", given=given))
    assert (is_on, said in why) == (False, True), why


@pytest.mark.needs("grade C")
def test_few_ids_are_given_away_too(as_account: Run) -> None:
    """An account may have been given a hundred."""
    is_on, why = own_user(as_account("doctor", "--json", given=f"{ACCOUNT}:{FIRST}:100\n"))
    assert (is_on, f"of {FIRST + 50} to {FIRST + 99}" in why) == (True, True), why


@pytest.mark.parametrize("grade", grades("BC"))
def test_bots_are_users_of_their_own_and_nothing_of_them_is_left(as_account: Run, grade: Grade, tmp_path: Path) -> None:
    """Not even files that only they could read."""
    (tmp_path / "home/tells.py").write_text(TELLS)
    ran = as_account("match", "./tells.py", "random", "--game=birth", "--json", f"--sandbox={grade}", "--home=home")
    (match,) = json.loads(ran.stdout)["matches"]
    uid, gid, *_, files = match["evidence"]["0"]["output"][-1].split()
    assert files == "['file']"
    if grade is Grade.C:  # inside bubblewrap each bot is 1000
        assert (int(uid) in range(1, 10_001), gid) == (True, "1")
    assert left(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_all_attacks_are_held(as_account: Run, grade: Grade) -> None:
    """Also those that take from all other processes of a user what the kernel counts by user."""
    ran = as_account("selftest", f"--sandbox={grade}")
    assert ran.returncode == 0, ran.stdout
    count = sum("held" in line for line in ran.stdout.splitlines())
    assert f"{count} of {count} as promised" in ran.stdout


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_what_their_builds_make_plays(as_account: Run, grade: Grade, tmp_path: Path) -> None:
    """Whatever tools close; the digest is that of the same build by anybody, and what is left at home is kept."""
    make = ["sh", "-c", "umask 077; mkdir -p dark $HOME/dark; echo 1 > dark/x; cp dark/x made"]
    remember = ["sh", "-c", "ls -d $HOME/*; touch $HOME/once; chmod 0 $HOME/dark dark"]
    author(tmp_path / "home", make, remember)
    for changed in ("", "\n"):
        (tmp_path / "home/mine/build.py").write_text(changed)
        ran = as_account("submit", "mine", "--home=data", f"--sandbox={grade}")
        assert ran.returncode == 0, ran.stderr
    logs = [log.read_text().splitlines() for log in (tmp_path / "home/data/builds").iterdir()]
    found = sorted([Path(line).name for line in log if not line.startswith("$")] for log in logs)
    assert found == [["dark"], ["dark", "once"]]
    shown = json.loads(as_account("show", "mine", "--home=data", "--json").stdout)["bot"]
    assert shown["built"] == built(take_in(tmp_path / "home/mine", tmp_path / "copy").program, tmp_path).built


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_a_build_may_close_its_folders_and_is_counted_all_the_same(
    as_account: Run, grade: Grade, tmp_path: Path
) -> None:
    """Many tools do so; the arena alone sees how much is in them, again and again, and nothing of it is left."""
    author(tmp_path / "home", ["sh", "-c", "python build.py; sleep 2; echo 1 > made"], script=CLOSES)
    ran = as_account("match", "./mine", "random", "--game=birth", "--json", f"--sandbox={grade}", "--home=data")
    (match,) = json.loads(ran.stdout)["matches"]
    assert match["forfeits"] == [], ran.stderr
    assert left(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_a_build_that_hides_too_much_is_stopped(as_account: Run, grade: Grade, tmp_path: Path) -> None:
    """Wherever it lies; nothing of it is left."""
    author(tmp_path / "home", ["python", "build.py"], script=f"{CLOSES}{NESTS}\nimport time; time.sleep(1000)")
    ran = as_account("submit", "mine", "--home=data", f"--sandbox={grade}")
    assert "was stopped: a build may write 4096 MiB and 500,000 files, 100 folders deep" in ran.stderr
    assert left(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_of_a_build_that_is_ended_with_the_arena_nothing_is_left(
    command: Command, as_account: Run, number: signal.Signals, grade: Grade, tmp_path: Path
) -> None:
    """No process, and no file: what an arena that was killed could not remove goes when the next one begins."""
    marker = f"5{os.getpid()}.5"
    sleeps = f"python build.py; setsid sleep {marker} & exec sleep {marker}"
    author(tmp_path / "home", ["sh", "-c", sleeps], script=CLOSES)
    with started(command("submit", "mine", "--home=data", f"--sandbox={grade}")) as process:
        wait_until(lambda: len(asleep(marker)) == 2)
        assert set(asleep(marker)) < set(IDS)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGKILL: -9}[number]
    if number is signal.SIGKILL:
        assert left(tmp_path) != []
        as_account("doctor")
    wait_until(lambda: asleep(marker) == [])
    assert left(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_a_build_takes_nothing_of_the_account_that_is_counted_by_user(
    command: Command, grade: Grade, tmp_path: Path
) -> None:
    """Such as pipes of the usual size: while a build has all that it may have, there is enough for the account."""
    author(tmp_path / "home", ["python", "build.py"], script=TAKES)
    words = command("submit", "mine", "--home=data", f"--sandbox={grade}")
    with started(words) as process:
        wait_until(lambda: has_file(tmp_path / "tmp", "ready"))
        asked = subprocess.run([sys.executable, "-c", ASKS], stdout=subprocess.PIPE, text=True, check=True)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert asked.stdout == "65536 True\n"


@pytest.mark.long
@pytest.mark.needs("grade C")
def test_where_files_cannot_be_given_away_it_is_said(command: Command, tmp_path: Path) -> None:
    """As on some network file systems; here a program stands for them that refuses in their place."""
    (tmp_path / "home/bin").mkdir()
    (tmp_path / "home/bin/chown").write_text("#!/bin/sh\necho 'chown: mine: Operation not permitted' >&2; exit 1\n")
    (tmp_path / "home/bin/chown").chmod(0o755)
    author(tmp_path / "home", ["true"])
    words = command("match", "./mine", "random", "--game=birth", "--home=data", "--sandbox=C")
    env = {**ENV, "PATH": f"/opt/home/bin:{ENV['PATH']}"}
    ran = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    said = "Error: users of their own cannot be used here: chown: mine: Operation not permitted"
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (1, said)
    assert left(tmp_path) == []
