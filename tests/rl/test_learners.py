"""Programs that learn, and the bots that they become."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise
from math import tanh
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from arena.games.observation import observation
from arena.rl import matches
from arena_bot import Turn

ROOT = Path(__file__).parents[2]
COMMANDS = re.findall(r"^```sh\n((?s:.*?))^```$", (ROOT / "docs/learning.md").read_text(), re.MULTILINE)
"""The blocks of commands on the page: those of the learner, and those of PPO."""


ARENA = str(Path(sys.executable).with_name("arena"))


def trained(cwd: Path, example: str, folder: str, *words: str, seconds: float) -> Any:
    """Copy an example to a folder and train it for at most so many seconds; return how its bot compares with luck."""
    shutil.copytree(ROOT / "bots/python" / example, cwd / folder)
    subprocess.run([sys.executable, f"{folder}/train.py", *words], cwd=cwd, check=True, timeout=seconds)
    compared = [ARENA, "compare", f"./{folder}/bot", "random", "--game=birth", "--seed=1", "--json"]
    return json.loads(subprocess.check_output(compared, cwd=cwd, timeout=400))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_learner_learns_to_beat_luck(tmp_path: Path) -> None:
    """As on the page: trained, compared and submitted; 95 % certain, however often one looks."""
    assert ".venv/bin/python learner/train.py" in COMMANDS[0]
    found = trained(tmp_path, "learner", "mine", seconds=500)
    assert found["low"] > 0.5
    assert found["better"] == found["bots"][0]
    subprocess.run([ARENA, "submit", "./mine/bot"], cwd=tmp_path, check=True, timeout=200)


@pytest.mark.long
def test_the_bot_of_ppo_plays_by_its_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It computes in plain Python what the library computes: the same choices as by numpy, whatever was learnt."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "bots/python/ppo/bot", "bot")
    chance, sizes = Random(1), [196, 8, 5, 6]
    network = [
        ([[chance.gauss() for _ in range(before)] for _ in range(after)], [chance.gauss() for _ in range(after)])
        for before, after in pairwise(sizes)
    ]
    Path("bot/weights.json").write_text(json.dumps(network))

    def by_numpy(turn: Turn) -> int:
        seen: Any = np.array(observation("birth", turn.state, turn.bot.seat))
        for number, (weights, bias) in enumerate(network):
            seen = np.array(weights) @ seen + bias
            seen = seen if number == 2 else np.vectorize(tanh)(seen)
        return max(turn.legal, key=seen.__getitem__)

    results = [matches("birth", [player, "greedy"], n=4, seed=2) for player in ("./bot", by_numpy)]
    replays = [[played.replay(number).document.choices for number in range(4)] for played in results]
    assert replays[0] == replays[1]


if find_spec("sb3_contrib"):  # it needs some gigabytes, so it is no requirement of the tests

    @pytest.mark.long
    @pytest.mark.timeout(1800)
    def test_ppo_learns_to_beat_luck(tmp_path: Path) -> None:
        """As on the page, with fewer decisions: 95 % certain, however often one looks."""
        assert ".venv/bin/python deep/train.py" in COMMANDS[1]
        found = trained(tmp_path, "ppo", "deep", "--steps=50000", seconds=1200)
        assert found["better"] == found["bots"][0]
