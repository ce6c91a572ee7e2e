"""How many bot processes a worker keeps: by memory that running ones use, never more than files allow."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from arena.sandbox import cgroups, watchdog
from arena.worker import capacity
from arena.worker.capacity import NoRoom, Share, check_memory, free_memory, most_bots, share_for_each
from arena.worker.worker import Worker
from tests.worker.conftest import bot, task

MIB = 2**20
MANY = 10**6
"""Tasks: more than any test needs."""


def test_as_many_are_kept_as_fit_into_the_memory() -> None:
    """By what those take that were measured, on average."""
    assert 85 < most_bots(Share(1000 * MIB, MANY), [10 * MIB]) <= 100
    assert 40 < most_bots(Share(1000 * MIB, MANY), [10 * MIB, 30 * MIB]) <= 50
    assert 1 < most_bots(Share(1000 * MIB, MANY), []) < 100, "until one is measured, each may be a large one"


def test_some_are_kept_however_large_they_are_and_not_any_number_however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match needs its bots, and thousands of processes are more than any ladder gains from."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**6, 10**6))
    assert most_bots(Share(10 * MIB, MANY), [100 * MIB]) == 1
    assert most_bots(Share(10**15, 10**9), [1]) == capacity.MOST


def test_no_more_are_kept_than_the_worker_may_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot takes some files of its worker's; out of files, no bot at all would start."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    assert 50 < most_bots(Share(10**15, MANY), [1]) < 150


def test_what_a_process_uses_is_measured() -> None:
    """Memory that it has filled, not memory that it has only asked for."""
    fills = "import sys; block = bytearray(b'x') * (200 << 20); print(len(block), flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", fills], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert 200 * MIB < watchdog.memory_of([process.pid]) < 250 * MIB
        process.communicate()
    assert watchdog.memory_of([process.pid]) == 0, "it has ended"


def test_free_memory_is_some_of_the_machine() -> None:
    """Half of it is what a command lends to bots."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    assert 64 * MIB < free_memory() <= int(fields["MemTotal"].split()[0]) * 1024


@pytest.mark.parametrize(("memory", "fits"), [(20 * MIB, False), (8 << 30, True)])
def test_idle_bots_make_room_once_the_memory_is_used(scratch: Path, memory: int, fits: bool) -> None:
    """A bot in Python takes some twenty megabytes."""
    bots = [bot(name=f"bot {number}") for number in range(6)]
    tasks = [task(f"{number}", bots[number], bots[number + 1]) for number in range(0, 6, 2)]
    with closing(Worker(scratch, share=Share(memory, MANY))) as worker:
        assert len(worker.play(tasks)) == 3
        assert (len(worker._pool) == 6) is fits


def test_a_bot_takes_no_more_files_of_its_worker_than_it_is_thought_to(scratch: Path) -> None:
    """Else a worker would keep so many bots that it could open no file."""
    bots = [bot(name=f"bot {number}") for number in range(8)]
    with closing(Worker(scratch)) as worker:
        before = len(os.listdir("/proc/self/fd"))
        worker.play([task(f"{number}", bots[number], bots[number + 1]) for number in range(0, 8, 2)])
        taken = len(os.listdir("/proc/self/fd")) - before
    assert 8 <= taken <= 8 * capacity._FILES


def test_no_more_are_kept_than_tasks_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of tasks, no bot at all would start, and no other program either."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**6, 10**6))
    assert 20 < most_bots(Share(10**15, 1000), [1]) < 200


def test_workers_share_memory_and_tasks() -> None:
    """Together they take no more than one alone."""
    alone, each = share_for_each(1, 8 << 30), share_for_each(4, 8 << 30)
    assert (alone.memory, each.memory) == (8 << 30, 2 << 30)
    assert each.tasks == pytest.approx(alone.tasks / 4, rel=0.1)
    assert share_for_each(1).memory == pytest.approx(free_memory() / 2, rel=0.1)


@pytest.mark.parametrize("folder", ["", "inner"])
def test_the_tasks_of_a_control_group_are_a_limit(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of a group around it; a group without a limit says "max"."""
    own = tmp_path / folder
    own.mkdir(exist_ok=True)
    (own / "pids.max").write_text("max\n")
    (tmp_path / "pids.max").write_text("500\n")
    (tmp_path / "pids.current").write_text("100\n")
    monkeypatch.setattr(cgroups, "own_groups", lambda: {"pids": str(own)})
    assert share_for_each(2, 1 << 30).tasks == 200


def test_the_tasks_of_an_ordinary_user_are_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less those that the user has already; root may have more than that."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert 0 <= share_for_each(1, 1 << 30).tasks < 1000
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert share_for_each(1, 1 << 30).tasks > 1000


def test_memory_that_is_not_there_is_not_lent() -> None:
    """Nor so little that a match of each worker may not fit."""
    check_memory(70 * MIB, 1)
    with pytest.raises(NoRoom, match=r"^this machine has only [0-9,]+M$"):
        check_memory(1 << 60, 1)
    with pytest.raises(NoRoom, match=r"^2 workers with a match of 4 bots may need 264M: allow more, or fewer --jobs$"):
        check_memory(70 * MIB, 2, 4)
