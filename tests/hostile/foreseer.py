"""A bot of Burning Desire that would foresee dice: `foreseer.py [--keeper NAME] [--notes FOLDER] …`.

All rotations of a group are shown the same commitment and share their dice, by seat, turn and roll: what its opponent
rolls in one match it will roll itself in another. So it tells its siblings, other processes of the same version, every
roll of an opponent, and asks them for its own. Without a way to do that it plays like the built-in planner, whose
package it needs beside it.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from arena.v1.burning_desire_pb2 import BurningDesireView
    from arena.v1.referee_pb2 import MatchEnd, MatchStart, Update
    from arena_bot import Bot, Turn

Faces: TypeAlias = tuple[int, ...]
Rolls: TypeAlias = dict[str, Faces]
"""What is known of the dice of a group: faces by key, and of the multiplier dice the factor alone."""
PATIENCE = 5.0
"""Seconds for an answer of the keeper's, who is dead if they pass."""


class Channel(Protocol):
    """A way to tell siblings something."""

    heard: int
    """How many rolls siblings have told, as far as is known."""

    def tell(self, group: str, key: str, faces: Faces) -> None:
        """Pass on a roll."""

    def ask(self, group: str) -> Rolls:
        """Every roll of a group that anybody has told."""


# --- A living channel: a process that keeps everything in its memory, and a socket


def keep(name: str) -> None:
    """Be the keeper, reached by an abstract name, as long as one lives; two cannot have a name."""
    rolls: defaultdict[str, dict[str, str]] = defaultdict(dict)
    told = Counter[str]()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        with suppress(OSError):
            door.bind(f"\0{name}")
        print(flush=True)  # noqa: T201 - somebody is there now
        while door.getsockname():
            message, sender = door.recvfrom(1000)
            teller, group, *roll = message.decode().split()
            if roll:
                told[teller] += 1
                rolls[group][roll[0]] = roll[1]
            else:
                known = (f"{key}={faces}" for key, faces in rolls[group].items())
                with suppress(OSError):
                    door.sendto(" ".join((str(told.total() - told[teller]), *known)).encode(), sender)


class Keeper:
    """The keeper as a bot has it, which starts one where there is none: a process of its own, in another session."""

    def __init__(self, name: str) -> None:
        self.heard = 0
        self._name = name
        self._start()

    def _start(self) -> None:
        words = [sys.executable, "-I", __file__, "--keep", self._name]
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
        assert child.stdout is not None
        child.stdout.readline()
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._door.bind("")
        self._door.settimeout(PATIENCE)

    def _say(self, *words: str) -> None:
        message = " ".join((str(os.getpid()), *words)).encode()
        try:
            self._door.sendto(message, f"\0{self._name}")
        except OSError:  # it was another sibling's, and has ended with it
            self._start()
            self._door.sendto(message, f"\0{self._name}")

    def tell(self, group: str, key: str, faces: Faces) -> None:
        self._say(group, key, ",".join(map(str, faces)))

    def ask(self, group: str) -> Rolls:
        self._say(group)
        try:
            heard, *known = self._door.recv(1 << 20).decode().split()
        except TimeoutError:
            return {}
        self.heard = int(heard)
        return {key: _faces(faces) for key, _, faces in (each.partition("=") for each in known)}


def _faces(text: str) -> Faces:
    return tuple(map(int, text.split(",")))


# --- A channel that needs nobody alive: files


class Notes:
    """Files, in a folder, or if that may not be written wherever else there may be room."""

    def __init__(self, folder: str) -> None:
        self.heard = 0
        self._rolls: defaultdict[str, Rolls] = defaultdict(dict)
        self._name = f"foreseer{folder.replace('/', '-')}"
        places = [os.getcwd(), os.environ["TMPDIR"], os.environ["HOME"], *ELSEWHERE]
        if self._opened([folder], "a"):
            places = [folder]
        self._own, self._read = self._opened(places, "a"), self._opened(places, "r")

    def _opened(self, places: Sequence[str], mode: Literal["a", "r"]) -> list[TextIOWrapper]:
        found = []
        for place in places:
            with suppress(OSError):
                found.append(open(f"{place}/{self._name}", mode))  # noqa: SIM115 - as long as the process lives
        return found

    def tell(self, group: str, key: str, faces: Faces) -> None:
        for opened in self._own:
            opened.write(f"{os.getpid()} {group} {key} {','.join(map(str, faces))}\n")
            opened.flush()

    def ask(self, group: str) -> Rolls:
        for opened in self._read:
            for line in opened:
                teller, of, key, faces = line.split()
                self.heard += teller != str(os.getpid())
                self._rolls[of][key] = _faces(faces)
        return self._rolls[group]


ELSEWHERE = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/dev/mqueue", "/home", "/")


def channel(options: argparse.Namespace) -> Channel | None:
    """The way that it was given."""
    if options.keeper:
        return Keeper(options.keeper)
    return Notes(options.notes) if options.notes else None


# --- The player


