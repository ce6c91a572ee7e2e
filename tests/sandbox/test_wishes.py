"""What a bot may ask for of the machine is for the organiser to say, in one place, and nobody gets less unawares."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena import roster, submission
from arena.referee.limits import Limits
from arena.sandbox import DEFAULT, STRONGEST, Sandbox
from arena.submission import BadSubmission
from arena.tournament.ladder_run import LadderRequest, run_ladder
from ladder import store
from tests.cli.commands import Ran, arena, typed
from tests.tournament import programs
from tests.tournament.test_ladder_run import FakeWorkers

SMALL = Sandbox(allowed=STRONGEST._replace(memory_mib=256, tasks=48))
WISHES = {
    "memory_mib = 600": ("--max-memory", "512", "at most 512 MiB are allowed"),
    "tasks = 100": ("--max-tasks", "64", "at most 64 are allowed"),
}
"""Each with an option that allows less, and what is said then."""


@pytest.fixture(autouse=True)
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, where nobody has said anything."""
    monkeypatch.chdir(tmp_path)
    for name in ("ARENA_HOME", "ARENA_MAX_MEMORY", "ARENA_MAX_TASKS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def wishing(wish: str, name: str = "mine") -> str:
    """A bot that asks for it; gives its folder, which is beside us."""
    folder = Path(name)
    folder.mkdir()
    (folder / "bot.toml").write_text(f'run = ["python", "bot.py"]\ngames = ["birth"]\n[limits]\n{wish}\n')
    (folder / "bot.py").write_text(programs.FIRST)
    return f"./{name}"


def enter(folder: str) -> None:
    with store.open(Path(".arena")) as db:
        roster.enter_bot(db, Path(".arena"), submission.read_program(Path(folder)), "submitted")


def refused(ran: Ran, who: str, wish: str) -> None:
    """One line that names the wish, what is allowed, and how to allow more."""
    option, _, allowed = WISHES[wish]
    variable = option.replace("--", "ARENA_").replace("-", "_").upper()
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == (
        f"Error: {who} asks for {wish}, and {allowed}: ask for less in its bot.toml, or allow more"
        f" with {option} or {variable}"
    )


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("words", [["submit"], ["check"], ["match", "random", "-g", "birth"]])
def test_who_wishes_for_more_than_is_allowed_is_refused(words: list[str], wish: str) -> None:
    """Before anything of it is run or kept."""
    option, most, _ = WISHES[wish]
    refused(typed(*words, wishing(wish), option, most), "mine", wish)
    assert not Path(".arena").exists()


def test_what_is_allowed_need_be_said_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By variables, which an option on the command line goes before."""
    monkeypatch.setenv("ARENA_MAX_MEMORY", "512")
    folder = wishing("memory_mib = 600")
    refused(typed("check", folder), "mine", "memory_mib = 600")
    assert "asks for memory_mib = 600, and at most 599 MiB" in typed("check", folder, "--max-memory", "599").err
    monkeypatch.setenv("ARENA_MAX_MEMORY", "much")
    wrong = typed("check", folder)
    assert (wrong.code, "'much' is not a whole number" in wrong.err) == (2, True)


@pytest.mark.parametrize("wish", WISHES)
def test_a_ladder_refuses_a_stored_bot_that_wishes_for_more(wish: str, cwd: Path) -> None:
    """By its label, with nothing planned: it entered when more was allowed."""
    option, most, _ = WISHES[wish]
    enter(wishing(wish))
    ladder = ("ladder", "-g", "birth", "--bots", "mine,random", "--rounds", "1")
    refused(arena(*ladder, option, most, cwd=cwd), "mine@1", wish)
    with store.open_read(Path(".arena")) as db:
        assert [store.ladders.counts(db, each) for each in store.ladders.all(db)] == [store.records.Counts(0, 0, 0)]


def test_an_interrupted_leg_is_looked_through_before_it_goes_on() -> None:
    """A bot that is in no field any more is in matches that are left, if not in the first of them."""
    for name, wish in (("mine", "memory_mib = 600"), ("ann", "tasks = 40"), ("bob", "tasks = 50")):
        enter(wishing(wish, name))
    workers = FakeWorkers(voids=0, sandbox=Sandbox(allowed=STRONGEST._replace(memory_mib=512)))
    with store.open(Path(".arena"), checkpoints=True) as db:
        key = store.records.LadderKey("birth", 2, {}, Limits().plain(), 1)
        ladder = store.ladders.find_or_make(db, key, draw_probability=0.0, seed="z")
        store.ladders.plan(db, ladder, ["mine", "ann", "bob"], rounds=1)
        assert "mine@1" not in next(store.ladders.scheduled(db, ladder)).line_up
        with workers, pytest.raises(BadSubmission, match="mine@1 asks for memory_mib = 600"):
            run_ladder(
                db, Path(".arena"), ladder, LadderRequest(["ann", "bob"], 1), workers=workers, report=lambda *_: None
            )
    assert workers.phases == []


def test_without_a_wish_a_bot_gets_the_usual_or_all_that_is_allowed() -> None:
    """Nobody asked for the usual, so nobody need be refused for it."""
    assert Sandbox().bounds(None, None) == DEFAULT
    assert Sandbox().bounds(600, 100)[:2] == (600, 100)
    assert SMALL.bounds(None, None)[:2] == (256, 48)
    assert SMALL.bounds(100, None)[:2] == (100, 48)
    roster.check_wishes(submission.built_ins()["random"], SMALL)


def test_there_is_a_most_that_nobody_has_to_say() -> None:
    """One that leaves room for whatever was entered before."""
    roster.check_wishes(submission.read_program(Path(wishing("memory_mib = 4096\ntasks = 512"))), Sandbox())
    with pytest.raises(BadSubmission, match="tasks = 513, and at most 512 are allowed"):
        roster.check_wishes(submission.read_program(Path(wishing("tasks = 513", "greedier"))), Sandbox())


@pytest.mark.long
@pytest.mark.timeout(300)
def test_what_is_allowed_binds_who_wished_for_nothing(cwd: Path) -> None:
    """The limit that is set is the one that holds."""
    takes = "held = []\ndef choose(self, turn):\n    self.held.append(b'x' * (300 << 20))\n    time.sleep(60)"
    (cwd / "mine.py").write_text(programs.program(takes))
    ran = arena("match", "./mine.py", "random", "-g", "birth", "--max-memory", "256", cwd=cwd)
    assert "seat 0 (./mine.py) forfeited at decision 1: oom" in ran.err
    assert "256 MiB are allowed" in ran.err
