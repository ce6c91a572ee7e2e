"""A person at a table, as a small HTTP client; and processes that stand in for `arena play --lines`."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from arena import games
from arena.cli.serve import play_command
from arena.site.tables import Seating, Tables
from tests.cli.commands import PATIENCE
from tests.referee.toy import Toy

ROOT = Path(__file__).parents[2]

_game, _names = games.game, games.names
FAKE = """
import json, sys

def tell(**what):
    print(json.dumps(what), flush=True)

def ask(number):
    tell(question={"number": number, "choices": [{"action": 4, "name": "go"}, {"action": 7, "name": "stop"}]})

"""
"""The beginning of a program that stands in for the process of a table."""
ASKS = "ask(1)\nfor number, line in enumerate(sys.stdin, 2): tell(heard=json.loads(line)); ask(number)"
"""The rest of one that asks again and again until it is ended."""


def fake(program: str, **others: Any) -> Tables:
    """Tables whose processes run this program."""
    return Tables([sys.executable, "-c", FAKE + program], **others)


def real(home: Path) -> Tables:
    """Tables like those of `arena serve`."""
    return Tables(play_command(home))


def seat(game: str, *bots: str, seat: int = 0, seed: str = "a") -> Seating:
    """A seat against bots, on known dice."""
    return Seating(game, ["--game", game, "--seat", str(seat), "--seed", seed, "--", *bots])


def install_toy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the toy game as a package of somebody else, for this process and those that it starts."""
    about = folder / "toy-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[arena.games]\ntoy = tests.referee.toy:Toy\n")
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{ROOT}")
    monkeypatch.setattr(games, "game", lambda name: Toy() if name == "toy" else _game(name))
    monkeypatch.setattr(games, "names", lambda: [*_names(), "toy"])


class Person:
    """Somebody who asks a site, and sends it forms."""

    def __init__(self, address: str) -> None:
        self._address = address

    def send(self, path: str, headers: Mapping[str, str] = {}, **form: object) -> tuple[int, str]:
        """Send a form as a page of the site would; return the status, and the page or where the answer leads."""
        data = urlencode(form, doseq=True).encode()
        request = urllib.request.Request(self._address + path, data, {"Origin": self._address, **headers})
        try:
            with urllib.request.build_opener(_Stays).open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Location") or error.read().decode()

    def choose(self, table: str, question: int, action: int) -> int:
        """Answer a question; return the status."""
        return self.send(f"/play/{table}/choice", question=question, action=action)[0]

    @contextmanager
    def listening(self, table: str) -> Iterator[Iterator[dict[str, Any]]]:
        """Listen at a table: yields its states, until the match is over."""
        with urllib.request.urlopen(f"{self._address}/play/{table}/events", timeout=PATIENCE) as events:
            yield (json.loads(line.removeprefix(b"data: ")) for line in events if line.startswith(b"data: "))

    def play(
        self, table: str, choose: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]
    ) -> tuple[list[int], list[dict[str, Any]]]:
        """Play a match to its end; return the actions that were chosen, and all states that were seen."""
        chosen, seen, answered = [], [], 0
        with self.listening(table) as states:
            for state in states:
                seen.append(state)
                question = state.get("question")
                if question is not None and question["number"] > answered:
                    answered = question["number"]
                    chosen.append(choose(question["choices"])["action"])
                    assert self.choose(table, answered, chosen[-1]) == 204
        return chosen, seen


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows no redirection."""

    def redirect_request(self, *_: object) -> None:
        return None
