"""A bot that plays by the rules until it is told to misbehave: `bot.py [--at N] … MISDEED`.

Plain gRPC and the generated messages, no SDK: what it does wrong, any program in any language can do. The misdeed
comes at its N-th decision of a match; without one it plays honestly. `python -m tests.hostile.bot --help` lists them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from arena.v1.referee_pb2 import Choice, Decision, Hello, MatchEnd, MatchStart, PlayRequest, PlayResponse

METHOD = "/arena.v1.RefereeService/Play"
HOURS = 10_000


def dial(channel: grpc.Channel, frames: Iterator[bytes]) -> Iterable[bytes]:
    """A stream of frames to the referee; gives those that come back."""
    play: grpc.StreamStreamMultiCallable[bytes, bytes] = channel.stream_stream(METHOD)
    return play(frames)


class Player:
    """An honest bot; `misdeed` is asked first and may answer in its place."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.address = os.environ["ARENA_ADDR"]
        self.token = os.environ["ARENA_TOKEN"]
        self.sent: queue.SimpleQueue[bytes | None]
        self.decided: Counter[int] = Counter()
        """How many decisions it was asked, by match."""
        self.fated: dict[int, bool] = {}
        """Whether the misdeed is to be done, by match."""
        self.luck: dict[int, random.Random] = {}
        self.seeds: dict[int, bytes] = {}
        """The commitment to the dice, by match."""
        self.rolls: dict[bytes, list[int]] = {}
        """Every roll it ever saw, by commitment."""

    def run(self) -> None:
        """Join, answer what is asked, leave."""
        with contextlib.suppress(grpc.RpcError):
            for raw in self.stream(self.hello()):
                self.hear(PlayResponse.FromString(raw))
        self.sent.put(None)  # or gRPC would wait for the next frame for ever

    def stream(self, *frames: bytes) -> Iterable[bytes]:
        """A new stream that begins with `frames`; what is put into `sent` goes to it from now on."""
        self.sent = queue.SimpleQueue()
        for frame in frames:
            self.sent.put(frame)
        self.channel = grpc.insecure_channel(self.address, [("grpc.max_send_message_length", -1)])
        return dial(self.channel, iter(self.sent.get, None))

    def hello(self, **changes: str | int) -> bytes:
        """The first frame."""
        hello = Hello(protocol=1, token=self.token, matches=self.options.matches, updates=self.options.updates)
        for name, value in changes.items():
            setattr(hello, name, value)
        return PlayRequest(hello=hello).SerializeToString()

    def hear(self, frame: PlayResponse) -> None:
        """Answer a frame."""
        for start in frame.starts:
            self.begin(start)
        choices = [choice for decision in frame.decisions for choice in self.decide(decision)]
        if choices:
            self.say(*choices)
        for end in frame.ends:
            self.end(end)
        if frame.HasField("goodbye"):
            self.sent.put(None)

    def say(self, *choices: Choice) -> None:
        """Send a frame of choices."""
        self.sent.put(PlayRequest(choices=choices).SerializeToString())

    def begin(self, start: MatchStart) -> None:
        """A match begins."""
        self.fated[start.match] = start.bot_seed[0] % self.options.one_in == 0
        self.luck[start.match] = random.Random(start.bot_seed)
        self.seeds[start.match] = start.dice_commitment

    def decide(self, decision: Decision) -> list[Choice]:
        """The answers to a decision: one, if it is honest."""
        self.decided[decision.match] += 1
        misdeed = AT_DECISIONS.get(self.options.misdeed)
        due = self.fated[decision.match] and self.decided[decision.match] >= self.options.at
        answers = misdeed(self, decision) if misdeed is not None and due else None
        return [self.choice(decision)] if answers is None else answers

    def choice(self, decision: Decision, action: int | None = None) -> Choice:
        """An answer to a decision, the honest one if no action is given."""
        action = self.honest(decision) if action is None else action
        return Choice(match=decision.match, decision=decision.decision, action=action)

    def honest(self, decision: Decision) -> int:
        """The first, the last or a random legal action."""
        first, count = decision.legal_first, decision.legal_count
        legal = range(first, first + count) if count else decision.legal
        if self.options.play == "random":
            return self.luck[decision.match].choice(legal)
        return legal[0] if self.options.play == "first" else legal[-1]

    def end(self, end: MatchEnd) -> None:
        """A match is over."""
        if self.options.misdeed in AT_ENDS and self.fated[end.match]:
            AT_ENDS[self.options.misdeed](self, end)


