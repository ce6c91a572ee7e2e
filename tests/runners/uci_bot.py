"""A chess bot that plays the moves of one game from a file, and no other: uci_bot.py FILE."""

from __future__ import annotations

import sys
from pathlib import Path


def say(answer: str) -> None:
    """Send lines to the runner."""
    sys.stdout.write(f"{answer}\n")
    sys.stdout.flush()


moves = Path(sys.argv[1]).read_text().split()
played = 0
for line in sys.stdin:
    words = line.split()
    match words[:1]:
        case ["uci"]:
            say("id name scripted\nuciok")
        case ["isready"]:
            say("readyok")
        case ["position"]:
            played = len(words) - words.index("moves") - 1 if "moves" in words else 0
            if words[1] == "fen":  # a runner may begin with a later position, which tells the number of the move
                played += 2 * (int(words[7]) - 1) + (words[3] == "b")
        case ["go"]:
            say(f"info depth 1 score cp 0\nbestmove {moves[played]}")
        case ["quit"]:
            break
