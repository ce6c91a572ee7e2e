"""The clock cannot be cheated: whatever processes and threads a bot hides its work in, it pays for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from arena.clock import charged
from arena.sandbox import Bounds, probe
from arena.sandbox.cgroups import Group
from arena.usage import family, look, pressure

WORK = 0.5
"""Seconds of processor time that each cheat works."""
BURN = f"""
import os, sys, threading, time
def work(clock=time.process_time):
    until = clock() + {WORK}
    while clock() < until:
        pass
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
"""
CHEATS = {
    "in a child": "ready()\nif not os.fork():\n    work()\n    os._exit(0)\nos.wait()",
    "in a child that lives on": """
ready()
if not os.fork():
    work()
    print("done", flush=True)
    time.sleep(1000)
time.sleep(1000)""",
    "beside idle threads": """
def idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        pass
for _ in range(4):
    threading.Thread(target=idle, daemon=True).start()
ready()
work(time.thread_time)""",
    "hopping between cores": """
cores = sorted(os.sched_getaffinity(0))
def hop():
    while True:
        for core in cores:
            os.sched_setaffinity(0, [core])
            time.sleep(0.0005)
threading.Thread(target=hop, daemon=True).start()
ready()
work(time.thread_time)""",
}


@pytest.mark.parametrize("cheat", CHEATS)
@pytest.mark.parametrize("grouped", [True, False], ids=["control groups", "proc"])
def test_work_is_paid_for(cheat: str, grouped: bool) -> None:
    """Waiting on purpose buys nothing, and neither do children."""
    sandbox = probe()
    group = Group(sandbox.groups, Bounds()) if grouped and sandbox.groups else None
    script = f"{BURN}{CHEATS[cheat]}\nprint('done', flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as bot:
        assert bot.stdin is not None
        assert bot.stdout is not None
        try:
            assert bot.stdout.readline() == "ready\n"
            for door in group.doors if group is not None else []:
                with open(door, "w") as file:
                    file.write(str(bot.pid))
            before, begun = look(family(bot.pid), None if group is None else group.cpu()), time.monotonic()
            bot.stdin.write("go\n")
            assert bot.stdout.readline() == "done\n"
            after, wall = look(family(bot.pid), None if group is None else group.cpu()), time.monotonic() - begun
        finally:
            for process in family(bot.pid):
                os.kill(process, 9)
    if group is not None:
        group.remove()
    assert WORK * 0.9 <= charged(wall, before, after) <= wall


def test_a_sleeper_pays_for_its_sleep() -> None:
    """It had the machine to itself, if it had wanted it."""
    with subprocess.Popen(["/bin/sleep", "1000"]) as bot:
        before, begun = look(family(bot.pid), None), time.monotonic()
        time.sleep(0.3)
        wall = time.monotonic() - begun
        assert charged(wall, before, look(family(bot.pid), None)) >= 0.2 * wall
        bot.kill()


def test_the_pressure_of_the_machine_is_a_percentage() -> None:
    """Or the kernel does not say."""
    found = pressure()
    assert found is None or 0 <= found <= 100