Deed = Callable[[Player, Decision], "list[Choice] | None"]
AT_STARTS: dict[str, Callable[[Player], None]] = {}
AT_DECISIONS: dict[str, Deed] = {}
AT_ENDS: dict[str, Callable[[Player, MatchEnd], None]] = {}


def at_start(deed: Callable[[Player], None]) -> None:
    """A misdeed in place of joining."""
    AT_STARTS[deed.__name__] = deed


def at_decision(deed: Deed) -> None:
    """A misdeed in place of an answer; None: answers honestly all the same."""
    AT_DECISIONS[deed.__name__] = deed


def at_end(deed: Callable[[Player, MatchEnd], None]) -> None:
    """A misdeed after a match."""
    AT_ENDS[deed.__name__] = deed


def later(player: Player, decision: Decision) -> bool:
    """Whether the misdeed was done before in this match."""
    at: int = player.options.at
    return player.decided[decision.match] > at


# --- Instead of joining


@at_start
def exit_at_start(player: Player) -> None:
    sys.stderr.write("cannot find my opening book\n")
    sys.exit(player.options.code)


@at_start
def never_connects(_: Player) -> None:
    time.sleep(HOURS)


@at_start
def silent_socket(player: Player) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(player.address.removeprefix("unix:"))
        time.sleep(HOURS)


@at_start
def floods_connections(player: Player) -> None:
    """As many as it gets, for some seconds."""
    dialled: list[socket.socket] = []
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            dialled.append(socket.socket(socket.AF_UNIX))
            dialled[-1].connect(player.address.removeprefix("unix:"))
            continue
        dialled.clear()


@at_start
def speaks_http(player: Player) -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(player.address.removeprefix("unix:"))
        raw.sendall(b"GET / HTTP/1.1\r\nHost: arena\r\n\r\n")
        time.sleep(HOURS)


@at_start
def never_says_hello(player: Player) -> None:
    list(player.stream())


@at_start
def wrong_token(player: Player) -> None:
    with contextlib.suppress(grpc.RpcError):
        list(player.stream(player.hello(token="f" * 64)))
    time.sleep(HOURS)


@at_start
def guesses_tokens(player: Player) -> None:
    for guess in range(1000):
        with contextlib.suppress(grpc.RpcError):
            list(player.stream(player.hello(token=f"{guess:064x}")))


@at_start
def wrong_protocol(player: Player) -> None:
    with contextlib.suppress(grpc.RpcError):
        list(player.stream(player.hello(protocol=7)))
    time.sleep(HOURS)


@at_start
def leaves_at_welcome(player: Player) -> None:
    next(iter(player.stream(player.hello())))
    os._exit(player.options.code)


# --- Instead of an answer


@at_decision
def exits(player: Player, _: Decision) -> None:
    os.write(1, b"I give up\n")
    os._exit(player.options.code)


@at_decision
def is_killed(player: Player, _: Decision) -> None:
    os.kill(os.getpid(), player.options.code or signal.SIGKILL)


@at_decision
def stalls(_: Player, __: Decision) -> None:
    time.sleep(HOURS)


@at_decision
def answers_late(player: Player, decision: Decision) -> None:
    if not later(player, decision):
        time.sleep(player.options.seconds)


@at_decision
def thinks(player: Player, _: Decision) -> None:
    time.sleep(player.options.seconds)


@at_decision
def works(player: Player, _: Decision) -> None:
    begun = time.process_time()
    while time.process_time() - begun < player.options.seconds:
        pass


