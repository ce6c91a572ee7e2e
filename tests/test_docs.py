"""The documents are true: what they name exists, what they show runs, and nothing that has a name is left out.

A fence of Python says after `python` what is done with it here: names of games (it is a bot and plays them), `run`,
`check` or `game`. In docs/protocol.md `json bot` and `json referee` are frames of one real match.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec
import pytest
from google.protobuf import json_format

from arena import games, submission
from arena.cli import main
from arena.cli.command_list import COMMANDS
from arena.games import Game, RandomDice
from arena.referee.match import Forfeit, Match
from arena.submission.manifest import Manifest
from arena.v1 import referee_pb2 as pb
from tests.cases import runner
from tests.clone import ROOT, own
from tests.test_layout import MAY_IMPORT

ARENA = str(Path(sys.executable).with_name("arena"))
PAGES = own(path for pages in ("*.md", "docs/**/*.md", "bots/**/README.md") for path in sorted(ROOT.glob(pages)))
GAMES = games.names()
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
every_game = pytest.mark.parametrize("name", GAMES)


class Book(NamedTuple):
    """Pages that people read from the beginning to the end, and how many words they may have together."""

    most: int
    pages: tuple[str, ...]


BOOKS = {
    "readme": Book(820, ("README.md",)),
    "before-a-serious-bot": Book(2_200, ("docs/writing-a-bot.md",)),
    "players": Book(
        6_200,
        (
            "docs/writing-a-bot.md",
            "docs/games.md",
            "docs/numbers.md",
            "docs/learning.md",
            "docs/playing.md",
            "bots/README.md",
        ),
    ),
    "organisers": Book(
        7_980, ("docs/contest.md", "docs/machine.md", "docs/site.md", "docs/cluster.md", "docs/data.md")
    ),
}
"""What is added to a page of these takes something else out, or goes to a page that is looked up and not read."""
LONGEST = 30
"""Words of a sentence on any page: who has learnt English as a foreign language can read it once."""


class Fence(NamedTuple):
    """A fenced block: its language, the words after that, and what is in it."""

    language: str
    words: tuple[str, ...]
    text: str


@cache
def fences(page: Path) -> tuple[Fence, ...]:
    found = re.findall(r"^```(\w+)(.*)\n((?s:.*?))^```$", page.read_text(), re.MULTILINE)
    return tuple(Fence(language, tuple(words.split()), text) for language, words, text in found)


def prose(page: Path) -> str:
    return re.sub(r"^```(?s:.*?)^```$", "", page.read_text(), flags=re.MULTILINE)


def sentences(page: Path) -> Iterator[str]:
    """The sentences of paragraphs and lists, without the addresses of links."""
    text = re.sub(r"^(?: *\||#| {4}\S).*$|<!--(?s:.*?)-->", "", prose(page), flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for paragraph in re.split(r"\n\s*\n|^ *(?:[-*]|\d+\.) ", text, flags=re.MULTILINE):
        yield from re.split(r"(?<=[.!?])\s", " ".join(paragraph.split()))


def spans(page: Path) -> list[str]:
    """What is written as code inside the prose."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every `arena …` on a page, without `arena`."""
    indented = re.findall(r"^ {4}(\S.*)", prose(page), re.MULTILINE)
    scripts = [line for fence in fences(page) if fence.language == "sh" for line in fence.text.splitlines()]
    for line in [*spans(page), *indented, *scripts]:
        if called := re.fullmatch(r"(?:\./scripts/)?arena ([a-z].*)", line):
            yield shlex.split(called[1], comments=True)


def options(name: str) -> set[str]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return {flag for option in command.params if isinstance(option, click.Option) for flag in option.opts}


def fence(page: str, word: str) -> str:
    """The one Python block of a page that is meant for this."""
    (found,) = [each for each in fences(ROOT / page) if each.language == "python" and word in each.words]
    return found.text


