"""Started as root, bots and builds are somebody else's, with bubblewrap or without."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from arena.sandbox import Grade, confine, confine_build, probe, users
from arena.sandbox.run_folder import run_folder
from tests.cli.commands import ARENA, environment
from tests.needs import grades
from tests.tournament import programs

pytestmark = pytest.mark.needs("root")
TELLS = "import os, sys; sys.exit(f'{os.getuid()} {os.getcwd()}')\n"
NO_MOUNTS = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]
"""A root that may not mount, as in most containers."""


def told(folder: Path, *before: str, grade: str) -> tuple[list[str], str]:
    """What a bot says of itself before it ends, played from a folder; and what the arena says of the sandbox."""
    (folder / "tells.py").write_text(TELLS)
    words = [*before, str(ARENA), "match", "./tells.py", "random", "--game=birth", "--json", "--sandbox", grade]
    ran = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    (match,) = json.loads(ran.stdout)["matches"]
    evidence: dict[str, Any] = match["evidence"]["0"]
    return evidence["output"][-1].split(maxsplit=1), ran.stderr


@pytest.mark.needs("grade C")
@pytest.mark.needs("mounting")
def test_without_bubblewrap_bots_are_not_root(tmp_path: Path) -> None:
    """Also where the arena's Python, or the bot, lies in a folder that their user may not enter."""
    tmp_path.chmod(0o700)
    (uid, place), _ = told(tmp_path, grade="C")
    assert int(uid) in users.ids()
    assert os.path.isabs(place)


@pytest.mark.needs("grade C")
def test_a_root_that_may_not_mount_does_what_it_can(tmp_path: Path) -> None:
    """Its bots are others if they can reach its Python as it is; else the line on the sandbox says what they are."""
    (uid, _), said = told(tmp_path, *NO_MOUNTS, grade="C")
    assert int(uid) == 0 or int(uid) in users.ids()
    assert ("without a user of their own" in said) == (uid == "0")


