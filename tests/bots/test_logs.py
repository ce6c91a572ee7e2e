"""What a bot logs is kept with its match, whatever language it is written in."""

from __future__ import annotations

import json

import pytest

from arena.sandbox import probe
from arena.submission.templates import templates
from tests.bots.conftest import Homes
from tests.bots.entered import PATIENT, Home

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

AWK = r"""
    printf "\036%d:%d one\n\036%d:%d two\n", value("match"), value("decision"), value("match"), value("decision") \
        > "/dev/stderr"
"""
C = r"""
    fprintf(stderr, "\036%ld:%ld one\n", number(line, "match"), number(line, "decision"));
    fprintf(stderr, "\036%ld:%ld two\n", number(line, "match"), number(line, "decision"));
"""
SAYS: dict[str, tuple[str, dict[str, str]]] = {
    "awk": ("bot.awk", {'    seat = value("seat")\n    options': f'{AWK}    seat = value("seat")\n    options'}),
    "c": ("bot.c", {"            printf(": f"{C}            printf("}),
    "c++": ("bot.cpp", {"    switch (": r'    arena::log(decision, "one\ntwo"); switch ('}),
    "go": ("bot.go", {"\tswitch view": '\tarena.Log(decision, "one\\ntwo")\n\tswitch view'}),
    "java": (
        "src/main/java/bot/Example.java",
        {"return switch (dec": r'Arena.log(decision, "one\ntwo"); return switch (dec'},
    ),
    "python": ("bot.py", {"        match self.game": '        self.log("one\\ntwo")\n        match self.game'}),
    "rust": ("src/main.rs", {"match &decision": r'decision.log("one\ntwo"); match &decision'}),
    "typescript": (
        "src/bot.ts",
        {
            "choose({ view }: Decision": "choose(decision: Decision",
            "    switch (view": r'    const { view } = decision; log(decision, "one\ntwo"); switch (view',
            "type Bot, random": "type Bot, log, random",
        },
    ),
}
"""For each language a file of its template, and what is replaced in it to log two lines at each decision."""


@pytest.fixture(scope="module")
def home(homes: Homes) -> Home:
    """A home in which bots are compiled quickly, since other tests have compiled almost the same."""
    return homes.of(probe().grade)


@pytest.mark.parametrize(
    "language",
    [pytest.param(each, marks=pytest.mark.needs("tools of languages", each)) for each in sorted(templates())],
)
def test_what_it_logs_is_kept_at_its_decision(home: Home, language: str) -> None:
    """Each line of its own, and of several matches in one process none is mistaken for another's."""
    name = "says" + language.replace("+", "p")
    made = home.arena("new", name, "--language", language)
    assert made.code == 0, made.err
    file, changes = SAYS[language]
    source = home.cwd / name / file
    text = source.read_text()
    for before, after in changes.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    source.write_text(text)
    played = home.arena("match", f"./{name}", "random", "--game", "birth", "-n", "3", *PATIENT, "--json")
    assert played.code == 0, played.err
    replay = json.loads(played.out)["replay"]
    decisions = range(1, len(replay["choices"]) + 1, 2)  # two seats decide by turns, and it begins
    said, other = replay["logs"]
    said = [line for line in said if not line[1].startswith("Picked up JAVA_TOOL_OPTIONS")]  # Java says it by itself
    assert (said, other) == ([[number, text] for number in decisions for text in ("one", "two")], [])
