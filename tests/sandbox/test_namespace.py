"""An ordinary user who has subordinate ids gives bots users of their own, as root does."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

import arena
from arena.sandbox import Grade, users
from tests.needs import grades

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

Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


def outside_in(place: Path) -> list[Path]:
    """The folders around a place, the outermost first."""
    return list(reversed(place.parents))


def is_closed(folder: Path) -> bool:
    """Whether others than its owner may not enter a folder."""
    return not folder.stat().st_mode & 0o001


@pytest.fixture
def as_account(tmp_path: Path) -> Iterator[Run]:
    """Run the arena as an account, with its own /etc/passwd, /etc/subuid and /etc/subgid that nobody else sees."""
    (tmp_path / "passwd").write_text(f"{Path('/etc/passwd').read_text()}somebody:x:{ACCOUNT}:{ACCOUNT}::/:/bin/sh\n")
    (tmp_path / "home").mkdir()
    os.chown(tmp_path / "home", ACCOUNT, ACCOUNT)

    def run(*words: str, given: str = f"somebody:{FIRST}:65536\n") -> subprocess.CompletedProcess[str]:
        for name in ("subuid", "subgid"):
            (tmp_path / name).write_text(given)
        places = [ROOT, Path(sys.base_prefix).resolve()]  # they may lie in a folder that is root's alone
        shut = {closed[0] for place in places if (closed := [each for each in outside_in(place) if is_closed(each)])}
        first, second = (shlex.quote(str(place)) for place in places)
        etc, python = shlex.quote(str(tmp_path)), shlex.quote(sys.executable)
        shown = f"""
            for name in passwd subuid subgid; do mount --bind {etc}/$name /etc/$name; done
            mount -t tmpfs -o mode=755 none /opt
            mkdir /opt/home /opt/0 /opt/1
            mount --bind {etc}/home /opt/home
            mount --rbind {first} /opt/0
            mount --rbind {second} /opt/1
            for folder in {shlex.join(map(str, shut))}; do mount -t tmpfs -o mode=755 none "$folder"; done
            [ -e {first} ] || {{ mkdir -p {first}; mount --rbind /opt/0 {first}; }}
            [ -e {second} ] || {{ mkdir -p {second}; mount --rbind /opt/1 {second}; }}
            cd /opt/home
            exec setpriv --reuid={ACCOUNT} --regid={ACCOUNT} --clear-groups {python} -m arena.cli "$@"
        """
        env = {"PATH": os.environ["PATH"], "HOME": "/opt/home"}
        return subprocess.run(
            ["unshare", "--mount", "sh", "-ec", shown, "sh", *words],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip

    yield run
    Path(f"/tmp/arena-users-{ACCOUNT}").unlink(missing_ok=True)


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
    (tmp_path / "home/tmp").mkdir()
    os.chown(tmp_path / "home/tmp", ACCOUNT, ACCOUNT)
    ran = as_account("match", "./tells.py", "random", "--game=birth", "--json", f"--sandbox={grade}", "--home=home")
    (match,) = json.loads(ran.stdout)["matches"]
    uid, gid, *_, files = match["evidence"]["0"]["output"][-1].split()
    assert files == "['file']"
    if grade is Grade.C:  # inside bubblewrap each bot is 1000
        assert (int(uid) in range(1, 10_001), gid) == (True, "1")
    left = [each for each in Path("/tmp").glob("*arena-*") if each.stat().st_uid >= ACCOUNT]
    assert [each.name for each in left] == [f"arena-users-{ACCOUNT}"]


@pytest.mark.long
@pytest.mark.parametrize("grade", grades("BC"))
def test_all_attacks_are_held(as_account: Run, grade: Grade) -> None:
    """Also those that take from all other processes of a user what the kernel counts by user."""
    ran = as_account("selftest", f"--sandbox={grade}")
    assert ran.returncode == 0, ran.stdout
    count = sum("held" in line for line in ran.stdout.splitlines())
    assert f"{count} of {count} as promised" in ran.stdout