def section(page: str, title: str) -> str:
    """A game's part of a page, or the cases."""
    return (ROOT / page).read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of every line of a table, rules left out."""
    lines = re.findall(r"^\|(.*[^-|\n].*)\|$", text, re.MULTILINE)
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


def arena(*words: str, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if name != "ARENA_HOME"}
    done = subprocess.run([ARENA, *words], cwd=cwd, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, f"arena {shlex.join(words)}: {done.stderr}"
    return done.stdout


# --- What is read is short


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_a_book_has_no_more_words_than_people_read(book: Book) -> None:
    """Counted as by `wc -w`, fences and tables included."""
    words = {page: len((ROOT / page).read_text().split()) for page in book.pages}
    assert sum(words.values()) <= book.most, words


@every_page
def test_no_sentence_of_a_page_is_long(page: Path) -> None:
    """One fact a sentence; what needs more may be a table."""
    assert [sentence for sentence in sentences(page) if len(sentence.split()) > LONGEST] == []


@every_page
def test_no_table_is_broken_by_an_empty_line(page: Path) -> None:
    """What follows it is no table on a page any more, but a line full of bars."""
    for table in re.findall(r"(?:^\|.*\n)+", prose(page), re.MULTILINE):
        assert re.match(r".*\n\|[-|: ]+\|$", table, re.MULTILINE), table


# --- What is named exists


@every_page
def test_commands_on_a_page_exist_with_their_options(page: Path) -> None:
    """A command that is not there is the first thing a newcomer would type."""
    for name, *words in commands(page):
        assert name in COMMANDS, f"arena {name}"
        named = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert named <= options(name) | {"--help"}, f"arena {name} {shlex.join(words)}"


@every_page
def test_options_on_a_page_are_some_commands(page: Path) -> None:
    """In prose an option may stand alone."""
    known = set[str]().union(*map(options, COMMANDS))
    assert {span.split()[0] for span in spans(page) if re.match(r"--?[a-z]", span)} <= known


def test_every_command_and_option_is_described() -> None:
    """What only the help knows will not be found."""
    described = {word for page in PAGES for span in spans(page) for word in span.split()}
    called = {words[0] for page in PAGES for words in commands(page)}
    assert called >= COMMANDS.keys()
    missing = {name: found for name in COMMANDS if (found := {o for o in options(name) if o[:2] == "--"} - described)}
    assert not missing


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    """To a file of the project, and to a heading in it."""
    for link in re.findall(r"\]\(([^)]+)\)", prose(page)):
        path, _, anchor = " ".join(link.split()).partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        headings = re.findall(r"^#+ (.*)", prose(target), re.MULTILINE) if target.suffix == ".md" else []
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in slugs, link


def test_every_variant_of_the_matrix_is_described() -> None:
    """Who reads that one failed wants to know what it is, and to play it alone."""
    variants = re.findall(r'^    "([a-z-]+)": Variant\(', (ROOT / ".ci/matrix").read_text(), re.MULTILINE)
    table = (ROOT / "docs/how-it-is-built.md").read_text().split("| variant |")[1]
    assert [*variants, "python3.11"] == re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)


@every_page
def test_paths_on_a_page_exist(page: Path) -> None:
    """Files move; who reads about one wants to open it."""
    text = "\n".join([*spans(page), *(fence.text for fence in fences(page) if fence.language == "sh")])
    for path in re.findall(r"^(?:\./)?((?:arena|ladder|bots|tests|proto|scripts|docs)/[\w./*-]+)", text, re.M):
        assert list(ROOT.glob(path.rstrip("/"))), path


@every_page
def test_pages_speak_of_nothing_outside_the_project(page: Path) -> None:
    """Whoever has a clone has everything that is spoken of."""
    assert not re.search(r"issue #|/root\b|/home/", page.read_text())


# --- What is shown runs


def test_commands_of_the_readme_are_those_of_a_clone() -> None:
    """Who reads it has nothing else yet, and copies them as they stand."""
    readme = (ROOT / "README.md").read_text()
    assert all(f"./scripts/arena {shlex.join(words)}" in readme for words in commands(ROOT / "README.md"))
    assert not re.search(r"^\s*arena [a-z]|`arena [a-z]", readme, re.MULTILINE)


@pytest.fixture(scope="module")
def sitting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the README was followed, with one round instead of fifty, and the leaderboard at the end.

    Only `arena serve` was left out, which would go on until somebody ends it.
    """
    folder, printed = tmp_path_factory.mktemp("readme"), {}
    (folder / "mine.py").write_text(fence("README.md", "buttons"))
    for words in commands(ROOT / "README.md"):
        if words[0] != "serve":
            printed[words[0]] = arena(*words, *["--rounds=1"] * (words[0] == "ladder"), cwd=folder)
    return folder, printed["leaderboard"]


