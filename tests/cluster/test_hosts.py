"""Which hosts take part in a run: by their certificate, their sandbox and what they compute."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import ARENA, arena, environment
from tests.cluster.grid import Grid, certificates, until, words

pytestmark = [pytest.mark.long, pytest.mark.timeout(300), pytest.mark.needs("two hosts")]

LADDER = ("ladder", "--game", "birth", "--bots", "random,greedy", "--seed", "known", "--rounds", "400")
WITHOUT_BWRAP = ("sleep", "cc", "gcc")
"""All that the poorer host finds in its PATH."""
DISHONEST = """
import sys
if "arena.cluster.host" in " ".join(sys.orig_argv):
    from arena.worker.local_host import WorkerProcess

    receive = WorkerProcess.receive

    def altered(worker):
        delivery = receive(worker)
        if not delivery.results:
            return delivery
        first, *others = delivery.results
        scores = tuple(score + 1 for score in first.outcome.scores)
        changed = first._replace(outcome=first.outcome._replace(scores=scores))
        return delivery._replace(results=[changed, *others])

    WorkerProcess.receive = altered
"""
"""Imported by each Python process of a host: in every delivery it changes the scores of one match."""


@pytest.fixture(autouse=True)
def all_there(steady: Grid) -> None:
    """Both hosts have joined the cluster."""
    until(lambda: sorted(steady.listed()) == sorted(host.name for host in steady.hosts), "hosts")


def test_a_cluster_is_asked_what_its_hosts_are(steady: Grid, tmp_path: Path) -> None:
    """The grade of each, its clock and what it has, in a table and as JSON."""
    ran = arena("doctor", *words(steady), "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["hosts"]
    assert [host["name"] for host in found] == ["one", "two"]
    for host in found:
        assert host["problem"] is None
        assert host["grade"] in ("A", "B", "C")
        assert abs(host["clock_ahead"]) < 2
    assert "two" in arena("doctor", *words(steady), cwd=tmp_path).out


def test_bots_are_compared_in_a_cluster(steady: Grid, tmp_path: Path) -> None:
    """The answer is that of this machine alone, also for a bot that is named by its path."""
    (tmp_path / "mine.py").write_text("from arena_bot import run\nrun(lambda decision: decision.legal[0])\n")
    question = ("compare", "greedy", "./mine.py", "--game", "birth", "--seed", "known", "--home", tmp_path / "home")
    ran = arena(*question, *words(steady), cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert ran.out == arena(*question, "-j", "1", cwd=tmp_path).out


def test_a_host_with_a_weaker_sandbox_takes_no_part(steady: Grid, tmp_path: Path) -> None:
    """The grade that a contest asks for holds on each host; the line says which has less, and the others play."""
    two = steady.hosts[1]
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in filter(shutil.which, WITHOUT_BWRAP):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    two.kill()
    until(lambda: steady.listed() == ["one"], "end")
    two.start(PATH=str(tools))
    try:
        until(lambda: len(steady.listed()) == 2, "hosts")
        ran = arena(*LADDER, "--require-sandbox", "B", "--home", tmp_path / "home", *words(steady), cwd=tmp_path)
    finally:
        two.kill()
        two.start()
    assert ran.code == 0, ran.err
    assert "two does not take part: its sandbox has grade C, and B is asked for" in ran.err
    assert "one played 800 matches" in ran.err


def test_hosts_verify_what_was_played(steady: Grid, tmp_path: Path) -> None:
    """They replay the matches, and what is said is what this machine says alone."""
    home = tmp_path / "home"
    assert arena(*LADDER, "--home", home, "-j", "2", cwd=tmp_path).code == 0
    alone = arena("verify", "--home", home, "-j", "1", cwd=tmp_path)
    together = arena("verify", "--home", home, *words(steady), cwd=tmp_path)
    assert (together.code, together.out) == (alone.code, alone.out) == (0, alone.out)
    assert "takes part" in together.err


def test_a_result_that_a_host_altered_is_found(steady: Grid, tmp_path: Path) -> None:
    """Hosts are trusted to play, but what they say can be checked by anybody: by the dice and by the rules."""
    two = steady.hosts[1]
    (tmp_path / "sitecustomize.py").write_text(DISHONEST)
    two.kill()
    until(lambda: steady.listed() == ["one"], "end")
    two.start(PYTHONPATH=str(tmp_path))
    try:
        until(lambda: len(steady.listed()) == 2, "hosts")
        ran = arena(*LADDER, "--home", tmp_path / "home", *words(steady), cwd=tmp_path)
    finally:
        two.kill()
        two.start()
    assert ran.code == 0, ran.err
    verified = arena("verify", "--home", tmp_path / "home", cwd=tmp_path)
    assert verified.code == 3
    until(lambda: len(steady.listed()) == 2, "hosts")
    together = arena("verify", "--home", tmp_path / "home", *words(steady), cwd=tmp_path)
    assert together.code == 3
    assert together.err.splitlines()[-1] == verified.err.splitlines()[-1]
    match = verified.err.partition("match ")[2].split(":")[0]
    shown = arena("show", match, "--home", tmp_path / "home", cwd=tmp_path)
    assert "on two" in shown.out


def test_who_has_no_certificate_of_the_cluster_stays_outside(steady: Grid, tmp_path: Path) -> None:
    """Neither side speaks to the other: not an arena to the scheduler, nor a host."""
    other = certificates(tmp_path / "other")
    ran = arena("doctor", "--cluster", steady.address, "--certificates", other, cwd=tmp_path)
    assert ran.code == 1
    assert ran.err.startswith(f"Error: {steady.address} and these certificates do not fit: ")
    assert ran.err.count("\n") == 1
    two = steady.hosts[1]
    two.kill()
    until(lambda: steady.listed() == ["one"], "end")
    begun = two.log.stat().st_size
    two.start(other)
    try:
        until(lambda: "TLS" in two.log.read_text()[begun:], "refusal")
        assert steady.listed() == ["one"]
    finally:
        two.kill()
        two.start()


def test_a_run_without_hosts_waits_for_one(steady: Grid, tmp_path: Path) -> None:
    """It says so, goes on when one comes, and Ctrl-C ends it."""
    for host in steady.hosts:
        host.kill()
    until(lambda: not steady.listed(), "end")
    said = tmp_path / "said"
    command = [str(ARENA), *LADDER, "--home", str(tmp_path / "home"), *words(steady)]
    with said.open("wb") as file:
        process = subprocess.Popen(command, env=environment(), cwd=tmp_path, stdout=file, stderr=file)
    try:
        until(lambda: "no host takes part; waiting for one" in said.read_text(), "line")
        steady.hosts[0].start()
        until(lambda: "one takes part" in said.read_text(), "host")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130, said.read_text()
    finally:
        process.kill()
        process.wait()
        steady.hosts[1].start()


def test_what_a_host_has_played_is_annulled(steady: Grid, tmp_path: Path) -> None:
    """If it was broken, no bot pays for that: its matches count no more, and others are played instead."""
    home = tmp_path / "home"
    assert arena(*LADDER, "--home", home, *words(steady), cwd=tmp_path).code == 0
    made = arena("annul", "--host", "two", "--why", "broken", "--home", home, "--json", cwd=tmp_path)
    correction = json.loads(made.out)["correction"]
    assert (correction["subject"], correction["what"]) == ("host two", "annul")
    assert 0 < correction["matches"] < 800
    again = arena("annul", "--host", "two", "--why", "broken", "--home", home, cwd=tmp_path)
    assert (again.code, again.err) == (1, "Error: no match counts that is of host two: nothing is annulled\n")
    ran = arena(*LADDER, "--home", home, "-j", "1", cwd=tmp_path)
    assert f"played {correction['matches']:,} matches" in ran.err
    assert arena("verify", "--home", home, cwd=tmp_path).code == 0
