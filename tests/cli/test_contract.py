"""What holds for every command, whatever it does."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from arena.cli import main
from arena.cli.command_list import COMMANDS
from ladder import store
from tests.cli.commands import RUN_BOTS, arena, everything_in, typed

CONTEXT = click.Context(main, info_name="arena")


def command(name: str) -> click.Command:
    found = main.get_command(CONTEXT, name)
    assert found is not None
    return found


def takes(name: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in command(name).params)


LISTS = {
    "games": ["games"],
    "bots": ["bots"],
    "log": ["log"],
    "leaderboard": ["leaderboard", "--game", "birth"],
    "show": ["show", "random"],
    "verify": ["verify"],
    "doctor": ["doctor"],
    "selftest": ["selftest", "--sandbox"],
}
"""A use of every command that lists, for an empty home."""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ARENA_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(name: str) -> None:
    """An example is what people read first, and it must be one of this very command."""
    ran = typed(name, "--help")
    assert ran.code == 0
    assert f"Example:\n    arena {name}" in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    """An option without a word on it is one that only its author can use."""
    options = [parameter for parameter in command(name).params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_the_list_of_commands_cuts_no_sentence() -> None:
    """At 80 columns the first sentence of every command's help stands there whole."""
    assert [line for line in typed("--help").out.splitlines()[1:] if line.endswith("...")] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_help_of_each_begins_with(name: str) -> None:
    """The list is made without loading any command, so the sentence stands in two places."""
    first, _, _ = (command(name).help or "").partition("\n\n")
    assert COMMANDS[name].short_help == " ".join(first.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_eighty_columns(name: str) -> None:
    """A line that breaks by itself breaks the table of options."""
    assert max(map(len, typed(name, "-h").out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_wrong_usage(name: str) -> None:
    """Exit code 2 tells a script that the command line is at fault; one line says where help is."""
    ran = typed(name, "--no-such-option")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert "'--no-such-option'" in ran.err
    assert f"arena {name} --help" in ran.err


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name == "selftest" else []) for name in LISTS],  # selftest attacks
)
def test_json_is_one_value_and_nothing_else(name: str, empty_folder: Path) -> None:
    """What people read goes elsewhere, so that `| jq` always works, also where there is nothing to list.

    To look is not to begin: no home appears because somebody asked what there is.
    """
    before = everything_in(empty_folder)
    typed(*LISTS[name])
    assert everything_in(empty_folder) == before
    if name == "verify":  # of what is not there it says nothing good
        store.open(empty_folder / ".arena").close()
        before = everything_in(empty_folder)
    ran = typed(*LISTS[name], "--json")
    assert (ran.code, ran.err) == (0, "")
    assert isinstance(json.loads(ran.out), dict)
    assert everything_in(empty_folder) == before


def test_every_command_that_takes_json_is_tried() -> None:
    """Those that start bots are tried where bots are: a new one must be put in one of the lists."""
    elsewhere = {"new", "submit", "check", "debug", "match", "ladder", "compare", "bench", "replay"}
    elsewhere |= {"annul", "ban", "rename", "publish"}  # they list nothing
    assert {name for name in COMMANDS if takes(name, "--json")} == LISTS.keys() | elsewhere


@pytest.mark.parametrize("name", ["match", "compare"])
def test_a_seed_that_nobody_chose_cannot_be_found_by_trying(name: str) -> None:
    """Bots are shown its hash: with 32 bits they had the dice to come in minutes."""
    (option,) = (parameter for parameter in command(name).params if parameter.name == "seed")
    one, other = (bytes.fromhex(str(option.get_default(CONTEXT))) for _ in range(2))
    assert one != other
    assert 8 * len(one) >= 128


def test_every_command_with_a_sandbox_is_known() -> None:
    """Each is tried as to when it says that its sandbox is weak."""
    assert {name for name in COMMANDS if takes(name, "--require-sandbox")} == RUN_BOTS


@pytest.mark.parametrize("words", [["games"], ["ladder", "--help"]])
def test_an_old_terminal_is_good_enough(words: list[str], empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its encoding does not have is shown as something else."""
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert arena(*words, cwd=empty_folder).code == 0


def test_no_command_is_the_help() -> None:
    """The first thing that people type shows what there is."""
    ran = typed()
    assert ran.code == 2
    for name in COMMANDS:
        assert f"\n  {name}" in ran.err


def test_version_is_said() -> None:
    """Bug reports begin with it."""
    assert typed("--version").out.startswith("arena, version ")
