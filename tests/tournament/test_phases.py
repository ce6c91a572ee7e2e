"""No bot knows dice in advance, and no bot gains by crashing.

Real bots write down what they do; they run at grade D, where they can write to any file.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import defaultdict
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE, Popen

import psutil
import pytest

from ladder import store
from tests.cli.commands import ARENA, PATIENCE, arena, environment
from tests.tournament import programs

TRACED = """
import os, time, sys

def note(*words):
    os.write(trace, (" ".join(map(str, [*words, time.monotonic()])) + "\\n").encode())

trace = os.open({trace!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
if os.fork() == 0:  # a daemon that says as long as it lives that it does
    os.setsid()
    if os.fork():
        os._exit(0)
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    while True:
        note("alive", os.getpid())
        time.sleep(0.005)
os.wait()

import arena_bot.table
from arena_bot import Bot, run

class Mine(Bot):
    def choose(self, turn):
        {act}
        vars(self).setdefault("went", []).append(True)
        return self.random.choice(turn.legal)

seated = arena_bot.table.seated

def start(bot_class, start):
    if {is_tracer}:
        note("match", start.dice_commitment.hex())
    return seated(bot_class, start)

arena_bot.table.seated = start
run(Mine)
"""
"""Source of a bot whose daemon notes all the time that it is alive; it forks before it imports anything with threads.
"""

CRASHES = 'if len(vars(self).setdefault("went", [])) > 1 and self.random.random() < 0.02: note("crash"); os._exit(3)'
"""A rare crash, only after the second answer in a match: before its first answer a bot may leave without a forfeit."""


def traced(trace: Path, *, act: str = "pass", is_tracer: bool = False) -> str:
    return TRACED.format(trace=str(trace), act=act, is_tracer=is_tracer)


def lines(trace: Path) -> list[list[str]]:
    return [line.split() for line in trace.read_text().splitlines()]


def lifetimes(trace: Path) -> list[tuple[float, float]]:
    """The periods, as pairs of times, in which some process of the bot was alive."""
    seen: dict[str, list[float]] = defaultdict(list)
    for what, *more in lines(trace):
        if what == "alive":
            seen[more[0]].append(float(more[1]))
    spans: list[tuple[float, float]] = []
    for begin, end in sorted((min(times), max(times)) for times in seen.values()):
        if spans and begin <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((begin, end))
    return spans


def beginnings(trace: Path) -> dict[str, list[float]]:
    """When matches began, by the commitment to their dice, which is equal for equal seeds."""
    found: dict[str, list[float]] = defaultdict(list)
    for what, *more in lines(trace):
        if what == "match":
            found[more[0]].append(float(more[1]))
    return found


LADDER = ("ladder", "--game", "birth", "--seed", "traced", "-j", "2", "--sandbox", "D")


def kill_some(ladder: Popen[bytes], luck: random.Random, kills: int) -> None:
    """Kill workers and bots at random moments, `kills` in all, unless the ladder ends before."""
    deadline = time.monotonic() + PATIENCE
    while ladder.poll() is None and kills and time.monotonic() < deadline:
        time.sleep(luck.uniform(0.1, 0.4))
        with suppress(psutil.NoSuchProcess, IndexError):
            workers = [
                child for child in psutil.Process(ladder.pid).children() if "spawn_main" in " ".join(child.cmdline())
            ]
            worker = luck.choice(workers)
            (worker if kills % 3 else luck.choice(worker.children())).kill()
            kills -= 1


@pytest.mark.long
@pytest.mark.timeout(300)
def test_between_two_matches_on_one_seed_nobody_is_alive(cwd: Path) -> None:
    """Between two matches with the same dice no process of a bot lives on, not even a daemon.

    This holds for rotations, and for matches played again after a crash or because their worker was killed.
    """
    trace = cwd / "trace"
    tracer, crasher = traced(trace, is_tracer=True), traced(trace, act=CRASHES)
    programs.enter(cwd, tracer=tracer, crasher=crasher)
    command = [str(ARENA), *LADDER, "--bots", "tracer,crasher", "--rounds", "200"]
    ladder = Popen(command, cwd=cwd, env=environment(), stdout=PIPE, stderr=PIPE)
    kill_some(ladder, random.Random(5), kills=8)
    said = ladder.communicate()[1].decode()
    assert ladder.returncode == 0, said
    spans, began = lifetimes(trace), beginnings(trace)
    twice = [pair for times in began.values() for pair in pairwise(sorted(times))]
    assert len(began) == 200
    assert len(twice) > 200, "nothing was taken back"
    for first, second in twice:
        assert not any(begin <= first and second <= end for begin, end in spans)


def forfeits_and_crashes(cwd: Path, trace: Path) -> tuple[int, int]:
    with store.open_read(cwd / ".arena") as db:
        (faults,) = store.matches.faults(db, "crasher")
    return sum(faults.forfeits.values()), sum(line[0] == "crash" for line in lines(trace))


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_bot_that_crashes_on_purpose_has_its_matches_taken_back_once(cwd: Path) -> None:
    """The second chance is given once, not in each process or run. Apart from it each crash costs the bot a match."""
    trace = cwd / "trace"
    programs.enter(cwd, crasher=traced(trace, act=CRASHES), other=programs.FIRST)
    command = [*LADDER, "--bots", "crasher,other"]
    ran = arena(*command, "--rounds", "60", cwd=cwd)
    assert "crasher@1 failed (the process exited with code 3) with several matches in play" in ran.err
    forfeits, crashes = forfeits_and_crashes(cwd, trace)
    assert 10 < forfeits < crashes <= forfeits + 2  # two workers may lose a process at the same moment
    again = arena(*command, "--rounds", "120", cwd=cwd)
    assert "several matches" not in again.err
    more_forfeits, more_crashes = forfeits_and_crashes(cwd, trace)
    assert more_forfeits - forfeits == more_crashes - crashes > 10
    forgiven = arena(*command, "--rounds", "120", "--forgive", "crasher", cwd=cwd)
    assert "crasher has its second chance again" in forgiven.err


@pytest.mark.long
@pytest.mark.timeout(300)
def test_crashes_change_no_hash_at_any_number_of_workers(cwd: Path) -> None:
    """A bot that crashes in the same matches each time gives the same hash with any number of workers."""
    programs.enter(cwd, crasher=traced(cwd / "trace", act=CRASHES), other=programs.FIRST)
    ladder = [*LADDER, "--bots", "crasher,other", "--rounds", "60", "--json"]
    homes = [shutil.copytree(cwd / ".arena", cwd / f"home{jobs}") for jobs in (1, 2, 3)]
    ran = [arena(*ladder, "-j", str(jobs), "--home", str(home), cwd=cwd) for jobs, home in enumerate(homes, 1)]
    assert len({json.loads(each.out)["hash"] for each in ran}) == 1