@pytest.mark.timeout(300)  # whichever comes first follows the README
def test_following_the_readme_ends_with_the_own_bot_on_the_leaderboard(sitting: tuple[Path, str]) -> None:
    """The first quarter of an hour decides whether there is a second."""
    assert "mine@1" in sitting[1]


@pytest.mark.timeout(300)  # whichever comes first follows the README
def test_keys_of_the_json_are_described(sitting: tuple[Path, str]) -> None:
    """Programs are written from this table."""
    page = (ROOT / "docs/reference/json.md").read_text()
    reports = dict(re.findall(r"^\| `arena (\w+) --json` \| \[(\w+)\]", page, re.MULTILINE))
    tables = {part.partition("\n")[0]: rows(part)[1:] for part in page.split("\n## ")}
    printed = {name: json.loads(arena(name, "--json", cwd=sitting[0])) for name in ("games", "bots")}
    printed["leaderboard"] = json.loads(arena("leaderboard", "--game=buttons", "--json", cwd=sitting[0]))
    for name, value in printed.items():
        key = "games" if name == "games" else "bots"
        described = {row[0].strip("`"): row[1] for row in tables[reports[name]]}
        entries = re.findall(r"\[(\w+)\]", described[key])[0]
        assert value.keys() <= described.keys(), name
        assert value[key][0].keys() <= {row[0].strip("`") for row in tables[entries]}, name


@pytest.mark.timeout(300)  # whichever comes first follows the README
def test_a_stored_match_can_be_checked_as_shown(sitting: tuple[Path, str]) -> None:
    """Seed, choices and rules give the stored scores again."""
    matches = json.loads(arena("show", "mine", "--json", cwd=sitting[0]))["matches"]
    program = [sys.executable, "-c", fence("docs/data.md", "check"), ".arena", matches[0]["id"]]
    printed = subprocess.check_output(program, cwd=sitting[0], text=True)
    replayed, stored = re.findall(r"scores \((.*)\) stored \[(.*)\]", printed)[0]
    assert replayed == stored


BOTS = [
    pytest.param(fence.text, game, id=f"{page.stem}-{game}")
    for page in PAGES
    for fence in fences(page)
    for game in GAMES
    if game in fence.words
]


@pytest.mark.parametrize(("text", "game"), BOTS)
@pytest.mark.timeout(300)
def test_a_bot_on_a_page_plays(text: str, game: str, tmp_path: Path) -> None:
    """It is copied, and it had better work."""
    (tmp_path / "bot.py").write_text(text)
    played = json.loads(arena("match", "./bot.py", "random", f"--game={game}", "--json", cwd=tmp_path))
    assert [match["forfeits"] for match in played["matches"]] == [[]]


def test_the_manifest_on_the_page_is_one(tmp_path: Path) -> None:
    """With every key that there is."""
    (shown,) = [each.text for each in fences(ROOT / "docs/submitting.md") if each.language == "toml"]
    (tmp_path / "bot.toml").write_text(shown)
    assert submission.read_program(tmp_path).build == (("go", "build", "-o", "bot", "."),)
    assert {field.name for field in msgspec.structs.fields(Manifest)} == {*tomllib.loads(shown)}


@every_page
def test_python_on_a_page_compiles(page: Path) -> None:
    """And in ours every block says what it is for, so that none is forgotten here."""
    for each in fences(page):
        if each.language == "python":
            compile(each.text, str(page), "exec")
            assert each.words or page.parent.parent.name == "bots", each.text


