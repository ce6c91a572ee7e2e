"""Both launchers do what they are ordered to, to the same effect: the one in Python is the reference of that in C."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from arena.base.compiler import SWITCH, compile_to, compiler
from arena.sandbox import Grade, confine, launching, probe
from arena.sandbox.confine import filter_file
from arena.sandbox.launcher import BEGAN, NO_PROGRAM, ORDERS, UNABLE
from arena.sandbox.run_folder import run_folder
from tests.needs import grades

TELLS = """
import ctypes, json, os, resource, sys

def tried(action, *values):
    try:
        return action(*values)
    except OSError as error:
        return error.strerror

def read(path):
    with open(path) as file:
        return file.read()

def bind():
    import socket
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))

prctl = ctypes.CDLL(None).prctl
status = dict(line.split(":\\t", 1) for line in read("/proc/self/status").splitlines())
kept = "Uid Gid Groups NoNewPrivs Seccomp CapInh CapPrm CapEff CapBnd CapAmb SigBlk SigIgn".split()
mask = os.umask(0)
os.umask(mask)
files = {number: tried(os.readlink, f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
files = {number: at for number, at in files.items() if at != "No such file or directory" and "/fd" not in at}
print(json.dumps({
    **{name: status[name].strip() for name in kept},
    "umask": mask,
    "expendable": tried(read, "/proc/self/oom_score_adj"),
    "securebits": prctl(27, 0, 0, 0, 0),
    "dies": (lambda number: (prctl(2, ctypes.byref(number)), number.value)[1])(ctypes.c_int()),
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name[:7] == "RLIMIT_"},
    "files": files,
    "folder": os.getcwd(),
    "namespace": tried(os.readlink, "/proc/self/ns/user"),
    "mounts": [line.split()[3:6] + line.split(" - ")[1].split()[:1]
               for line in str(tried(read, "/proc/self/mountinfo")).splitlines() if " - " in line],
    "env": dict(os.environ),
    "words": sys.argv[1:],
    "read": [tried(read, path) for path in sys.argv[1:]],
    "list": [tried(os.listdir, path) for path in sys.argv[1:]],
    "write": [tried(os.close, fd) if isinstance(fd := tried(os.open, path, os.O_WRONLY), int) else fd
              for path in sys.argv[1:]],
    "bind": tried(bind),
}))
"""
"""Prints all that orders change of a process. For files that its words name: what is in them, and what it may do."""
EVERYWHERE = [word for place in ("/usr", "/lib", "/lib64", "/proc", "/etc/ld.so.cache") for word in ("read", place)]
EVERYWHERE += [word for place in {sys.prefix, sys.base_prefix} for word in ("read", place)]
"""What a program in Python must be able to read, as `landlock` is told."""
SOMEBODY = 54321
"""An id that nothing else runs as."""

Launch: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["python", pytest.param("compiled", marks=pytest.mark.needs("launcher"))])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Sequence[str]:
    """The start of a command with one launcher, and then with the other; whoever confines uses it, too."""
    monkeypatch.setenv(SWITCH, str(int(request.param == "compiled")))
    assert (launching.launcher()[0] == sys.executable) == (request.param == "python")
    return launching.launcher()


@pytest.fixture
def launch(start: Sequence[str]) -> Launch:
    """Run a launcher with orders and a command."""

    def run(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
        given = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": False, **more}
        return subprocess.run([*start, *map(str, words)], **given)

    return run


def told(launch: Launch, *orders: object, words: Sequence[object] = (), **more: Any) -> dict[str, Any]:
    """What a command sees of itself after these orders."""
    ran = launch(*orders, "run", sys.executable, "-I", "-S", "-c", TELLS, *words, **more)
    assert (ran.returncode, ran.stderr) == (0, "")
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen


def status(ran: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What a command has printed that shows the kernel's account of itself."""
    assert (ran.returncode, ran.stderr) == (0, "")
    return dict(line.split(":", 1) for line in ran.stdout.splitlines())


# --- What every command gets


def test_a_command_gets_its_words_folder_and_environment(launch: Launch, tmp_path: Path) -> None:
    """And no more: not a file that the launcher has open."""
    env = {"LANG": "C.UTF-8", "ODD": "a\nb=ü"}
    seen = told(launch, words=["", "a b", "ü\udcff"], cwd=tmp_path, env=env)
    assert (seen["words"], seen["folder"], seen["env"]) == (["", "a b", "ü\udcff"], str(tmp_path), env)
    assert seen["files"].keys() == {"0", "1", "2"}


def test_a_write_that_cannot_be_is_an_error_not_an_end(launch: Launch) -> None:
    """To a pipe that nobody reads, or beyond what a file may have: whichever launcher began the bot."""
    ignored = int(status(launch("run", "cat", "/proc/self/status"))["SigIgn"], 16)
    assert [number for number in range(1, 65) if ignored >> (number - 1) & 1] == [signal.SIGPIPE, signal.SIGXFSZ]


# --- Each order


@pytest.mark.parametrize("stays_open", [0, 1])
def test_the_report_is_no_longer_what_a_command_reads(launch: Launch, stays_open: int) -> None:
    """Its stdin is empty; only bubblewrap gets the pipe, and writes to it itself."""
    read_end, write_end = os.pipe()
    seen = told(launch, "report", 2, 101, stays_open, "begin", 1, 101, stdin=write_end)
    os.close(write_end)
    with open(read_end, "rb") as report:
        assert report.read() == BEGAN
    assert seen["files"]["0"] == "/dev/null"
    assert ("101" in seen["files"]) == bool(stays_open)


def test_files_of_the_kernel_are_written_to(launch: Launch, tmp_path: Path) -> None:
    """Groups are entered through them, all of them."""
    groups = [tmp_path / name for name in "ab"]
    for group in groups:
        group.touch()
    assert told(launch, "join", 2, *groups, "expendable", 0)["expendable"] == "1000\n"
    assert [group.read_text() for group in groups] == ["0", "0"]


def test_the_umask_is_set(launch: Launch) -> None:
    """As a number of ten digits, as all are."""
    assert told(launch, "umask", 1, 0o027)["umask"] == 0o027


def test_limits_are_no_higher_than_they_were(launch: Launch) -> None:
    """A launcher may be root, and could raise them."""
    files = ("limit", 2, resource.RLIMIT_NOFILE)
    seen = told(launch, *files, 100, *files, 200, "limit", 4, resource.RLIMIT_CORE, 0, resource.RLIMIT_FSIZE, 2**33)
    seen = seen["limits"]
    assert (seen["RLIMIT_NOFILE"], seen["RLIMIT_CORE"], seen["RLIMIT_FSIZE"]) == ([100] * 2, [0] * 2, [2**33] * 2)


def test_who_loses_its_parent_dies(launch: Launch) -> None:
    """The kernel is told, and one that has lost it already does not begin."""
    assert told(launch, "die_with", 1, os.getpid())["dies"] == signal.SIGKILL
    late = launch("die_with", 1, os.getpid() + 1, "run", "echo", "begun")
    assert (late.returncode, late.stdout, late.stderr) == (UNABLE, "", "")


@pytest.mark.needs("root")
def test_a_command_becomes_somebody_without_rights(launch: Launch) -> None:
    """In no group of whoever started it, and without a capability."""
    seen = status(launch("become", 2, SOMEBODY, 65534, "run", "cat", "/proc/self/status"))
    assert (seen["Uid"].split(), seen["Gid"].split()) == (["54321"] * 4, ["65534"] * 4)
    assert (seen["Groups"].split(), int(seen["CapPrm"], 16), int(seen["CapEff"], 16)) == ([], 0, 0)


@pytest.mark.needs("root")
def test_what_is_left_of_a_user_is_ended(start: Sequence[str], launch: Launch) -> None:
    """And nothing of others: a launcher has no rights over them then."""
    sleeps = [subprocess.Popen([*start, *words, "run", "sleep", "1000"]) for words in become(SOMEBODY, SOMEBODY + 1)]
    try:
        for sleep in sleeps:
            while Path(f"/proc/{sleep.pid}/comm").read_text() != "sleep\n":
                pass
        assert launch("become", 2, SOMEBODY, 65534, "end_predecessors", 0, "run", "true").returncode == 0
        assert sleeps[0].wait(20) == -signal.SIGKILL
        assert sleeps[1].poll() is None
    finally:
        for sleep in sleeps:
            sleep.kill()
            sleep.wait()


@pytest.mark.needs("root")
@pytest.mark.needs("mounting")
def test_who_ends_others_has_no_rights_over_strangers(start: Sequence[str]) -> None:
    """Whatever it had before, and if it may read all: seen where it has nobody else to end."""
    alone = ["unshare", "--pid", "--fork", "--mount-proc", "setpriv", f"--reuid={SOMEBODY}"]
    rights = "+kill,+dac_read_search"  # the clone may be in a folder that only root may open
    words = [*alone, f"--inh-caps={rights}", f"--ambient-caps={rights}", *start, "end_predecessors", "0", "run"]
    ran = subprocess.run([*words, "cat", "/proc/self/status"], capture_output=True, text=True, check=False)
    assert int(status(ran)["CapEff"], 16) == 0


def become(*users: int) -> Iterator[Sequence[str]]:
    for user in users:
        yield "become", "2", str(user), "65534"


@pytest.mark.needs("root")
def test_root_loses_its_rights_for_good(launch: Launch) -> None:
    """No capability is left, and none comes back by running a program as root."""
    seen = told(launch, "drop_capabilities", 0)
    assert {name: int(seen[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == dict.fromkeys(
        ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"], 0
    )
    assert seen["securebits"] == 0b101111


@pytest.mark.needs("grade C")
def test_files_are_closed_but_those_that_are_named(launch: Launch, tmp_path: Path) -> None:
    """Some may be read, some written as well, and of some folders only names are seen. TCP is forbidden."""
    for name in ("read", "written", "closed", "listed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    words = [*EVERYWHERE, "read", tmp_path / "read", "write", tmp_path / "written", "list", tmp_path / "listed"]
    words += ["read", tmp_path / "is not there"]
    asked = [tmp_path / name for name in ("read", "written", "closed", "listed")]
    files = [folder / "file" for folder in asked]
    refused = "Permission denied"
    seen = told(launch, "landlock", len(words) + 2, 0, 1, *words, words=files)
    assert seen["read"] == ["read", "written", refused, refused]
    assert seen["write"] == [refused, None, refused, refused]
    assert told(launch, "landlock", len(words) + 2, 0, 1, *words, words=asked)["list"] == [
        ["file"],
        ["file"],
        refused,
        ["file"],
    ]
    assert (seen["bind"], seen["NoNewPrivs"]) == (refused, "1")


@pytest.mark.needs("grade C")
def test_what_may_be_written_may_not_be_run(launch: Launch, tmp_path: Path) -> None:
    """A program is run from where it can only be read."""
    words = list(map(str, EVERYWHERE))
    for right in ("read", "write"):
        (tmp_path / right).mkdir()
        (tmp_path / right / "program").write_text("#!/bin/sh\necho begun\n")
        (tmp_path / right / "program").chmod(0o755)
        words += [right, str(tmp_path / right)]
    ran = [launch("landlock", len(words) + 2, 0, 1, *words, "run", tmp_path / at / "program") for at in words[-4::2]]
    assert [(each.returncode, each.stdout) for each in ran] == [(0, "begun\n"), (NO_PROGRAM, "")]


@pytest.mark.needs("grade C")
@pytest.mark.parametrize("network", [0, 1])
def test_the_network_can_be_left_open_and_files_too(launch: Launch, tmp_path: Path, network: int) -> None:
    """As for a build inside bubblewrap, whose files that holds already."""
    (tmp_path / "file").write_text("mine")
    seen = told(launch, "landlock", 2, network, 0, words=[tmp_path / "file"])
    assert (seen["bind"], seen["read"], seen["write"]) == (
        None if network else "Permission denied",
        ["mine"],
        [None],
    )


@pytest.mark.needs("grade C")
def test_a_filter_is_installed_or_opened_for_bubblewrap(launch: Launch) -> None:
    """Under the number that bubblewrap is told."""
    seen = told(launch, "filter", 2, filter_file("bot"), 100, "seccomp", 1, filter_file("bare"))
    assert (seen["Seccomp"], seen["NoNewPrivs"]) == ("2", "1")
    assert seen["files"]["100"] == filter_file("bot")


@pytest.mark.needs("root")
@pytest.mark.needs("mounting")
def test_places_are_staged_where_others_reach_them(launch: Launch, tmp_path: Path) -> None:
    """Folders and files, as 0, 1, …, for this command only; a folder in memory has its size."""
    stage, closed = tmp_path / "stage", tmp_path / "closed"
    for folder in (stage, closed):
        folder.mkdir()
    (closed / "file").write_text("mine")
    (stage / "under").write_text("it")
    orders = ("stage", 4, stage, closed, closed / "file", stage / "under", "temporary", 3, closed, 8192, 10)
    seen = told(launch, *orders, words=[stage, stage / "1", stage / "2", closed])
    assert seen["read"][1:3] == ["mine", "it"]
    assert sorted(seen["list"][0]) == ["0", "1", "2", "empty", "nothing"]
    assert [place for _, place, *_ in seen["mounts"] if place.startswith("/sys")] == []
    assert seen["list"][3] == []
    assert os.listdir(stage) == ["under"]


@pytest.mark.needs("root")
@pytest.mark.needs("mounting")
def test_closed_folders_are_opened_for_what_lies_in_them(launch: Launch, tmp_path: Path) -> None:
    """Nothing else is in them; what lies in another place that is shown comes with that."""
    for folder in reversed([tmp_path, *tmp_path.parents[:-2]]):
        assert folder.stat().st_mode & stat.S_IXUSR
    deep, shut = tmp_path / "shut" / "deep", tmp_path / "shut"
    (deep / "inside").mkdir(parents=True)
    (tmp_path / "open").mkdir()
    for file in (deep / "file", deep / "inside" / "file", shut / "secret", tmp_path / "open" / "file"):
        file.write_text("mine")
    shut.chmod(0o700)
    places = [deep, deep / "inside", tmp_path / "open" / "file", *EVERYWHERE[1::2], tmp_path / "open"]
    asked = [deep / "file", deep / "inside" / "file", tmp_path / "open" / "file", shut / "secret", shut, ".."]
    orders = ("uncover", len(places) + 2, SOMEBODY, 65534, *places, "become", 2, SOMEBODY, 65534)
    seen = told(launch, *orders, words=asked, cwd=deep)
    assert seen["read"][:4] == ["mine", "mine", "mine", "No such file or directory"]
    assert seen["list"][4:] == [["deep"], ["deep"]]
    assert seen["folder"] == str(deep)
    assert ["noatime" in options for _, place, options, _ in seen["mounts"] if place == "/"] == [True]


@pytest.mark.needs("root")
@pytest.mark.needs("mounting")
def test_a_namespace_is_entered(launch: Launch) -> None:
    """One that another process has made."""
    with subprocess.Popen(["unshare", "-U", "-r", "sh", "-c", "echo; read x"], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        path = f"/proc/{holder.pid}/ns/user"
        assert told(launch, "enter", 1, path)["namespace"] == os.readlink(path)
        holder.communicate(b"\n")


def test_every_order_is_tested() -> None:
    """One that is added is added here."""
    text = Path(__file__).read_text()
    assert [name for name in ORDERS if f'"{name}", ' not in text] == []


# --- What cannot be done


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        (("join", 1, "/no/such"), "join: /no/such: No such file or directory"),
        (("join", 1, "/"), "join: /: Is a directory"),
        (("enter", 1, "/no/such"), "enter: /no/such: No such file or directory"),
        (("enter", 1, "/dev/null"), "enter: setns: Invalid argument"),
        (("filter", 2, "/no/such", 100), "filter: /no/such: No such file or directory"),
        (("seccomp", 1, "/no/such"), "seccomp: /no/such: No such file or directory"),
        (("seccomp", 1, "/dev/null"), "seccomp: prctl 22: Invalid argument"),
        (("landlock", 4, 0, 1, "read", "/dev/null/x"), "landlock: /dev/null/x: Not a directory"),
        (("begin", 1, 1000), "begin: Bad file descriptor"),
        (("umask", 1, "x"), "umask: makes no sense"),
        (("umask", 2, 1, 1), "umask: makes no sense"),
        (("umask", 1), "umask: makes no sense"),
        (("umask",), "umask: makes no sense"),
        (("limit", 1, 1), "limit: makes no sense"),
        (("landlock", 4, 0, 1, "change", "/usr"), "landlock: makes no sense"),
        (("do_what_is_good", 0), "do_what_is_good: makes no sense"),
        (("ümask\udcff", 0), "ümask\udcff: makes no sense"),
    ],
)
@pytest.mark.needs("grade C")
def test_an_order_that_fails_is_a_line_and_the_command_does_not_begin(
    launch: Launch, orders: Sequence[object], said: str
) -> None:
    """The same line, whoever says it."""
    ran = launch(*orders, "run", "echo", "begun", errors="surrogateescape")
    assert (ran.returncode, ran.stdout, ran.stderr) == (UNABLE, "", f"sandbox: {said}\n")


@pytest.mark.needs("root")
@pytest.mark.needs("mounting")
@pytest.mark.parametrize(
    ("orders", "said"),
    [
        (("stage", 2, "/no/such", "/usr"), "stage: /no/such: No such file or directory"),
        (("stage", 2, "/mnt", "/no/such"), "stage: /no/such: No such file or directory"),
        (("uncover", 3, 1, 1, "/no/such/place"), "uncover: /no: No such file or directory"),
        (("temporary", 3, "/no/such", 1, 1), "temporary: /no/such: No such file or directory"),
        (("become", 2, 2**32, 1), "become: makes no sense"),
        (("become", 2, 1, 1, "become", 2, 1, 1), "become: Operation not permitted"),
        (("become", 2, 1, 1, "stage", 1, "/mnt"), "stage: unshare: Operation not permitted"),
        (("become", 2, 1, 1, "drop_capabilities", 0), "drop_capabilities: prctl 28: Operation not permitted"),
    ],
)
def test_what_root_cannot_do_is_a_line_as_well(launch: Launch, orders: Sequence[object], said: str) -> None:
    """Also what it has given up the right to."""
    ran = launch(*orders, "run", "echo", "begun")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (UNABLE, "", 1)
    assert ran.stderr.startswith(f"sandbox: {said}")


@pytest.mark.parametrize("words", [(), ("run",), ("umask", 1, 18)])
def test_without_a_command_there_is_nothing_to_begin(launch: Launch, words: Sequence[object]) -> None:
    """It is how one finds out whether a launcher can be run at all."""
    ran = launch(*words)
    assert (ran.returncode, ran.stdout) == (UNABLE, "")
    assert ran.stderr.endswith(": makes no sense\n")


def test_a_program_that_cannot_be_run_is_a_line(launch: Launch, tmp_path: Path) -> None:
    """Another code than a failed order has: this one is the bot's."""
    text, folder = tmp_path / "text", tmp_path / "folder"
    text.write_text("echo begun\n")
    text.chmod(0o755)
    folder.mkdir()
    for command, why in [
        ("no-such", "No such file or directory"),
        ("./no/such", "No such file or directory"),
        (text, "Exec format error"),  # it is not given to a shell
        ("text", "Exec format error"),
        ("folder", "Permission denied"),
        (folder, "Permission denied"),
        (f"{text}/x", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("it's", "No such file or directory"),
    ]:
        ran = launch("run", command, env={"PATH": f"/no/such:{text}:{tmp_path}:/usr/bin"})
        assert (ran.returncode, ran.stdout, ran.stderr) == (NO_PROGRAM, "", f"cannot run '{command}': {why}\n")


@pytest.mark.parametrize("path", ["/usr/bin", "{}:/usr/bin", ":/bin", "/no/such:/bin/", None])
def test_a_program_is_looked_for_in_the_path_of_the_environment(
    launch: Launch, tmp_path: Path, path: str | None
) -> None:
    """What cannot be run there is passed over; without a path there is the usual one."""
    (tmp_path / "echo").write_text("this may not be run")
    env = {} if path is None else {"PATH": path.format(tmp_path)}
    ran = launch("run", "echo", "begun", env=env, cwd="/")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "begun\n", "")


def test_a_program_in_the_current_folder_is_found_by_an_empty_part_of_the_path(launch: Launch, tmp_path: Path) -> None:
    """As everywhere."""
    (tmp_path / "own").write_text("#!/bin/sh\necho begun\n")
    (tmp_path / "own").chmod(0o755)
    assert launch("run", "own", env={"PATH": "/no/such:"}, cwd=tmp_path).stdout == "begun\n"


# --- As they are used


@pytest.mark.needs("launcher")
@pytest.mark.parametrize("grade", grades("ABCD"))
def test_a_bot_cannot_tell_which_launcher_began_it(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rights, limits, files and mounts are the same but for the names of folders, and of its user."""
    seen = []
    with run_folder() as folder:
        for on in ("0", "1"):
            monkeypatch.setenv(SWITCH, on)
            seen.append(confined(grade, folder / on))
    assert seen[0] == seen[1]
    assert seen[0]["limits"]["RLIMIT_NOFILE"] == [256, 256]


def confined(grade: Grade, folder: Path) -> dict[str, Any]:
    """What a bot sees of itself, without what differs from start to start."""
    places = {name: folder / name for name in ("bot", "door", "tmp")}
    for place in places.values():
        place.mkdir(parents=True)
    command = [sys.executable, "-I", "-S", "-c", TELLS, "/usr/bin", "/etc/shadow", "/proc/1", "/tmp"]
    bot = confine(
        probe(grade), command, root=places["bot"], socket_folder=places["door"], scratch=places["tmp"],
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
    )  # fmt: skip
    ran = subprocess.run(
        bot.argv, env=bot.env, cwd=bot.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    bot.release()
    assert ran.returncode == 0, ran.stderr
    seen: dict[str, Any] = json.loads(ran.stdout.replace(str(folder), "FOLDER"))
    uid, seen["files"] = seen["Uid"].split(), sorted(seen["files"])
    if grade.at_least(Grade.C):
        assert uid != ["0"] * 4 or os.geteuid() != 0 or not probe(grade).own_user
    return {name: value for name, value in seen.items() if name not in {"Uid", "namespace", "list"}}


# --- How the compiled one is found


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where no launcher was compiled yet."""
    source = tmp_path / launching.SOURCE.name
    source.write_bytes(launching.SOURCE.read_bytes())
    monkeypatch.setattr(launching, "SOURCE", source)
    monkeypatch.setattr(launching, "BUILT", tmp_path / "built")
    monkeypatch.delenv(SWITCH, raising=False)
    forget()
    yield tmp_path / "built"
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Have the launcher looked for anew."""
    launching.target.cache_clear()
    launching._is_compiled.cache_clear()


def prepared() -> list[str]:
    """What is said when it is prepared."""
    said: list[str] = []
    launching.prepare_launcher(said.append)
    return said


def is_compiled() -> bool:
    """Whether bots are started by a compiled launcher."""
    return launching.launcher() == (str(launching.target()),)


@pytest.mark.needs("launcher")
def test_it_is_compiled_once_and_then_used(nothing_compiled: Path) -> None:
    """Another source is compiled anew; meanwhile Python starts bots."""
    assert (is_compiled(), launching.find_launcher().why) == (False, "is compiled by the first command that plays")
    assert prepared() == ["arena: compiling the launcher (once) …"]
    assert (is_compiled(), prepared()) == (True, [])
    assert os.listdir(nothing_compiled) == [launching.target().name]
    with launching.SOURCE.open("a") as source:
        source.write("/* changed */\n")
    forget()
    assert not is_compiled()


@pytest.mark.needs("launcher")
@pytest.mark.usefixtures("nothing_compiled")
def test_what_is_compiled_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher with the core."""
    prepared()
    monkeypatch.setenv(SWITCH, "0")
    assert (is_compiled(), launching.find_launcher().why) == (False, "ARENA_CORE=0 switches it off")


@pytest.mark.usefixtures("nothing_compiled")
def test_without_a_compiler_python_starts_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert (prepared(), is_compiled()) == ([], False)
    assert launching.find_launcher().why == "no C compiler (cc) is found"


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (b"\x7fELF", 0o755, "Exec format error"),
        (b"#!/bin/sh\n", 0o644, "Permission denied"),  # as on a disk where nothing can be run
        (b"#!/bin/sh\n", 0o755, "it ended with 0"),
    ],
)
def test_one_that_cannot_be_run_is_not_used(nothing_compiled: Path, content: bytes, mode: int, why: str) -> None:
    """It may have been made for another system, or be half a file."""
    nothing_compiled.mkdir()
    launching.target().write_bytes(content)
    launching.target().chmod(mode)
    assert not is_compiled()
    assert why in launching.find_launcher().why


@pytest.mark.needs("cc")
def test_the_source_has_no_warnings(tmp_path: Path) -> None:
    """Of any kind that compilers give: it may run as root."""
    strict = ("-Wpedantic", "-Wshadow", "-Wconversion", "-Wformat=2", "-Wstrict-prototypes", "-Werror")
    compile_to(tmp_path / "launcher", [*compiler(), *launching.FLAGS, *strict, str(launching.SOURCE)])
