"""Bots of a few lines, as authors write them; each passes the qualification for BIRTH."""

from __future__ import annotations

from pathlib import Path

from arena import roster, submission
from ladder import store

_FRAME = """
import time
from arena_bot import Bot, run

class Mine(Bot):
    {0}

run(Mine)
"""


def program(body: str) -> str:
    """The source of a bot whose class has this body."""
    return _FRAME.format(body.strip().replace("\n", "\n    "))


FIRST = program("def choose(self, turn): return turn.legal[0]")
LAST = program("def choose(self, turn): return turn.legal[-1]")
SLOW = program("""
def choose(self, turn):
    time.sleep(0.004)
    return self.random.choice(turn.legal)
""")
SLEEPS = program("""
def choose(self, turn):
    time.sleep(0.05)
    return turn.legal[0]
""")
CRASHES_SECOND = program(r"""
def choose(self, turn):
    if self.seats == 2 and self.seat == 1 and len(turn.legal) < 3:
        print("\x1b[31mred\x1b[0m", flush=True)
        raise SystemExit(7)
    return turn.legal[0]
""")
REMEMBERS = """
import arena_bot.table
from arena_bot import Bot, run

class Mine(Bot):
    def choose(self, turn):
        return 999 if self.knows_the_dice else turn.legal[0]

met, seated = set(), arena_bot.table.seated

def remember(bot_class, start):
    bot = seated(bot_class, start)
    bot.knows_the_dice = start.dice_commitment in met
    met.add(start.dice_commitment)
    return bot

arena_bot.table.seated = remember
run(Mine)
"""
"""Remembers the dice of every match that its process began, and makes an illegal choice if it meets them again."""

HANGS_IN_A_CROWD = """
import time
from arena_bot import Bot, run

class Hangs(Bot):
    begun = ended = 0

    def start(self):
        Hangs.begun += 1

    def choose(self, turn):
        if self.begun > 50 and self.begun - self.ended > 10:
            time.sleep(1000)
        return turn.legal[0]

    def end(self, end):
        Hangs.ended += 1

run(Hangs)
"""
"""Hangs once more than fifty matches have begun, but only while it plays more than ten at the same time."""


def enter(folder: Path, **programs: str) -> None:
    """Write programs into a folder and enter them for BIRTH in its home, without the qualification of a submission."""
    write(folder, **programs)
    with store.open(folder / ".arena") as db:
        for name in programs:
            read = submission.read_program(folder / f"{name}.py", plays=["birth"])
            roster.enter_bot(db, folder / ".arena", read, "submitted")


def write(folder: Path, **programs: str) -> None:
    """Write each program into a folder, as `name.py`."""
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text)