def test_the_dice_on_the_page_are_the_arenas() -> None:
    """Whoever ports them has these vectors to go by."""
    dice: dict[str, Any] = {}
    exec(fence("docs/protocol.md", "run"), dice)
    keyed, seed = games.KeyedDice(dice["seed"]), dice["seed"]
    assert dice["roll"](seed, "round/1/turn/2", 6) == list(keyed.roll("round/1/turn/2", 6))
    assert dice["shuffle"](seed, "setup/cards", "RBYG") == list(keyed.shuffle("setup/cards", "RBYG"))


def test_the_game_on_the_page_can_be_played() -> None:
    """It is the shortest way to see what a game has to have."""
    made: dict[str, Any] = {"__name__": "page"}
    exec(fence("docs/how-it-is-built.md", "game"), made)
    rules: Game[Any] = made["Highest"]()
    match = Match(rules, 3, rules.options({}), games.ScriptedDice([1, 6, 3, 4, 2, 5]))
    asked = match.begin()
    state = rules.from_view(rules.view(match.state, 0), {})
    assert state == match.state
    for each in asked:
        match.answer(each.seat, rules.action("second"))
    assert match.outcome is not None
    assert match.outcome.ranks == (0, 2, 1)


def test_the_cases_on_the_page_pass(capsys: pytest.CaptureFixture[str]) -> None:
    """They show the format and are cases themselves."""
    assert runner.main([str(ROOT / "docs/cases.md")]) == 0
    assert capsys.readouterr().out == "5 passed, 0 failed\n"


RECORDER = """
import json, os, queue
import grpc
from google.protobuf.json_format import MessageToDict
from arena.v1.referee_pb2 import Choice, Hello, PlayRequest
from arena.v1.referee_pb2_grpc import RefereeServiceStub

frames, log = queue.Queue(), open("trace.jsonl", "w")

def note(who, frame):
    print(json.dumps([who, MessageToDict(frame, preserving_proto_field_name=True)]), file=log, flush=True)

def send(**fields):
    frames.put(PlayRequest(**fields))
    note("bot", PlayRequest(**fields))

send(hello=Hello(protocol=1, token=os.environ["ARENA_TOKEN"], sdk="by hand"))
with grpc.insecure_channel(os.environ["ARENA_ADDR"]) as channel:
    for frame in RefereeServiceStub(channel).Play(iter(frames.get, None)):
        note("referee", frame)
        for decision in frame.decisions:
            due = Choice(match=decision.match, decision=decision.decision, action=decision.legal[0])
            send(choices=[Choice(match=1, decision=77) if decision.decision == 3 else due])
        for _ in frame.rejections:
            send(choices=[due])
        if frame.HasField("goodbye"):
            break
    frames.put(None)
"""


