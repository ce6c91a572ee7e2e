"""Play for a plain program: it reads a line of JSON from its standard input and writes a number to standard output.

    python -m arena_bot.plain COMMAND…

is what the arena starts for `protocol = "stdio"`; docs/plain-programs.md describes the lines. The program runs beside
this process, and neither is protected from the other: together they are the bot.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from select import select
from subprocess import PIPE, Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from arena_bot.bot import Bot, Turn, plain
from arena_bot.main import run

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from arena.v1.referee_pb2 import MatchEnd

LONGEST = 64
"""Largest length of an answer, in bytes; a number needs few."""
SLOW = 1.0
"""Seconds without an answer before the author is told what is probably missing."""
GRACE = 1.0
"""Seconds to wait for the program to end, once its standard input is closed, before it is killed."""


class Garbled(Exception):
    """The program wrote something that is not an answer; the message says what it did."""


class Program:
    """A plain program at the other end of two pipes. It has the same stderr as this process."""

    def __init__(self, command: Sequence[str]) -> None:
        self.name = command[0]
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, bufsize=0)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._heard = b""
        self._lines = 0
        self._hinted = False

    def tell(self, line: bytes) -> None:
        """Send a line. If the program does not read any more, nothing is raised: the next `ask` notices it."""
        with suppress(BrokenPipeError):
            self._in.write(line)

    def ask(self, line: bytes) -> int:
        """Send a question and return the number answered. Raises Garbled, and EOFError at the end of the output."""
        if self._heard or (self._readable(0) and self._read()):
            raise Garbled(f"wrote {self._heard[:LONGEST]!r} when nothing was asked")
        self.tell(line)
        answer = self._line().strip()
        if not (answer.isdigit() and len(answer) < 10):
            what = f"its line {self._lines}, {answer[:LONGEST]!r}"
            raise Garbled(f"wrote {what}, as an answer: that is the number of a legal action, alone on a line")
        return int(answer)

    def end(self) -> int:
        """Close the program's input, wait until it ends and return its return code; 1 if it had to be killed."""
        self._in.close()
        try:
            return self._process.wait(GRACE)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return 1
        finally:
            self._out.close()

    def _line(self) -> bytes:
        while b"\n" not in self._heard and len(self._heard) <= LONGEST:
            if not (self._hinted or self._readable(SLOW)):
                self._hint()
            if not self._read():
                raise EOFError
        self._lines += 1
        line, _, self._heard = self._heard.partition(b"\n")
        if len(line) > LONGEST:
            raise Garbled(f"wrote a line of more than {LONGEST} bytes: {line[:LONGEST]!r} …")
        return line

    def _hint(self) -> None:
        """Tell the author, once, what is mostly wrong with a program that does not answer."""
        self._hinted = True
        so_far = f"{self._heard!r} and no end of line" if self._heard else "nothing"
        note(f"{self.name} has written {so_far} in {SLOW:g} s: if it has answered, it has to flush its output")

    def _readable(self, seconds: float) -> bool:
        return bool(select([self._out], [], [], seconds)[0])

    def _read(self) -> bool:
        """Read what the program has written, or wait for it; return False if its output has ended."""
        self._heard += (heard := os.read(self._out.fileno(), 4096))
        return bool(heard)


class Plain(Bot):
    """One match of the plain program, which is told of it in lines."""

    program: ClassVar[Program]
    """The one program for all matches of this process."""
    _numbers: ClassVar[Iterator[int]] = count(1)

    def start(self) -> None:
        """Tell the program that a match begins; matches are numbered here, from 1, as the arena does."""
        self._match = {"match": next(self._numbers), "game": self.game, "seat": self.seat, "seats": self.seats}
        about = {"options": self.options, "limits": as_data(self.limits), "rules_version": self.rules_version}
        self._tell("start", about)

    def choose(self, turn: Turn) -> int:
        """Ask the program. If it ended or wrote no answer, end this process: as it ended, or with a line about it."""
        asked = {
            "decision": turn.number,
            "legal": list(turn.legal),
            "bank_ms": round(1000 * turn.bank),
            "random": self.random.getrandbits(31),
        }
        due = f"match {self._match['match']}, decision {turn.number}"
        try:
            return self.program.ask(self._line("decision", asked, as_data(turn.view)))
        except Garbled as garbled:
            raise SystemExit(f"{self.program.name} {garbled} ({due})") from None
        except EOFError:
            note(f"{self.program.name} ended when an answer was due ({due})")
            end_as(self.program.end())

    def end(self, end: MatchEnd) -> None:
        """Tell the program how the match ended."""
        self._tell("end", as_data(end))

    def _tell(self, kind: str, about: dict[str, Any]) -> None:
        self.program.tell(self._line(kind, {}, about))

    def _line(self, kind: str, head: dict[str, Any], about: dict[str, Any]) -> bytes:
        """Return a line of JSON: our own fields first, then those of the game; of two with one name, ours is kept."""
        own = {"type": kind} | self._match | head
        line = own | dict(flat(about)) | own
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def as_data(message: Message) -> dict[str, Any]:
    """Return a message as protobuf's JSON data, with field names as in the proto file and zeros included.

    A Struct becomes the data that it holds.
    """
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.struct_pb2 import Struct, Value

    if isinstance(message, Struct):
        held: dict[str, Any] = plain(Value(struct_value=message))
        return held
    data: dict[str, Any] = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return data


def flat(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield JSON data without nesting, except for lists of plain values: `{"seats": [{"pawn": 1}]}` is seats.0.pawn."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        nested = value if isinstance(value, list) else [value]
        if any(isinstance(item, dict | list) for item in nested):
            yield from flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def note(line: str) -> None:
    """Write a line to stderr, for the author of the program."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def end_as(code: int) -> NoReturn:
    """End this process as the program ended, with its code or by the same signal: its author is shown that."""
    if code < 0:
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    raise SystemExit(code)


def main() -> None:
    """Start the program named by the arguments, play, and end with it."""
    if len(sys.argv) < 2:
        note("usage: python -m arena_bot.plain COMMAND…, where the command is what starts the plain program")
        raise SystemExit(2)
    # without an arena, `run` proposes a command with argv[0] in it: the bot's folder
    command, sys.argv = sys.argv[1:], ["."]
    try:
        Plain.program = Program(command)
    except OSError as error:
        note(f"{command[0]} cannot be run: {error.strerror}")
        raise SystemExit(127) from None
    run(Plain)
    raise SystemExit(max(0, Plain.program.end()))


if __name__ == "__main__":
    main()
