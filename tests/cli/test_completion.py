"""What a shell proposes when somebody presses the Tab key."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.commands import ARENA, environment, typed

PRESSED = """
eval "$(arena completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_arena_completion arena
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["leader"], ["leaderboard"]),
        (["ladder", "--forg"], ["--forgive"]),
        (["ladder", "--game", "b"], ["birth", "burning-desire", "buttons"]),
    ],
)
def test_bash_proposes_what_may_stand_there(words: list[str], proposed: list[str]) -> None:
    """Commands, options and games, in a real shell that evaluates what the arena prints."""
    path = {"PATH": f"{ARENA.parent}{os.pathsep}{os.environ['PATH']}"}
    pressed = ["bash", "--norc", "-c", PRESSED, "bash", "arena", *words]
    done = subprocess.run(pressed, env=environment() | path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == proposed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_told_in_its_own_words(shell: str) -> None:
    """Each script asks the arena for completions in the way of its shell."""
    assert f"_ARENA_COMPLETE={shell}_complete" in typed("completion", shell).out
