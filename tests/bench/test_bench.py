"""Measuring, with repeats too short to mean anything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from arena.bench import bench_run
from arena.bench.cases import BenchSetting
from arena.bench.figures import Part, Sample, Sampler
from arena.bench.starts import first_frame
from arena.v1 import referee_pb2 as pb
from tests.cli.commands import ARENA, PATIENCE, arena, environment, typed

QUICK = ("--seconds", "10ms", "--repeats", "1", "-j", "1", "--json")
CASE = "buttons/2"
PARTS = [f"{kind}/{CASE}" for kind in ("ladder", "unbatched", "raw_grpc", "raw_single", "lone_match", "rules", "store")]
OTHERS = [
    "rules/birth/3",
    "rules/burning-desire/5",
    "ratings/5",
    "startup",
    "scale/2",
    "intake/64",
    "fields/python/10/4",
]


def chosen(parts: list[str]) -> list[str]:
    return [f"--only={part}" for part in parts]


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.needs("openssl")
def test_every_part_measures_something(tmp_path: Path, scratch: Path) -> None:
    """Each is sampled once; what is compared follows from what is printed, and nothing is left behind."""
    ran = arena("bench", *chosen(PARTS + OTHERS), *QUICK, cwd=tmp_path, patience=360)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    figures = found["figures"]
    assert set(figures) == set(bench_run.BENCH_KINDS)
    for cases in figures.values():
        assert all(0 <= spread["min"] <= spread["max"] for case in cases.values() for spread in case.values())
    rates = {kind: cases[CASE].get("decisions_per_s") for kind, cases in figures.items() if CASE in cases}
    for floor in ("raw_grpc", "raw_single", "unbatched"):
        share = rates["ladder"]["median"] / rates[floor]["median"]
        assert found["ratios"][f"ladder/{floor}"] == {CASE: pytest.approx(share, rel=1e-3)}
    assert next(iter(found)) == "ratios"
    assert figures["raw_single"][CASE]["decisions_per_frame"]["median"] == 1
    assert figures["raw_grpc"][CASE]["decisions_per_frame"]["median"] > 1
    assert [*scratch.iterdir(), *tmp_path.iterdir()] == []


def test_every_kind_has_parts_and_no_part_another_kind(setting: BenchSetting) -> None:
    """The list of kinds is what the message of a wrong `--only` shows."""
    assert {part.kind for part in bench_run.parts(setting)} == set(bench_run.BENCH_KINDS)


def test_parts_are_sampled_in_turn() -> None:
    """Whatever else the machine does must hit all of them alike."""
    order: list[str] = []
    said: list[str] = []

    def part(name: str) -> Part:
        def sample() -> Sample:
            order.append(name)
            return {"x": 1.0}

        @contextmanager
        def opened() -> Iterator[Sampler]:
            order.append(f"open {name}")
            yield sample

        return Part(name, "", opened)

    bench_run.measure([part("a"), part("b")], repeats=2, say=said.append)
    assert order == ["open a", "open b", "a", "b", "a", "b"]


def test_what_takes_minutes_is_measured_only_where_it_is_named(setting: BenchSetting) -> None:
    """The whole of it is to take less than two."""
    assert not any(part.kind in ("scale", "intake", "fields") for part in bench_run.chosen_parts([], setting))
    assert {part.kind for part in bench_run.chosen_parts(["scale"], setting)} == {"scale"}


def test_an_unknown_part_is_wrong_usage() -> None:
    """One line says which there are, before anything was started."""
    ran = typed("bench", "--only", "raw")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert "'raw': parts are ladder, unbatched" in ran.err


def test_the_first_frame_is_a_question_of_a_match() -> None:
    """What a bot's start is measured with is what it gets from a referee."""
    message = pb.PlayResponse.FromString(first_frame().data)
    assert message.starts[0].match == message.decisions[0].match
    assert message.decisions[0].WhichOneof("view") == "buttons"


@pytest.mark.long
@pytest.mark.parametrize("part", ["ladder/birth/2", "raw_grpc/buttons/2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_behind(
    part: str, number: signal.Signals, tmp_path: Path, scratch: Path
) -> None:
    """Neither workers, senders and bots nor homes, sockets and tapes."""
    command: list[str | Path] = [ARENA, "bench", f"--only={part}", "--seconds=10ms", "--repeats=100", "-j1"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as bench:
        assert bench.stderr is not None
        while not bench.stderr.readline().startswith("repeat 2"):
            pass
        started, deadline = list[psutil.Process](), time.monotonic() + PATIENCE
        while len(started) < 4 and time.monotonic() < deadline:  # bots come and go with the phases
            started = psutil.Process(bench.pid).children(recursive=True)
        os.killpg(bench.pid, number)
        assert bench.wait(PATIENCE) == 130
    _, alive = psutil.wait_procs(started, timeout=PATIENCE)
    assert ([*scratch.iterdir()], alive) == ([], [])
    assert len(started) >= 4
