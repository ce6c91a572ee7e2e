"""The sandbox holds what its grade promises, in every grade that a machine can show; and the attacks are real."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.base.compiler import SWITCH
from arena.sandbox import Grade, NoSandbox, attack_run, launching, probe, users
from arena.sandbox.attacks import ATTACKS
from arena.sandbox.probe import found_here
from tests.cli.commands import ARENA, arena, environment
from tests.clone import ROOT
from tests.needs import grades

probing = importlib.import_module("arena.sandbox.probe")
UNPRIVILEGED = [
    str(shutil.which("bwrap")),
    "--dev-bind",
    "/",
    "/",
    "--unshare-user",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--",
]
"""Somebody who is not root, wherever the arena's Python may lie."""


def attacked(*before: str, grade: str = "auto", **env: str) -> dict[str, Any]:
    """The verdicts by attack, and the grade."""
    words = [*before, str(ARENA), "selftest", "--sandbox", grade, "--json"]
    done = subprocess.run(words, env={**environment(), **env}, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    found = json.loads(done.stdout)
    assert all(each["ran"] for each in found["attacks"])
    assert [each["attack"] for each in found["attacks"]] == list(ATTACKS)
    return {"grade": found["grade"], **{each["attack"]: each for each in found["attacks"]}}


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("compiled", ["1", "0"])
@pytest.mark.parametrize("grade", grades("ABC"))
def test_nothing_gets_out(grade: str, compiled: str) -> None:
    """Every attack ran, and none achieved what the grade promises to hold, whichever launcher began it."""
    found = attacked(grade=grade, **{SWITCH: compiled})
    assert found["grade"] == grade
    held = [name for name, attack in ATTACKS.items() if Grade(grade).at_least(Grade(attack.held_from))]
    assert [found[name]["achieved"] for name in held] == [None] * len(held)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_attacks_are_real() -> None:
    """Where nothing is promised they succeed: a test that cannot fail proves nothing."""
    found = attacked(grade="D")
    real = {
        "read_secrets",
        "find_folders_of_others",
        "change_itself",
        "reach_the_network",
        "send_datagrams",
        "see_others",
    }
    real |= {"reach_abstract_sockets", "reach_a_socket_of_others", "signal_others", "read_memory_of_others"}
    real |= {
        "empty_files",
        "change_metadata",
        "leave_notes_in_times",
        "watch_files",
        "see_what_is_cached",
        "change_what_is_cached",
    }
    real |= {"read_counters_of_the_machine", "watch_the_load", "find_abstract_names_taken", "limit_others"}
    real |= {"leave_notes", "link_files", "change_settings", "use_the_kernels_log"}
    real |= {"gain_privileges", "signal_by_locks", "share_memory", "change_its_priority"}
    assert {name for name in real if not found[name]["achieved"]} == set()


def test_a_process_whose_words_are_no_text_troubles_nobody(tmp_path: Path) -> None:
    """Anybody may run one on this machine while the arena looks for what an attack has left behind."""
    canaries = attack_run.Canaries(tmp_path, shares_names=True)
    with subprocess.Popen([sys.executable, "-c", "input()", b"\xff"], stdin=subprocess.PIPE) as process:
        assert canaries.harm() is None
        process.communicate(b"\n")
    canaries.close()


MOUNTED = """
import os
from pathlib import Path
from arena.sandbox import attacks

def over_nothing(source, place, *rest):
    assert os.listdir(place) == [], place
    done = mount(source, place, *rest)
    os.open(place, os.O_RDONLY)
    return done

mount, attacks.libc.mount = attacks.libc.mount, over_nothing
before = Path("/proc/self/mountinfo").read_text()
print(attacks.ATTACKS["mount_file_systems"].attempt())
assert Path("/proc/self/mountinfo").read_text() == before
"""
"""Makes the attack that mounts, while somebody looks into whatever was mounted."""


@pytest.mark.needs("root")
def test_an_attack_that_succeeds_hides_no_files_of_others() -> None:
    """Nothing holds root at grade D: `arena selftest` must not take the temporary files of the whole machine away."""
    words = ["unshare", "--mount", sys.executable, "-c", MOUNTED]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("mounted\n", "")


@pytest.mark.long
@pytest.mark.needs("root")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("grade", grades("ABC"))
def test_with_one_user_for_all_a_bot_starves_another(
    grade: Grade, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What users of their own are for: without them the attacks with a victim beside them succeed.

    Only on a small machine do they use up the watches, too.
    """
    own = launching.PYTHONS
    (tmp_path / own.name).write_text(
        own.read_text().replace('"end_predecessors": end_predecessors', '"end_predecessors": int')
    )
    tmp_path.chmod(0o755)
    one = users.take_user()
    monkeypatch.setattr(launching, "PYTHONS", tmp_path / own.name)
    monkeypatch.setenv(SWITCH, "0")
    monkeypatch.setattr(
        users, "take_user", lambda: users.User(one.uid, users.TakenUser(users.ids(), (tmp_path / "users",)))
    )
    monkeypatch.setattr(attack_run, "ATTACKS_AT_ONCE", 1)
    starving = {name: attack for name, attack in ATTACKS.items() if attack.starves}
    monkeypatch.setattr(attack_run, "ATTACKS", starving)
    verdicts = {verdict.attack: verdict for verdict in attack_run.run_attacks(probe(grade), lambda *_: None)}
    one.give_back()
    assert verdicts["use_up_pipes"].achieved == "kept another bot from starting: OSError: [Errno 24] pipes are small"
    assert not verdicts["use_up_signals"].is_well


@pytest.mark.long
@pytest.mark.needs("grade B")
@pytest.mark.timeout(300)
def test_nobody_need_be_root() -> None:
    """An ordinary user's bots are held as well."""
    assert attacked(*UNPRIVILEGED)["grade"] in "AB"


@pytest.mark.long
@pytest.mark.needs("grade C")
@pytest.mark.timeout(300)
def test_without_bubblewrap_landlock_holds(tmp_path: Path) -> None:
    """On a machine that lacks it: the same attacks, fewer promises."""
    assert attacked(PATH=links(tmp_path, without="bwrap"))["grade"] == "C"


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.needs("grade B")
@pytest.mark.needs("grade C")
def test_landlock_holds_for_an_ordinary_user(tmp_path: Path) -> None:
    """Whose bots own the arena's files: what is noted of them is kept by the filter alone."""
    assert attacked(*UNPRIVILEGED, PATH=links(tmp_path, without="bwrap"))["grade"] == "C"


def links(folder: Path, *, without: str = "") -> str:
    """A search path of links to everything, but for one program."""
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if os.path.isdir(place) else ():
            link = folder / program.name
            if program.name != without and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


@pytest.mark.long
def test_a_search_path_of_links_will_do(tmp_path: Path) -> None:
    """Inside bubblewrap it leads nowhere, so what stands around a bot must not be looked for by it."""
    (tmp_path / "bin").mkdir()
    words = [str(ARENA), "match", "random", "random", "--game=birth", "--json"]
    env = {**environment(), "PATH": links(tmp_path / "bin")}
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200, check=True)
    assert json.loads(ran.stdout)["matches"][0]["forfeits"] == []


def test_a_weaker_sandbox_than_required_is_refused(tmp_path: Path) -> None:
    """In one line, before anything is played or made."""
    ran = arena("ladder", "--game=birth", "--sandbox=D", "--require-sandbox=B", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "--require-sandbox=B: this is grade D" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_weak_sandbox_is_said_loudly(tmp_path: Path) -> None:
    """With what to do about it; what the command prints is as always."""
    weak = arena("match", "random", "random", "--game=birth", "--json", "--sandbox=D", cwd=tmp_path)
    assert (weak.code, weak.err) == (0, "")
    assert weak.caution.startswith("sandbox grade D: ")
    assert "install bubblewrap" in weak.caution
    assert json.loads(weak.out)["matches"]


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine without bubblewrap, as far as the probe sees it."""
    monkeypatch.setattr(shutil, "which", lambda *_args, **_more: None)
    found_here.cache_clear()
    yield
    found_here.cache_clear()


@pytest.mark.usefixtures("nothing_installed")
def test_what_a_machine_lacks_cannot_be_asked_for() -> None:
    """And the reason is given."""
    with pytest.raises(NoSandbox, match="bubblewrap: not installed"):
        probe(Grade.B)


@pytest.mark.parametrize(("abi", "lacks"), [(2, ["signals", "empty"]), (3, ["signals"]), (5, ["signals"]), (6, [])])
def test_what_an_older_landlock_leaves_open_is_said(abi: int, lacks: list[str]) -> None:
    """As the kernel documents it: truncation is ABI 3, and scopes of signals and sockets are ABI 6."""
    said = probing._of_landlock(abi)
    assert [word for word in ("signals", "empty") if word in said] == lacks


@pytest.mark.needs("a full run")
def test_this_machine_has_a_sandbox() -> None:
    """Where these tests run nothing of it may be missing, or nobody would notice what broke."""
    assert probe().grade.at_least(Grade.B)
