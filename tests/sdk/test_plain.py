"""Programs that speak in lines: what they are told, and what becomes of those that answer with something else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from google.protobuf.struct_pb2 import Struct

from arena import games, submission
from arena.referee.limits import Limits
from arena.v1.referee_pb2 import PlayResponse
from arena.worker import unrated
from arena.worker.jobs import Played
from arena_bot.plain import Garbled, Program, as_data, flat
from tests.sdk.referee import decision, refereed, start

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/plain-programs.md").read_text()
ARENA = str(Path(sys.executable).with_name("arena"))
LIMITS = Limits()
BRIDGE = ("-P", "-m", "arena_bot.plain")
HINT = re.compile(r"sh has written (nothing|b'.*' and no end of line) in 1 s: if it has answered, it has to flush .*")
"""What is said of a program that thinks for long, as any may on a busy machine."""


def fence(language: str) -> str:
    """The one block of the page in a language."""
    (found,) = re.findall(rf"^```{language}\n((?s:.*?))^```$", PAGE, re.MULTILINE)
    return str(found)


def folder_of_the_page(folder: Path, run: str = "") -> Path:
    """The bot that the page shows, with another command if one is given."""
    folder.mkdir(exist_ok=True)
    manifest = re.sub("run = .*", f"run = {json.dumps(['sh', '-c', run])}", fence("toml")) if run else fence("toml")
    (folder / "bot.toml").write_text(manifest)
    (folder / "bot.awk").write_text(fence("awk"))
    return folder


def played(bot: Path, game: str = "birth", limits: Limits = LIMITS) -> Played:
    """One match of a bot in a folder against luck, on the dice of the seed `docs`."""
    rules, line_up = (
        games.game(game),
        [submission.read_program(bot).entrant(), submission.built_ins()["random"].entrant()],
    )
    seed = sha256(b"docs").digest()
    wanted = unrated.tasks(rules, line_up, options=rules.options({}), limits=limits, seed=seed, count=1)
    with unrated.own_worker() as worker:
        (result,) = worker.play(wanted)
    return result


def forfeit(result: Played) -> tuple[str, str, list[str]]:
    """The reason and detail of the one forfeit, and what the bot printed, hints aside."""
    assert result.outcome is not None
    (only,) = result.outcome.forfeits
    evidence = result.seats[only.seat].evidence or {}
    return str(only.reason), only.detail, [line for line in evidence["output"] if not HINT.fullmatch(line)]


@pytest.mark.parametrize("game", games.names())
def test_the_bot_of_the_page_plays(game: str, tmp_path: Path) -> None:
    """It is the first that anybody copies."""
    outcome = played(folder_of_the_page(tmp_path), game).outcome
    assert outcome is not None
    assert outcome.forfeits == ()


def test_the_question_of_the_page_is_what_a_program_reads(tmp_path: Path) -> None:
    """Whoever writes a parser tries it on that line; and every kind of line is there."""
    played(folder_of_the_page(tmp_path, f"tee {tmp_path}/lines | awk -W interactive -f bot.awk"))
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert lines[1] == json.loads(fence("json"))
    assert [lines[0]["type"], lines[-1]["type"], len(lines)] == ["start", "end", 13]
    assert all(f"`{key}" in PAGE for line in (lines[0], lines[-1]) for key in line if "options." not in key)


def test_nothing_is_nested_and_every_name_is_a_path() -> None:
    """So that a line can be read without a parser for JSON."""
    data = {"seats": [{"pawn": 1, "hand": [2, 3]}, {"pawn": 4, "hand": []}], "boards": [["R", "B"]], "turn": 0}
    assert dict(flat(data)) == {
        "seats.0.pawn": 1,
        "seats.0.hand": [2, 3],
        "seats.1.pawn": 4,
        "seats.1.hand": [],
        "boards.0": ["R", "B"],
        "turn": 0,
    }


def test_whole_numbers_of_games_from_elsewhere_are_whole() -> None:
    """They travel as floating point, and `6.0` is no number of a die to who reads digits."""
    seen = Struct()
    seen.update({"shown": [1, 6], "over": False, "odds": 0.5})
    line = json.dumps(dict(flat(as_data(seen))), sort_keys=True)
    assert line == '{"odds": 0.5, "over": false, "shown": [1, 6]}'


async def test_matches_are_told_apart_and_their_luck_repeats() -> None:
    """Questions of several matches come mixed; a program that remembers nothing must still be repeatable."""
    by_luck = "sed -un 's/.*\"random\":\\([0-9]\\)\\([0-9]*\\).*/\\1/p'"
    heard = []
    for order in ((1, 2), (2, 1)):
        async with refereed(*BRIDGE, "sh", "-c", by_luck) as referee:
            await referee.hello()
            await referee.say(PlayResponse(starts=[start(number, bytes([number] * 32)) for number in (1, 2)]))
            asked = [decision(number, turn, birth={}) for turn in range(6) for number in order]
            heard.append(sorted(zip(map(str, asked), await referee.ask(*asked), strict=True)))
            code, errors = await referee.goodbye()
            assert (code, HINT.sub("", errors).strip()) == (0, "")
    assert heard[0] == heard[1]


WRONG = {
    "echo five": "its line 1, b'five', as an answer",
    "echo": "its line 1, b'', as an answer",
    "echo -1": "its line 1, b'-1', as an answer",
    "echo 1.0": "its line 1, b'1.0', as an answer",
    "echo NaN": "its line 1, b'NaN', as an answer",
    "echo '[[[[[[[[1]]]]]]]]'": "its line 1, b'[[[[[[[[1]]]]]]]]', as an answer",
    "echo 4294967296": "its line 1, b'4294967296', as an answer",
    "printf '\\377\\n'": r"its line 1, b'\xff', as an answer",
    "head -c 100000 /dev/zero": r"a line of more than 64 bytes: b'\x00",
    "printf '%70d\\n' 1": "a line of more than 64 bytes: b'  ",
    "printf '1\\n2\\n'": r"b'2\n' when nothing was asked",
}


@pytest.mark.parametrize("then", WRONG)
def test_what_is_no_answer_is_named(then: str) -> None:
    """Its author reads which line it was and what was on it; nothing a program writes does more than that."""
    program = Program(["sh", "-c", f"read -r line; {then}; cat >/dev/null"])
    try:
        with pytest.raises(Garbled) as garbled:
            [program.ask(b"?\n") for _ in range(2)]
    finally:
        program.end()
    assert WRONG[then] in str(garbled.value)


def test_the_end_of_a_program_is_told_as_its_own_end() -> None:
    """Whatever is said before, the question it owes is what it is blamed for."""
    program = Program(["sh", "-c", "read -r line; exit 7"])
    program.tell(b"news\n")
    with pytest.raises(EOFError):
        program.ask(b"?\n")
    program.tell(b"nobody is there any more\n")
    assert program.end() == 7


def test_a_program_that_goes_on_without_output_is_ended() -> None:
    """It closed the only thing by which it could answer."""
    program = Program(["sh", "-c", "exec >&-; exec sleep 1000"])
    with pytest.raises(EOFError):
        program.ask(b"?\n")
    assert program.end() == 1


DUE = "(match 1, decision 1)"
FAULTS = {
    "exit 3": ("the process exited with code 3", [f"sh ended when an answer was due {DUE}"]),
    "kill -SEGV $$": ("the process was killed by SIGSEGV", [f"sh ended when an answer was due {DUE}"]),
    "kill -KILL $PPID; cat": ("the process was killed by SIGKILL", []),
    "echo five; cat": (
        "the process exited with code 1",
        [f"sh wrote its line 1, b'five', as an answer: that is the number of a legal action, alone on a line {DUE}"],
    ),
}


@pytest.mark.parametrize("then", FAULTS)
def test_a_fault_of_the_program_is_the_bots(then: str, tmp_path: Path) -> None:
    """With how it ended and what it did; and what it printed itself comes before."""
    bot = folder_of_the_page(tmp_path, f"echo look >&2; read -r line; read -r line; {then}")
    detail, last = FAULTS[then]
    assert forfeit(played(bot)) == ("crash", detail, ["look", *last])


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_program_that_does_not_flush_is_told_so(tmp_path: Path) -> None:
    """Everybody's first mistake, and nothing but silence is seen of it."""
    bot = folder_of_the_page(tmp_path, "read -r line; read -r line; printf 1; cat >/dev/null")
    result = played(bot, limits=LIMITS._replace(bank=0))
    assert forfeit(result)[0] == "timeout"
    (hint,) = next(seat.evidence["output"] for seat in result.seats if seat.evidence)
    assert HINT.fullmatch(hint), hint


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A typo in `run`."""
    (tmp_path / "bot.toml").write_text('name = "lucky"\nprotocol = "stdio"\nrun = ["./lukcy"]\n')
    reason, _, output = forfeit(played(tmp_path))
    assert (reason, output[-1]) == ("start", "./lukcy cannot be run: No such file or directory")


def test_without_a_program_it_says_how_it_is_used() -> None:
    """Whoever tries it by hand is told in a line."""
    done = subprocess.run(
        [sys.executable, "-m", "arena_bot.plain"], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("usage: python -m arena_bot.plain COMMAND…")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_plain_program_is_checked_submitted_and_rated(tmp_path: Path) -> None:
    """From there on it is a bot like any other, also when it comes back from the store."""
    bot = folder_of_the_page(tmp_path / "lucky")
    submit, ladder = ["submit", "lucky", "--game=birth"], ["ladder", "--bots=lucky,random", "--rounds=2", "--seed=1"]
    codes = list[int]()
    for words in (submit, [*ladder, "--game=birth"]):
        subprocess.run([ARENA, *words], cwd=tmp_path, check=True, capture_output=True, timeout=300)
        shutil.rmtree(bot, ignore_errors=True)
    shown = json.loads(subprocess.check_output([ARENA, "show", "lucky", "--json"], cwd=tmp_path, timeout=60))
    for seat in ("0", "1"):  # one of them is random's, who plays other numbers by the same seed
        again = [ARENA, "debug", shown["matches"][0]["id"], f"--seat={seat}", "lucky@1", "--json"]
        codes.append(subprocess.run(again, cwd=tmp_path, check=False, capture_output=True, timeout=100).returncode)
    assert sorted(codes) == [0, 3]
    board = subprocess.check_output([ARENA, "leaderboard", "--game=birth", "--json"], cwd=tmp_path, timeout=60)
    rows = {row["bot"]: row for row in json.loads(board)["bots"]}
    assert (rows["lucky@1"]["matches"], rows["lucky@1"]["forfeits"]) == (4, 0)
