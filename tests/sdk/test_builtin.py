"""The built-in bots: the table that lists them, and the one program that plays them all."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from arena import games
from arena.v1.referee_pb2 import PlayResponse
from tests.sdk.referee import refereed, start

FOLDER = Path(__file__).parents[2] / "bots/python/builtin"
BOTS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "bots.toml").read_text())


@pytest.mark.parametrize("name", BOTS)
async def test_a_builtin_plays_the_games_of_the_table_to_their_end(name: str) -> None:
    """One process, as the ladder keeps it: a match of every game, every choice legal."""
    async with refereed(str(FOLDER / "bot.py"), name) as referee:
        await referee.hello()
        for game in BOTS[name]["games"]:
            await referee.play_match(game)
        assert await referee.goodbye() == (0, "")


@pytest.mark.parametrize("game", games.names())
def test_the_table_lists_the_strategies_of_the_game(game: str) -> None:
    """Else a strategy might never be played, and a name without a strategy would fail in the middle of a ladder."""
    strategies = import_module(f"builtin.{game.replace('-', '_')}").STRATEGIES
    listed = [name for name, bot in BOTS.items() if game in bot["games"]]
    assert sorted(listed) == sorted(["random", *strategies])


def test_every_builtin_says_in_a_line_what_it_does() -> None:
    """`arena bots` shows the text `about`."""
    for bot in BOTS.values():
        assert {"about", "games"} <= set(bot) <= {"about", "games", "slow"}
        assert 10 < len(bot["about"]) < 80


async def test_the_program_refuses_a_name_that_does_not_play_the_game() -> None:
    """It ends with exit code 1 and one line that names the bots that play the game."""
    async with refereed(str(FOLDER / "bot.py"), "stranger") as referee:
        await referee.hello()
        await referee.say(PlayResponse(starts=[start(1, game="burning-desire")]))
        code, errors = await referee.ended()
    assert code == 1
    assert errors.startswith("stranger does not play burning-desire: random, ")
    assert errors.count("\n") == 1