@at_decision
def plays_illegal(player: Player, decision: Decision) -> list[Choice]:
    return [player.choice(decision, player.options.code)]


@at_decision
def repeats_itself(player: Player, decision: Decision) -> list[Choice]:
    return [player.choice(decision)] * 2


@at_decision
def changes_its_mind(player: Player, decision: Decision) -> list[Choice]:
    choice = player.choice(decision)
    return [choice, player.choice(decision, choice.action + 1)]


@at_decision
def answers_foreign_matches(player: Player, decision: Decision) -> list[Choice]:
    return [player.choice(decision), Choice(match=decision.match + 1000, decision=1, action=0)]


@at_decision
def answers_unasked(player: Player, decision: Decision) -> list[Choice]:
    return [player.choice(decision), Choice(match=decision.match, decision=decision.decision + 1000, action=0)]


@at_decision
def sends_garbage(player: Player, _: Decision) -> list[Choice]:
    player.sent.put(b"\xff\xff\xff garbage")
    return []


@at_decision
def sends_what_nobody_knows(player: Player, decision: Decision) -> list[Choice]:
    """Send fields of all kinds, also before an honest answer: a newer protocol may have them."""
    unknown = (b"\x2d\0\0\0\0", b"\x29" + bytes(8), b"\x2b\x2c", b"\x80\x7d\x01", b"\x28" + b"\xff" * 9 + b"\x7f")
    choice = player.choice(decision)
    number = player.decided[decision.match] % len(unknown)
    player.sent.put(unknown[number] + PlayRequest(choices=[choice]).SerializeToString())
    return []


@at_decision
def sends_a_long_tag(player: Player, decision: Decision) -> list[Choice]:
    """Send an honest answer with a tag of six bytes, which protobuf refuses."""
    raw = PlayRequest(choices=[player.choice(decision)]).SerializeToString()
    player.sent.put(b"\x92\x80\x80\x80\x80\x00" + raw[1:])
    return []


@at_decision
def sends_huge_frame(player: Player, _: Decision) -> list[Choice]:
    player.sent.put(b"\x0a" * player.options.code)
    return []


@at_decision
def floods_empty(player: Player, _: Decision) -> None:
    for _number in range(10_000):
        player.say()


@at_decision
def floods_repeats(player: Player, decision: Decision) -> list[Choice]:
    return [player.choice(decision)] * 5_000


@at_decision
def opens_second_stream(player: Player, _: Decision) -> None:
    channel = grpc.insecure_channel(player.address)
    with contextlib.suppress(grpc.RpcError):
        list(dial(channel, iter([player.hello()])))


@at_decision
def says_hello_twice(player: Player, decision: Decision) -> None:
    if not later(player, decision):
        player.sent.put(player.hello())


@at_decision
def closes_stream(player: Player, _: Decision) -> None:
    player.channel.close()
    time.sleep(HOURS)


@at_decision
def answers_and_exits(player: Player, decision: Decision) -> list[Choice]:
    player.say(player.choice(decision))
    player.sent.put(None)
    time.sleep(0.1)
    os._exit(0)


@at_decision
def leaves_daemon(player: Player, decision: Decision) -> None:
    if not later(player, decision):
        daemon(player, dict(os.environ))


@at_decision
def leaves_nameless_daemon(player: Player, decision: Decision) -> None:
    if not later(player, decision):
        daemon(player, {})


def daemon(player: Player, environment: dict[str, str]) -> None:
    """Leave a process behind that is in no group, session or family of the bot's."""
    script = f"setsid sh -c 'sleep {HOURS} & echo $! >> {player.options.notes}/daemons'"
    subprocess.run(["/bin/sh", "-c", script], env=environment, check=True)


@at_decision
def knocks_at_other_doors(player: Player, decision: Decision) -> None:
    """Three streams that are refused are a fault of whoever is behind the door."""
    folder = os.path.dirname(player.address.removeprefix("unix:"))
    doors = [f"{os.path.dirname(folder)}/{number}" for number in range(1000)]
    for door in [] if later(player, decision) else filter(os.path.exists, doors):
        for _ in range(3 if door != folder else 0):
            with contextlib.suppress(grpc.RpcError), grpc.insecure_channel(f"unix:{door}/s") as channel:
                list(dial(channel, iter([PlayRequest(hello=Hello(protocol=1, token="x")).SerializeToString()])))


