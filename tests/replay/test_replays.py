"""Replays that were exported once keep opening, and a verifier in JavaScript comes to the same results."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import replay
from arena.cli.replay import step_through
from arena.games import KeyedDice, game, names
from arena.games.birth import Birth
from arena.referee.match import Forfeit, Match
from arena.replay import document as documents
from arena.replay.record import milliseconds
from arena.reports.replay_report import match_replay
from arena.worker.jobs import Played, SeatRecord
from ladder import store
from tests.cli.commands import typed
from tests.tournament import playing

ROOT = Path(__file__).parent.parent.parent
GOLDEN = sorted((ROOT / "tests/replay/exported").glob("*.json"))
"""Only ever added to: whoever changes the format or the rules must still be able to show these, or say why not."""
VERIFIER = ROOT / "bots/javascript/verify/verify.mjs"

every_golden = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)


@every_golden
def test_a_golden_replay_opens(path: Path) -> None:
    """It is played by the rules, shown to its end, and written as it was read."""
    document = documents.opened(path.read_bytes())
    documents.check_document(document)
    shown = typed("replay", path, "--all")
    assert shown.code == 0
    last = shown.out.splitlines()[-len(document.bots) :]
    assert sorted(line.split(", score ")[1] for line in last) == sorted(document.scores)
    assert shown.out.count("\nstep ") == len(document.choices)
    assert json.loads(typed("replay", path, "--json").out) == json.loads(path.read_text())


@every_golden
def test_where_there_is_no_terminal_a_summary_comes_first(path: Path) -> None:
    """A match may have 1,723 lines: who played, what happened when, how it ended, and where the rest is."""
    document = documents.opened(path.read_bytes())
    report = match_replay(document)
    said = typed("replay", path).out.splitlines()
    whole = typed("replay", path, "--all").out.splitlines()
    assert (
        said[: 1 + len(document.bots)]
        == [line for line in whole if not line.startswith("  |")][: 1 + len(document.bots)]
    )
    chosen = sum(line.startswith("step ") and ", decision " in line for line in whole)
    assert f"{len(report.steps) - 1} steps, in which bots made {chosen} choices" in said
    events = [f"  step {number}: {', '.join(step.events)}" for number, step in enumerate(report.steps) if step.events]
    assert events
    assert [line for line in said if line.startswith("  step ")] == events
    assert said[-2 - len(document.bots) : -2] == whole[-len(document.bots) :]
    assert said[-1].endswith(f": arena replay {shlex.quote(str(path))} --all")


@given(st.floats(0, 1_000_000))
def test_a_time_is_kept_to_a_hundredth_of_a_millisecond(seconds: float) -> None:
    """As its shortest text has it, so that a replay is no longer than it must be."""
    kept = milliseconds(seconds)
    assert kept == round(kept, 2) == pytest.approx(1000 * seconds, abs=0.005 + 1e-6)


def test_every_stored_format_opens() -> None:
    """Format 1 is found in old homes: it had no steps of forfeits. Exported documents have formats of their own."""
    first = replay.packed_json({"format": 1, "choices": [[0, 5], [1, 2]], "times_ms": [[1.5], [0.25]]})
    assert replay.unpack(first) == replay.Replay(((0, 5), (1, 2)), (), ((1.5,), (0.25,)))
    second = replay.packed_json(
        {"format": 2, "choices": [[0, 5]], "forfeits": [[1, "crash", 1]], "times_ms": [[1.5], []]}
    )
    assert replay.unpack(second).forfeits == (replay.Forfeited(1, Forfeit.CRASH, 1),)
    with pytest.raises(replay.Unreadable, match="of format 3, this arena knows 2"):
        replay.unpack(replay.packed_json({"format": 3, "choices": [], "times_ms": []}))


@pytest.mark.parametrize(("name", "seats"), [(name, seats) for name in names() for seats in game(name).seats])
def test_a_match_with_forfeits_is_played_again_to_the_same_end(name: str, seats: int) -> None:
    """Any seat may forfeit in any step, together with others or while they still choose."""
    rules = game(name)
    for number in range(40):
        chance, seed = Random(f"{name} {seats} {number}"), sha256(b"%d" % number).digest()
        played = Match(rules, seats, rules.options({}), KeyedDice(seed))
        risk = chance.choice([0.02, 0.1, 0.4])
        asked = list(played.begin([(0, "absent")] if number % 8 == 7 else []))
        while asked:
            seat, _, legal = asked.pop(chance.randrange(len(asked)))
            if chance.random() < risk:
                asked += played.forfeit(seat, Forfeit.ILLEGAL, "")
            else:
                asked += played.answer(seat, chance.choice(legal))
        outcome = played.outcome
        assert outcome is not None
        packed = replay.pack(
            replay.recorded(Played("", outcome, None, tuple(played.choices), (SeatRecord(()),) * seats))
        )
        again = replay.replayed(rules, seats, rules.options({}), KeyedDice(seed), replay.unpack(packed))
        assert again.outcome is not None
        assert (again.outcome.ranks, again.outcome.scores) == (outcome.ranks, outcome.scores)


def test_a_match_is_exported_only_when_its_group_is_done(tmp_path: Path) -> None:
    """`arena replay` opens what `arena replay --json` printed, and refuses a match whose group has matches to play."""
    home = tmp_path / "home"
    playing.make(home, "birth", ["ann", "bob"], 1)
    with store.open(home) as db:
        id = next(iter(db.execute("SELECT id FROM matches")))[0]
    exported = typed("replay", id[:8], "--home", home, "--json")
    (tmp_path / "match.json").write_text(exported.out)
    assert typed("replay", tmp_path / "match.json", "--all").out == typed("replay", id, "--home", home, "--all").out
    with store.open(home) as db:
        db.execute("UPDATE matches SET status = 'scheduled' WHERE id != ?", [id])
    refused = typed("replay", id, "--home", home)
    assert (refused.code, refused.out) == (1, "")
    assert "when every match of its group is done" in refused.err


def test_a_match_under_other_rules_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a damaged record. Choices made under one version of the rules may mean nothing under another."""
    home = tmp_path / "home"
    playing.make(home, "birth", ["ann", "bob"], 1)
    with store.open(home) as db:
        id = next(iter(db.execute("SELECT id FROM matches")))[0]
        record = {"format": 2, "choices": [[0, 99]], "forfeits": [], "times_ms": [[], []]}
        db.execute("UPDATE replays SET replay = ? WHERE match = ?", [replay.packed_json(record), id])
    assert "seat 0 chose 99, which is not legal" in typed("replay", id, "--home", home).err
    monkeypatch.setattr(Birth, "rules_version", 2)
    assert "follows version 1 of the rules, this arena has 2" in typed("replay", id, "--home", home).err