@pytest.mark.needs("mounting")
@pytest.mark.parametrize("grade", grades("ABC"))
def test_a_build_changes_no_file_of_others(grade: Grade, tmp_path: Path) -> None:
    """It may change modes, since compilers do; of what is not its own it may not."""
    canary = tmp_path / "canary"
    canary.write_text("mine")
    canary.chmod(0o600)
    before = canary.stat()
    with run_folder() as scratch:
        root, own = scratch / "bot", scratch / "own"
        for place in (root, own / "home", own / "tmp"):
            place.mkdir(parents=True)
        (root / "part").touch()
        user = users.take_user()
        for place in (root, root / "part", own, own / "home", own / "tmp"):
            user.let_use(place)
        script = f"chmod 755 part; chmod 4755 {canary}; touch {canary}"
        env = {"PATH": "/usr/bin:/bin"}
        made = confine_build(probe(grade), ["sh", "-c", script], root=root, build_folder=own, env=env, user=user)
        ran = subprocess.run(
            made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        made.release()
        user.give_back()
        assert (root / "part").stat().st_mode & 0o777 == 0o755, ran.stderr
    assert (canary.stat().st_mode, canary.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@pytest.mark.needs("grade C")
@pytest.mark.needs("mounting")
def test_a_program_below_what_all_may_see_is_reached_too() -> None:
    """A home may lie in /usr/local, or in a folder of the arena's Python: only what shuts it in is opened up."""
    with tempfile.TemporaryDirectory(prefix="arena-test-", dir=sys.prefix) as shut, run_folder() as scratch:
        root = Path(shut, "bot")
        root.mkdir()
        for name in ("door", "tmp"):
            (scratch / name).mkdir()
        made = confine(
            probe(Grade.C),
            ["pwd"],
            root=root,
            socket_folder=scratch / "door",
            scratch=scratch / "tmp",
            env={"PATH": "/bin"},
        )
        ran = subprocess.run(
            made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        made.release()
    assert (ran.stdout, ran.stderr) == (f"{root}\n", "")


@pytest.mark.needs("grade B")
def test_bots_read_what_builds_made(tmp_path: Path) -> None:
    """They have users of their own, and tools close what they make to others."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.py").write_text("print(open('made').read())\n" + programs.FIRST)
    build = [["sh", "-c", "umask 077; echo made > made"]]
    (tmp_path / "mine/bot.toml").write_text(f"run = ['python', 'bot.py']\ngames = ['birth']\nbuild = {build}\n")
    words = [str(ARENA), "match", "./mine", "random", "--game=birth", "--json"]
    ran = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    (match,) = json.loads(ran.stdout)["matches"]
    assert match["forfeits"] == []


@pytest.mark.needs("grade C")
@pytest.mark.needs("cc")
def test_a_root_that_may_not_mount_builds(tmp_path: Path) -> None:
    """Also where there are compilers that builders may not reach."""
    (tmp_path / ".rustup/toolchains/none/bin").mkdir(parents=True)
    tmp_path.chmod(0o700)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.c").write_text("int main(void) { return 3; }\n")
    toml = "run = ['./bot']\ngames = ['birth']\nbuild = [['cc', '-o', 'bot', 'bot.c']]\n"
    (tmp_path / "mine/bot.toml").write_text(toml)
    words = [*NO_MOUNTS, str(ARENA), "match", "./mine", "random", "--game=birth", "--json", "--sandbox=C"]
    env = {**environment(), "RUSTUP_HOME": str(tmp_path / ".rustup")}
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (match,) = json.loads(ran.stdout)["matches"]
    assert match["evidence"]["0"]["exit"] == "exited with code 3", ran.stderr


def test_two_arenas_never_give_away_the_same_user(tmp_path: Path) -> None:
    """Not even if there are only two to give; who dies gives back what it had."""
    few = range(users.ids().start, users.ids().start + 2)
    mine = users.TakenUser(few, (tmp_path / "users",))
    words = "import sys; from pathlib import Path; from arena.sandbox.users import TakenUser; "
    words += f"taken = TakenUser({few!r}, (Path({str(tmp_path / 'users')!r}),)); print(taken.take().uid, flush=True)"
    command = [sys.executable, "-c", f"{words}; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = int(other.stdout.readline())
        own = mine.take()
        assert {theirs, own.uid} == set(few)
        with pytest.raises(users.NoUser, match="all 2 users for bots are taken"):
            mine.take()
        other.kill()
    again = mine.take()
    assert again.uid == theirs
    own.give_back()
    assert mine.take().uid == own.uid


def test_ids_that_accounts_have_are_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """/etc/subuid says which; a line for the arena itself names others, and one that means nothing is passed over."""
    usual = users.USUAL[0]
    monkeypatch.setattr(users, "SUBORDINATE", tmp_path / "subuid")
    assert users.ids.__wrapped__() == usual
    (tmp_path / "subuid").write_text(f"# a comment\n\nann:{usual.start - 5}:6\nben:x:1\n")
    assert users.ids.__wrapped__() == users.USUAL[1]
    (tmp_path / "subuid").write_text("arena:100:0\narena:3000000:1000\n")
    assert users.ids.__wrapped__() == range(3_000_000, 3_001_000)
    (tmp_path / "subuid").write_text("arena:1000:1000\n")
    with pytest.raises(users.NoUser, match="'arena' needs ids from 65536 on that exist here, not 1000 to 1999"):
        users.ids.__wrapped__()
    (tmp_path / "subuid").write_text("".join(f"ann:{each.start}:1\n" for each in users.USUAL))
    with pytest.raises(users.NoUser, match="no user ids are free for bots: add a line 'arena:FIRST:COUNT'"):
        users.ids.__wrapped__()


@pytest.mark.needs("mounting")
@pytest.mark.parametrize("grade", grades("ABC"))
def test_what_a_dead_arena_left_running_is_ended_before_its_user_starts_anew(grade: Grade, tmp_path: Path) -> None:
    """Else a bot would share what the kernel counts by user with a process that nobody knows of."""
    user = users.take_user()
    left = subprocess.Popen(["sleep", "1000"], user=user.uid, group=65534, extra_groups=[])
    for name in ("bot", "door", "tmp"):
        (tmp_path / name).mkdir()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(users, "take_user", lambda: user)
        made = confine(
            probe(grade), ["true"],
            root=tmp_path / "bot", socket_folder=tmp_path / "door", scratch=tmp_path / "tmp", env={"PATH": "/bin"},
        )  # fmt: skip
    try:
        subprocess.run(made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, check=False)
        assert left.wait(timeout=60) == -9
    finally:
        left.kill()
        made.release()


def test_where_the_usual_file_of_locks_cannot_be_made_another_is_used(tmp_path: Path) -> None:
    """As in a container whose /run cannot be written; one that a stranger has made is not touched."""
    theirs = tmp_path / "theirs"
    theirs.touch()
    shutil.chown(theirs, 12345)
    few = range(users.ids().start, users.ids().start + 1)
    assert users.TakenUser(few, (tmp_path / "none/users", theirs, tmp_path / "users")).take().uid == few.start
    with pytest.raises(users.NoUser, match="theirs belongs to somebody else"):
        users.TakenUser(few, (tmp_path / "none/users", theirs))
