"""Ladders of many bots, here of very few."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bench import bench_run, fields, many_bots
from arena.bench.cases import BenchSetting
from arena.bench.fields import Field, field_ratios, field_table
from arena.bench.figures import LeftOut, spreads
from arena.bench.many_bots import Original
from arena.bench.peak_memory import PeakMemory
from tests.cli.commands import PATIENCE

SMALL = """import random
from arena_bot import Bot, run
class Small(Bot):
    def choose(self, turn):
        return random.choice(turn.legal)
run(Small)
"""
"""A bot in Python. Luck keeps its matches short."""
BURNT = 0.8
"""Seconds of processor time that each process of a bot takes before it says anything."""
BURNS = f"""import time
while time.process_time() < {BURNT}: pass
"""
"""What it does before, to take that."""


def small(path: Path, code: str = "") -> Original:
    """A bot in Python that first runs some code."""
    path.mkdir()
    program = path / "bot.py"
    program.write_text(code + SMALL)
    return Original((program,), ("python", "bot.py"))


def test_a_field_is_measured_with_all_its_processes(setting: BenchSetting) -> None:
    """The time of bots counts, although each has ended before anybody looks; nothing is left behind."""
    bot = small(setting.scratch / "small", BURNS)
    before = [*setting.scratch.iterdir()]
    found = fields.sample_of(setting, Field("python", 3, 2), bot)
    assert found["starts"] >= 6, "each in both phases"
    assert found["matches"] * found["starts_per_match"] == pytest.approx(found["starts"])
    assert found["cpu_ms_per_match"] * found["matches"] > found["starts"] * BURNT * 1000
    assert 1 <= found["decisions_per_frame"] < 30
    assert 0 < found["first_match_seconds"] <= found["first_rated_seconds"]
    assert 5 < found["bots_mib"] < found["all_mib"]
    assert [*setting.scratch.iterdir()] == before


def test_copies_are_different_bots(setting: BenchSetting) -> None:
    """Each is a version of its own, with a process of its own; the files are there once."""
    programs = list(many_bots.copies(small(setting.scratch / "small"), 3, setting.scratch / "copies"))
    assert len({program.name for program in programs}) == len({program.digest for program in programs}) == 3
    assert len({(program.root / "bot.py").stat().st_ino for program in programs}) == 1


def test_without_a_compiler_a_part_is_left_out(setting: BenchSetting, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what is missing, and the others are measured."""
    monkeypatch.setenv("PATH", "/nowhere")
    said: list[str] = []
    wanted = [part for part in bench_run.parts(setting) if part.name in ("fields/compiled/10/2", "rules/buttons/2")]
    assert list(bench_run.measure(wanted, 1, said.append)) == ["rules"]
    assert any(line.startswith("leaving out fields/compiled/10/2: a bot takes ") for line in said)


@pytest.mark.needs("cc")
def test_a_compiled_bot_is_one_file(setting: BenchSetting, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of its sources and of what builds leave would be gigabytes."""
    monkeypatch.setattr(many_bots, "KINDS", {"compiled": ("c",)})
    assert many_bots.original("compiled", setting.scratch, setting.say).files == (setting.scratch / "c/bot",)


def test_a_bot_that_cannot_be_built_is_left_out(setting: BenchSetting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a network has the compiler, and not what it fetches."""
    monkeypatch.setattr(many_bots, "KINDS", {"compiled": ("c",)})
    compiler = setting.scratch / "tools/cc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    with pytest.raises(LeftOut, match="is not built"):
        many_bots.original("compiled", setting.scratch, setting.say)


def test_a_field_is_compared_with_ten_bots_of_its_kind_and_seats() -> None:
    """Others cost something else without being many."""
    costs = {"python/60/4": 70.0, "python/10/4": 35.0, "compiled/100/4": 9.0, "compiled/10/2": 3.0}
    cases = {case: spreads([{"cpu_ms_per_match": cost}]) for case, cost in costs.items()}
    assert field_ratios(cases) == {"cpu_ms_per_match/ten bots": {"fields/python/60/4": 2.0}}


def test_the_table_has_a_line_for_each_field() -> None:
    """With how many times as much a match costs as among ten bots."""
    measures = {measure: {"median": 12.345} for measure in fields._COLUMNS}
    ratios = {"cpu_ms_per_match/ten bots": {"fields/python/60/4": 1.5}}
    heading, rule, few, many = field_table({"python/10/4": measures, "python/60/4": measures}, ratios)
    assert heading.count("|") == rule.count("|") == few.count("|") == many.count("|")
    assert few.startswith("| 10 python, 4 | 12 | 12.3 ms | 12.3 | 12.345 | ")
    assert many.endswith(" | 1.50 |")


def test_every_field_is_compared_with_one_measured_before_it() -> None:
    """A run of all of them has all ratios."""
    few = [field for field in fields.FIELDS if field.bots == 10]
    assert {field._replace(bots=10) for field in fields.FIELDS} == {*few}


def test_memory_is_that_of_processes_below_this_one() -> None:
    """Whoever started them; what was used counts after they have ended."""
    fills = "block = bytearray(b'x') * (100 << 20); print(len(block), flush=True); input()"
    with (
        PeakMemory() as memory,
        subprocess.Popen(
            [sys.executable, "-c", fills], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        memory._look()
        process.communicate("\n", PATIENCE)
    assert 100 << 20 < memory.bots < memory.all