def illegal_choice(document: dict[str, Any]) -> None:
    document["choices"][3][1] = 1  # "play 2": the seat has played its only 2 already


def missing_choice(document: dict[str, Any]) -> None:
    del document["choices"][-1]


def other_dice(document: dict[str, Any]) -> None:
    document["dice"][0]["numbers"][0] ^= 1


def other_seed(document: dict[str, Any]) -> None:
    document["seed"] = "00" + document["seed"][2:]


def other_scores(document: dict[str, Any]) -> None:
    document["scores"][0] = str(int(document["scores"][0]) + 1)


def other_ranks(document: dict[str, Any]) -> None:
    document["ranks"].reverse()


def never_begun(document: dict[str, Any]) -> None:
    """The only forfeit is of seat 7, which does not exist; the match ends before its first step."""
    document |= {"forfeits": [[7, "start", -1]], "choices": [], "dice": document["dice"][:2]}
    document |= {"ranks": [0, 0], "scores": ["0", "0"]}


@pytest.fixture(params=[illegal_choice, missing_choice, other_dice, other_seed, other_scores, other_ranks, never_begun])
def changed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A replay in which one thing is not as it was."""
    document = json.loads((ROOT / "tests/replay/exported/birth-2.json").read_text())
    request.param(document)
    (tmp_path / "changed.json").write_text(json.dumps(document))
    return tmp_path / "changed.json"


def test_a_replay_that_was_changed_is_refused(changed: Path) -> None:
    """In one line."""
    refused = typed("replay", changed)
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (1, "", 1)


@pytest.mark.needs("node")
def test_another_language_refuses_a_changed_replay(changed: Path) -> None:
    """The verifier in JavaScript refuses a match of BIRTH after each of these changes, as the arena does."""
    checked = node(changed)
    assert (checked.returncode, checked.stdout) == (3, "")
    assert len(checked.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("seed", "xyz", "is not 64 hexadecimal digits"),
        ("seed", " ".join(["00"] * 32), "is not 64 hexadecimal digits"),
        ("finished", 1e300, "which is no time"),
        ("finished", -1e12, "which is no time"),
        ("finished", 1e17, "which is no time"),
        ("options", {}, "the option areas has no value"),
        ("options", {"areas": 1, "start": 0}, "areas 1: expected"),
        ("options", {"moon": 1}, "unknown option 'moon'"),
        ("bots", ["ann@1"], "it has 1 bots"),
        ("times_ms", [], "times of 0"),
        ("logs", [[]], "logs of 1"),
        ("logs", [[["1", "text"]], []], "it is no replay"),
    ],
)
def test_a_replay_that_cannot_be_played_is_refused_in_one_line(
    key: str, value: object, said: str, tmp_path: Path
) -> None:
    """A replay may come from anybody."""
    document = json.loads((ROOT / "tests/replay/exported/birth-2.json").read_text())
    (tmp_path / "odd.json").write_text(json.dumps(document | {key: value}))
    refused = typed("replay", tmp_path / "odd.json")
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (1, "", 1)
    assert said in refused.err


def test_escape_sequences_in_a_replay_are_shown_escaped(tmp_path: Path) -> None:
    """The file may be a stranger's, and a terminal would carry out the escape sequences in its names."""
    document = json.loads((ROOT / "tests/replay/exported/birth-2.json").read_text())
    escape = "\x1b]0;mine\x07"
    document |= {"bots": [f"{escape}@1", "bob@1"], "match": escape, "ladder": escape}
    document["logs"] = [[[1, escape]], [[None, "first of all"], [9999, escape]]]
    (tmp_path / "rude.json").write_text(json.dumps(document))
    shown = typed("replay", tmp_path / "rude.json", "--all")
    assert shown.code == 0
    assert "\\x1b]0;mine\\x07@1" in shown.out
    assert "  | \\x1b]0;mine\\x07\n" in shown.out
    assert "seat 1 (bob@1) printed at decision 9999:\n  | \\x1b]0;mine\\x07\n" in shown.out
    assert "\x1b" not in shown.out