def foreseen(view: BurningDesireView, seat: int, known: Rolls, usual: int) -> int | None:
    """What to do by the rolls to come; None where they are not known, or not good enough. `usual` is the planner's."""
    from arena.games.burning_desire import BANK, MULTIPLY, STOP, Phase
    from arena.games.burning_desire_dice import REROLLED

    turn = f"{seat}/{view.turns[seat] - 1}"
    if int(view.phase) == Phase.MULTIPLY:
        factor = known.get(f"{turn}/multiply/{view.multiplications}")
        return None if factor is None else MULTIPLY if factor[0] > 1 else BANK
    if int(view.phase) != Phase.ROLL:
        return None
    rolls = [known[key] for roll in range(view.rolls, 3) if (key := f"{turn}/roll/{roll}") in known]
    if usual != STOP and len(REROLLED[usual]) > len(rolls[0] if rolls else ()):
        return None  # that may be better than all that is known
    return _best((*view.dice, view.bonus), rolls)[1] if rolls else None


def _best(dice: Faces, rolls: Sequence[Faces]) -> tuple[int, int]:
    """The most points that these rolls make of the dice, and what to keep for it; of less than it is known all."""
    from arena.games.burning_desire import STOP
    from arena.games.burning_desire_dice import REROLLED, reroll

    best = _points(dice), STOP
    if not rolls:
        return best
    thrown, *later = rolls
    makes: dict[Faces, int] = {}
    for mask, missing in enumerate(REROLLED[:STOP]):
        if len(missing) <= len(thrown):
            *ordinary, bonus = reroll(dice, mask, thrown[: len(missing)])
            makes[(*sorted(ordinary), bonus)] = mask  # in which order they lie changes nothing
    return max(best, *((_best(after, later)[0], mask) for after, mask in makes.items()))


@cache
def _points(dice: Faces) -> int:
    from arena.games.burning_desire_dice import ROLES, score

    return max(score(role, dice) for role in ROLES)


def player(options: argparse.Namespace) -> type[Bot]:
    """The class that plays so; imported late, for a keeper needs nothing of that."""
    from arena.games.burning_desire import MULTIPLY, STOP
    from arena.games.burning_desire_dice import REROLLED
    from arena_bot import Bot

    siblings = channel(options)
    planner = import_module("burning_desire").STRATEGIES["planner"]
    trace = os.open(options.trace, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if options.trace else None

    class Foreseer(Bot):
        """The planner, if it knows nothing."""

        updates: ClassVar[bool] = siblings is not None
        group = ""
        table = 0, 0
        """The points of the turn, and how often they were multiplied."""
        asked, used = "", 0
        """In which turn siblings were asked last; how many choices were made by what they said."""

        def start(self) -> None:
            self.known: Rolls = {}

        def choose(self, turn: Turn) -> int:
            usual: int = planner(turn.state, self.seat, turn.legal, self.random)
            if siblings is None:
                return usual
            view = turn.burning_desire
            if self.asked != (asked := f"{view.turns[self.seat]}"):
                self.asked, self.known = asked, siblings.ask(self.group)
            action = foreseen(view, self.seat, self.known, usual)
            self.used += action is not None
            if action is not None and options.confess:
                sys.stderr.write(f"it knows {len(self.known)} rolls\n")
                return 999
            return usual if action is None else action

        def update(self, update: Update) -> None:
            """Tell what the opponent rolled, by what the table shows now."""
            assert siblings is not None
            view = update.burning_desire
            (points, multiplied), self.table = self.table, (int(view.score), view.multiplications)
            ((seat, action),) = ((action.seat, action.action) for action in update.actions)
            if seat == self.seat:
                return
            turn = f"{seat}/{view.turns[seat] - 1}"
            if action < STOP:
                dice = (*view.dice, view.bonus)
                faces = tuple(dice[die] for die in REROLLED[action])
                siblings.tell(self.group, f"{turn}/roll/{view.rolls - 1}", faces)
            elif action == MULTIPLY:
                factor = self.table[0] // points if view.multiplications > multiplied else 0
                siblings.tell(self.group, f"{turn}/multiply/{multiplied}", (factor,))

        def end(self, end: MatchEnd) -> None:
            """Say what came of it, to whoever looks at the trace: no bot does."""
            if trace is not None and siblings is not None and not end.void:
                os.write(trace, f"{os.getpid()} {siblings.heard} {self.used}\n".encode())

    return Foreseer


def note_groups() -> None:
    """Have each bot know the commitment of its match, which the SDK keeps to itself."""
    import arena_bot.table

    seated = vars(arena_bot.table)["seated"]

    def of_a_group(bot_class: type[Bot], start: MatchStart) -> Bot:
        bot: Bot = seated(bot_class, start)
        vars(bot)["group"] = start.dice_commitment.hex()
        return bot

    vars(arena_bot.table)["seated"] = of_a_group


def main() -> None:
    """Play, or keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", metavar="NAME", help="be the keeper, and do not play")
    parser.add_argument("--keeper", metavar="NAME", help="tell siblings by a process that keeps it in mind")
    parser.add_argument("--notes", metavar="FOLDER", help="tell siblings by files")
    parser.add_argument("--trace", metavar="FILE", help="where to say after each match what was heard and used")
    parser.add_argument("--confess", action="store_true", help="choose what is not legal wherever it foresees dice")
    options = parser.parse_args()
    if options.keep:
        return keep(options.keep)
    from arena_bot import run

    bot_class = player(options)
    note_groups()
    return run(bot_class)


if __name__ == "__main__":
    main()