def messages(who: str, frame: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The messages in a frame; how they are spread over frames is a matter of time."""
    for field, value in frame.items():
        for message in value if isinstance(value, list) else [value]:
            yield who, field, message


def test_the_exchange_on_the_page_is_what_the_arena_says(tmp_path: Path) -> None:
    """Authors of other languages compare with it byte for byte."""
    (tmp_path / "bot.py").write_text(RECORDER.replace("trace.jsonl", str(tmp_path / "trace.jsonl")))
    arena("match", "./bot.py", "random", "--game=birth", "--seed=docs", "--sandbox=D", cwd=tmp_path)
    lines = (tmp_path / "trace.jsonl").read_text().splitlines()
    said = [message for line in lines for message in messages(*json.loads(line))]
    said[0][2]["token"] = "4dcb928b…"
    shown = [each for each in fences(ROOT / "docs/protocol.md") if each.language == "json"]
    for each in shown:
        json_format.Parse(each.text, pb.PlayRequest() if each.words == ("bot",) else pb.PlayResponse())
    rest = iter(said)
    for message in (message for each in shown for message in messages(each.words[0], json.loads(each.text))):
        assert message in rest, message


# --- What has a name is described, and described right


def test_every_message_and_fault_is_described() -> None:
    """The proto has the fields; what they are for is said here."""
    protocol = (ROOT / "docs/protocol.md").read_text()
    assert [name for name in pb.DESCRIPTOR.message_types_by_name if f"`{name}`" not in protocol] == []
    spoken = {span for page in PAGES for span in spans(page)}
    assert set(Forfeit) <= spoken


@every_game
def test_the_board_of_each_game_is_drawn(name: str) -> None:
    """Beside its rules, with words for those who do not see the picture."""
    assert re.search(rf"!\[.{{40,}}\]\(pictures/{name}\.png\)", section("docs/games.md", games.game(name).title))
    assert (ROOT / f"docs/pictures/{name}.png").stat().st_size < 150_000


@every_game
def test_actions_are_the_games(name: str) -> None:
    """Numbers and names of the tables, and the last one is the last there is."""
    rules = games.game(name)
    actions = {
        int(row[0]): row[1]
        for row in rows(section("docs/games.md", rules.title))
        if row[0].isdigit() and row[1][0] == "`"
    }
    assert max(actions) == rules.actions - 1
    assert actions == {action: f"`{rules.action_name(action)}`" for action in actions}


@every_game
def test_options_are_the_games(name: str) -> None:
    """With their defaults; Buttons' boards stand on their own."""
    rules = games.game(name)
    table = rows(section("docs/cases.md", rules.title))
    described = {row[0].strip("`"): row[1] for row in table[table.index(["option", "default", "means"]) :]}
    for option, default in rules.defaults.items():
        assert described[option] in (f"`{json.dumps(default)}`", "below"), option
    for side in chain(*rules.defaults.get("boards", [])):
        assert side in section("docs/cases.md", rules.title)


class Noting(RandomDice):
    """Remembers the shape of every key: `turn/12/birth` is `turn/#/birth`."""

    def __init__(self) -> None:
        super().__init__(random.Random(1))
        self.keys = set[str]()

    def roll(self, key: str, count: int) -> tuple[int, ...]:
        self.keys.add(re.sub(r"\d+", "#", key))
        return super().roll(key, count)

    def draws(self, key: str, bounds: Any) -> tuple[int, ...]:
        self.keys.add(re.sub(r"\d+", "#", key))
        return super().draws(key, bounds)


@every_game
def test_dice_keys_are_the_games(name: str) -> None:
    """Nobody could check dice whose keys are not written down."""
    rules, dice, choices = games.game(name), Noting(), random.Random(1)
    for seats in rules.seats:
        state = rules.start(seats, dice, rules.options({}))
        while pending := rules.pending(state):
            state = rules.apply(state, {seat: choices.choice(legal) for seat, legal in pending.items()}, dice)
    table = [row[0].strip("`") for row in rows(section("docs/cases.md", rules.title)) if "/" in row[0]]
    assert {re.sub(r"\b[A-Z]\b", "#", key) for key in table} == dice.keys


def test_ops_of_cases_are_described_with_their_fields() -> None:
    """The format is for people who have never seen the checker."""
    described: dict[str, str] = {}
    for row in rows(section("docs/cases.md", "Cases")):
        described[row[0]] = described.get(row[0], "") + row[1]
    for module in set(runner.GAMES.values()):
        for name, op in import_module(module).OPS.items():
            assert op.required <= set(re.findall(r"`(\w+)`", described[f"`{name}`"])), name


def test_draw_probabilities_are_the_games() -> None:
    """A constant of the ratings must not be wrong in print."""
    shown = {row[0].strip("`"): row[1] for row in rows((ROOT / "docs/statistics.md").read_text())}
    for name in GAMES:
        assert float(shown[name]) == games.game(name).draw_probability


def test_the_picture_of_the_rooms_is_the_tables() -> None:
    """Every room stands above all that it may import."""
    (picture,) = [each.text for each in fences(ROOT / "docs/how-it-is-built.md") if each.language == "text"]
    names = [re.split(r"\s{3,}", line)[0].split() for line in picture.splitlines()]
    height = {name: line for line, beside in enumerate(names) for name in beside}
    table = {name.removeprefix("arena."): others for name, others in MAY_IMPORT.items()}
    assert height.keys() == table.keys()
    for name, others in table.items():
        for other in others:
            assert height[name] < height[other.removeprefix("arena.")], f"{name} imports {other}"
