"""The clock cannot be cheated: whatever processes and threads a bot hides its work in, it pays for it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest

from arena.referee.limits import charged
from arena.sandbox import Bounds, probe
from arena.sandbox.cgroups import UNIFIED, ControlGroup
from arena.sandbox.cpu_usage import Usage, family, look, pressure
from tests.quick import quick_first

WORK = 0.5
"""Seconds of processor time that each cheat works."""
BURN = f"""
import hashlib, os, signal, sys, threading, time
def work(clock=time.process_time, seconds={WORK}):
    until = clock() + seconds
    while clock() < until:
        pass
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
"""
CHEATS = {
    "on several processors": f"""
def hash():
    while time.thread_time() < {WORK / 4}:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 20_000)
ready()
threads = [threading.Thread(target=hash) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()""",
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


HIDDEN = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ready()
for _ in range(8):
    for _ in range(4):
        if not os.fork():
            work(seconds=0.03)
            os._exit(0)
    work(seconds=0.03)
    try:
        os.wait()
    except ChildProcessError:
        pass"""
"""Its children's time is added to nobody's when they end, and it waits for a processor because of them."""


def thought(script: str, *, grouped: bool) -> tuple[float, float]:
    """Seconds that it takes by the wall, and what is charged; looked at now and then, as a stream does."""
    sandbox = probe()
    group = ControlGroup(sandbox.groups, Bounds()) if grouped else None
    words = [sys.executable, "-c", f"{BURN}{script}\nprint('done', flush=True)"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as bot:
        assert bot.stdin is not None
        assert bot.stdout is not None

        def glance() -> Usage:
            return look(family(bot.pid), None if group is None else group.cpu())

        try:
            assert bot.stdout.readline() == "ready\n"
            for procs_file in group.procs_files if group is not None else []:
                Path(procs_file).write_text(str(bot.pid))
            before, begun = glance(), time.monotonic()
            bot.stdin.write("go\n")
            while not select.select([bot.stdout], [], [], 0.02)[0]:
                if glance().uncounted != before.uncounted:
                    before = before.stirred()
            assert bot.stdout.readline() == "done\n"
            after, wall = glance(), time.monotonic() - begun
        finally:
            for process in family(bot.pid):
                os.kill(process, 9)
    if group is not None:
        group.remove()
    return wall, charged(wall, before, after)


@pytest.mark.parametrize("cheat", quick_first(list(CHEATS)))
@pytest.mark.parametrize(
    "grouped", [pytest.param(True, marks=pytest.mark.needs("control groups")), False], ids=["control groups", "proc"]
)
def test_work_is_paid_for(cheat: str, grouped: bool) -> None:
    """Waiting on purpose buys nothing, and neither do children, or threads on many processors."""
    _, charge = thought(CHEATS[cheat], grouped=grouped)
    assert charge >= WORK * 0.9


def test_children_that_end_unseen_are_paid_for() -> None:
    """Where their time is not counted, the clock on the wall is what counts: no wait is taken off."""
    wall, charge = thought(HIDDEN, grouped=False)
    assert charge >= 0.95 * wall


@pytest.mark.needs("a processor share")
def test_a_control_group_holds_a_bot_to_one_processor() -> None:
    """However many threads it has, and also while others are to think."""
    groups = probe().groups
    assert groups.keys() & {"cpu", UNIFIED}
    group = ControlGroup(groups, Bounds())
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        for procs_file, burner in product(group.procs_files, burners):
            Path(procs_file).write_text(str(burner.pid))
        before, begun = group.cpu(), time.monotonic()
        time.sleep(1)
        used, wall = group.cpu(), time.monotonic() - begun
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
        group.remove()
    assert before is not None
    assert used is not None
    assert used - before <= 1.5 * wall


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