def node(path: Path) -> subprocess.CompletedProcess[str]:
    """Check an exported replay with the verifier in JavaScript."""
    return subprocess.run(["node", VERIFIER, path], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.needs("node")
@every_golden
def test_another_language_comes_to_the_same(path: Path) -> None:
    """All dice of every game, and all of a match of BIRTH: the documents say enough to check a match without us."""
    checked = node(path)
    assert (checked.returncode, checked.stderr) == (0, "")
    right, _, unchecked = checked.stdout.partition("; ")
    assert "right: dice (commitment and " in right
    whole = path.stem.startswith("birth")
    if whole:
        assert " choices), ranks and scores\n" in right
        assert unchecked == ""
    else:
        assert unchecked.startswith("not checked: rules, ranks and scores")


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", " is empty"),
        ('{"format": 1, "matc', " is no JSON, or not all of it"),
        ("hello", " is no JSON, or not all of it"),
        ("null", " is no replay"),
        ("[1]", " is no replay"),
        ('{"format": 1}', " is no replay: it has no match, game"),
    ],
)
def test_another_language_refuses_what_is_no_replay(content: str, said: str, tmp_path: Path) -> None:
    """In one line. The file may be empty or cut off because the command that wrote it failed."""
    (tmp_path / "no.json").write_text(content)
    checked = node(tmp_path / "no.json")
    assert (checked.returncode, checked.stdout, len(checked.stderr.splitlines())) == (1, "", 1)
    assert said in checked.stderr


def test_keys_step_through_a_match(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Forward and back with letters and arrows, to either end, and never beyond; also if keys come together."""
    keys: Iterator[str] = iter(["n", "\x1b[C", "n", "p", "g", "\x1b[D", "G", "x", "gn", "n\x1b[D\x1b[D", "nq"])
    monkeypatch.setattr(click, "getchar", lambda: next(keys))
    monkeypatch.setattr(click, "clear", lambda: None)
    step_through(["a", "b", "c"])
    assert [line for line in capsys.readouterr().out.splitlines() if line in {"a", "b", "c"}] == list("abccbaaccba")


def test_what_is_no_replay_is_named(tmp_path: Path) -> None:
    """The message says what is wrong with the file."""
    (tmp_path / "no.json").write_text('{"format": 1}')
    (tmp_path / "newer.json").write_text(msgspec.json.encode({"format": 2}).decode())
    assert "it is no replay" in typed("replay", tmp_path / "no.json").err
    assert "of format 2, this arena knows 1: update the arena" in typed("replay", tmp_path / "newer.json").err
    assert "No such file" in typed("replay", tmp_path / "none.json").err
    (tmp_path / "latin.json").write_bytes('{"format": 1, "match": "Müller"}'.encode("latin-1"))
    assert "it is no replay" in typed("replay", tmp_path / "latin.json").err
    (tmp_path / "deep.json").write_text('{"replay":' * 200_000)
    assert "it is no replay" in typed("replay", tmp_path / "deep.json").err