@at_decision
def prints_flood(_: Player, __: Decision) -> None:
    line = b"spam " * 4000 + b"\n"
    while True:
        os.write(1, line)


@at_decision
def forks_without_end(_: Player, __: Decision) -> None:
    while True:
        with contextlib.suppress(OSError):
            if not os.fork():
                time.sleep(HOURS)


@at_decision
def hogs_memory(_: Player, __: Decision) -> None:
    blocks = []
    while True:
        blocks.append(b"x" * (16 << 20))


@at_decision
def fills_disk(player: Player, decision: Decision) -> None:
    """Until nobody lets it write any more, or there is so much that somebody must notice."""
    with contextlib.suppress(OSError):
        for number in range(0 if later(player, decision) else 200):
            with open(f"{os.environ['TMPDIR']}/{number}", "wb") as file:
                file.write(bytes(1 << 20))
            time.sleep(0.005)
    if os.path.exists(f"{os.environ['TMPDIR']}/199"):
        time.sleep(HOURS)


@at_decision
def burns_with_threads(_: Player, __: Decision) -> None:
    for _number in range(16):
        threading.Thread(target=burn, daemon=True).start()
    time.sleep(HOURS)


def burn() -> None:
    """Use a processor up."""
    while True:
        pass


@at_decision
def prints_much(_: Player, __: Decision) -> None:
    os.write(1, b"log " * 10_000 + b"\n")


@at_decision
def prints_escapes_and_exits(player: Player, _: Decision) -> None:
    os.write(2, b"\x1b]0;owned\x07\x1b[2J caf\xe9 \xff\xfe\n")
    os._exit(player.options.code)


@at_decision
def answers_in_pieces(player: Player, decision: Decision) -> list[Choice]:
    player.say(player.choice(decision))
    return []


@at_decision
def remembers_rolls(player: Player, decision: Decision) -> list[Choice] | None:
    """It guesses the roll to come, if it ever saw a match on the same dice."""
    rolls = player.rolls.setdefault(player.seeds[decision.match], [])
    seen = [int(face.number_value) for face in decision.other.fields["rolls"].list_value.values]
    turn = len(seen)
    known = rolls[turn] if turn < len(rolls) else None
    rolls[: len(seen)] = seen
    return None if known is None else [player.choice(decision, known)]


# --- When a match is over


@at_end
def leaves_after_match(_: Player, __: MatchEnd) -> None:
    os._exit(0)


@at_end
def talks_after_match(player: Player, end: MatchEnd) -> None:
    player.say(*[Choice(match=end.match, decision=number, action=0) for number in range(1, 6)])


@at_end
def ignores_sigterm_and_goodbye(_: Player, __: MatchEnd) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(HOURS)


def main() -> None:
    """Play."""
    known = sorted([*AT_STARTS, *AT_DECISIONS, *AT_ENDS])
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"misdeeds: {', '.join(known)}")
    parser.add_argument("misdeed", nargs="?", choices=["", *known], default="")
    parser.add_argument("--at", type=int, default=1, help="the decision, from 1, of each match")
    parser.add_argument("--one-in", type=int, default=1, help="misbehave in one of so many matches, as the seed has it")
    parser.add_argument("--code", type=int, default=3, help="an exit code, signal, action or number of bytes")
    parser.add_argument("--seconds", type=float, default=0.0, help="how long to think")
    parser.add_argument("--notes", default=".", help="where to leave word of processes left behind")
    parser.add_argument("--play", choices=["first", "last", "random"], default="first")
    parser.add_argument("--matches", type=int, default=64)
    parser.add_argument("--updates", action="store_true")
    player = Player(parser.parse_args())
    AT_STARTS.get(player.options.misdeed, Player.run)(player)


if __name__ == "__main__":
    main()
