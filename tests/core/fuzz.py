"""Feeds a core with frames that are wrong in every way: `python -m tests.core.fuzz CORE FRAMES SEED`.

CORE is the file of a compiled core, in the tests one that watches its memory. It prints how many frames were read, and
how many of them were played.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from arena.core import compilation
from arena.referee import frames
from arena.v1.referee_pb2 import Choice, PlayRequest, PlayResponse


def main(path: Path, frames: int, seed: int) -> None:
    """Read so many frames with a core that lies elsewhere."""
    module: Any = compilation._loaded(path)
    compilation.core = lambda: module  # type: ignore[assignment]
    luck = random.Random(seed)
    read = played = 0
    rounds = 0
    while read < frames:
        rounds += 1
        many, some = round_of_matches(module, luck, rounds, min(20_000, frames - read))
        read, played = read + many, played + some
        views(luck, rounds)
    print(f"{read} frames read, {played} played, in {rounds} rounds")  # noqa: T201 - for the test


def round_of_matches(module: Any, luck: random.Random, number: int, frames: int) -> tuple[int, int]:
    """Read frames about some new matches, of which some are taken back; give how many, and how many were played."""
    from tests.core.loopback import Lent
    from tests.core.side_by_side import VIEWS, table

    streams = [module.Stream(seat) for seat in range(5)]
    tables = [table(name, 10 * number + which) for which in range(10) for name in VIEWS]
    matches = [Lent(each, streams, [at] * each.seats, b"\x12\x00") for at, each in enumerate(tables, start=1)]
    read = played = 0
    for valid in valid_frames(streams, luck):
        stream, frame = valid
        base = built(luck, PlayRequest.FromString(frame).choices) if luck.random() < 0.3 else frame
        for bad in mutated(base, luck, 100):
            read += 1
            if count := stream.look(bad):
                check(stream, bad, count)
                stream.commit(0.001)
                played += 1
        if stream.look(frame):
            stream.commit(0.001)
        if luck.random() < 0.02:
            luck.choice(matches).lent.take_back()
        if read >= frames:
            break
    return read, played


def check(stream: Any, frame: bytes, count: int) -> None:
    """Fail unless protobuf reads so many choices in a frame, and nothing else, of matches that are owed."""
    read = PlayRequest.FromString(frame)
    numbers = {choice.match for choice in read.choices}
    assert len(numbers) == len(read.choices) == count, frame.hex()
    assert not read.HasField("hello"), frame.hex()
    assert numbers <= {number for number, _ in stream.owing()}, frame.hex()


def built(luck: random.Random, choices: Sequence[Choice]) -> bytes:
    """Encode some choices in unusual ways: longer than need be, in other orders, with fields that nobody knows."""
    frame = b""
    for choice in luck.sample(list(choices), min(len(choices), luck.randrange(1, 4))):
        numbers = [(1, choice.match), (2, choice.decision), (3, choice.action)]
        parts = [varint(luck, field << 3) + varint(luck, number) for field, number in numbers]
        if luck.random() < 0.2:
            parts.insert(luck.randrange(4), unknown(luck))
        if luck.random() < 0.1:
            luck.shuffle(parts)
        whole = b"".join(parts)
        frame += (unknown(luck) if luck.random() < 0.2 else b"") + varint(luck, 0x12) + varint(luck, len(whole)) + whole
    return frame


def varint(luck: random.Random, number: int) -> bytes:
    """Encode a number, in one of ten cases with zeros behind it, and in some with bits beyond 32."""
    if luck.random() < 0.02:
        number |= luck.choice((1 << 32, 1 << 63))
    groups = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    if luck.random() < 0.1:
        groups += [0] * luck.choice((1, 3, 4, 5, 8))
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def unknown(luck: random.Random) -> bytes:
    """Encode a field that may be known, of any kind: a number, 8 bytes, a text, a group or 4 bytes."""
    field = luck.choice((1, 2, 3, 4, 15, 16, 1000, 1001, 2**29 - 1)) << 3
    return luck.choice(
        (
            varint(luck, field) + varint(luck, luck.getrandbits(luck.choice((5, 33, 64)))),
            varint(luck, field | 1) + luck.randbytes(8),
            varint(luck, field | 2) + b"\x03abc",
            varint(luck, field | 3) + varint(luck, field | 4),
            varint(luck, field | 5) + luck.randbytes(4),
        )
    )


def valid_frames(streams: list[Any], luck: random.Random) -> Iterator[tuple[Any, bytes]]:
    """Ask every stream that owes nothing what waits there, and yield a frame with honest answers."""
    asked: dict[Any, list[Any]] = {stream: [] for stream in streams}
    while waiting := [stream for stream in streams if stream.queued or stream.owed]:
        stream = luck.choice(waiting)
        if not stream.owed:
            asked[stream] = list(PlayResponse.FromString(stream.cut(luck.choice((1, 4, 100)), 100)[3]).decisions)
        still = {number for number, _ in stream.owing()}
        choices = [
            Choice(
                match=each.match,
                decision=each.decision,
                action=luck.choice(range(each.legal_first, each.legal_first + each.legal_count) or each.legal),
            )
            for each in asked[stream]
            if each.match in still
        ]
        yield stream, PlayRequest(choices=choices).SerializeToString()


def honest_matches(luck: random.Random, first: int, count: int) -> int:
    """Play so many new matches of all games to their ends, with random choices; give how many they were."""
    from tests.core.loopback import BANK
    from tests.core.side_by_side import VIEWS, table

    module: Any = compilation.core()
    streams = [module.Stream(seat) for seat in range(5)]
    held = []
    for number in range(count):
        each = table([*VIEWS][number % len(VIEWS)], first + number)
        seats = tuple((streams[seat], number + 1, BANK, b"") for seat in range(each.seats))
        view = frames.view_number(each.game.view_field)
        held.append(module.Match(object(), each.compiled, each.seed, view, seats))
    for stream, frame in valid_frames(streams, luck):
        assert stream.look(frame)
        stream.commit(0.001)
    assert all(match.ranks is not None for match in held)
    return count


def mutated(frame: bytes, luck: random.Random, count: int) -> Iterator[bytes]:
    """Flip, cut, double and mix the bytes of a frame."""
    length = len(frame)
    for noise in luck.randbytes(8 * count)[::8]:
        bad = bytearray(frame)
        for _ in range(1 + noise % 3):
            kind, place = noise % 5, int(luck.random() * length)
            if kind == 0:
                bad[place:] = b""
            elif kind == 1:
                bad[place:place] = luck.randbytes(noise % 7)
            elif kind == 2:
                bad += bad[place:]
            elif bad:
                bad[place % len(bad)] = noise ^ 0xFF if kind == 3 else int(luck.random() * 256)
        yield bytes(bad)


def views(luck: random.Random, number: int) -> None:
    """Read views that are wrong, and go on from what was read: whoever must decide can always choose something."""
    from tests.core.side_by_side import VIEWS, table

    for name in VIEWS:
        match = table(name, number)
        game, dice = match.compiled, match.dice
        for bad in mutated(game.wire_view(game.start(match.seats, dice)), luck, 300):
            try:
                state = game.read(bad)
            except ValueError:
                continue
            for _ in range(4):
                pending = game.pending(state)
                assert all(pending.values()), (name, bad.hex())
                game.wire_view(state), game.ranks(state), game.scores(state)
                if not pending:
                    break
                state = game.apply(state, {seat: game.default_action(state, seat) for seat in pending}, match.dice)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
