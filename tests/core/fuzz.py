"""Feeds a core with frames that are wrong in every way: `python -m tests.core.fuzz CORE FRAMES SEED`.

CORE is the file of a compiled core, in the tests one that watches its memory. It prints how many frames were read, and
how many of them were played.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arena.core import build


def main(path: Path, frames: int, seed: int) -> None:
    """Read so many frames with a core that lies elsewhere."""
    module: Any = build._loaded(path)
    build.core = lambda: module  # type: ignore[assignment]
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
        for bad in mutated(frame, luck, 100):
            read += 1
            stream.named(bad)
            if stream.look(bad):
                stream.commit(0.001)
                played += 1
        if stream.look(frame):
            stream.commit(0.001)
        if luck.random() < 0.02:
            luck.choice(matches).lent.take_back()
        if read >= frames:
            break
    return read, played


def valid_frames(streams: list[Any], luck: random.Random) -> Iterator[tuple[Any, bytes]]:
    """Ask every stream that owes nothing what waits there, and yield a frame with honest answers."""
    from arena.v1.referee_pb2 import Choice, PlayRequest, PlayResponse

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
    """Read views that are wrong, and use what was read all the same."""
    from tests.core.side_by_side import VIEWS, table

    for name in VIEWS:
        match = table(name, number)
        game, dice = match.compiled, match.dice
        for bad in mutated(game.wire_view(game.start(match.seats, dice)), luck, 300):
            try:
                state = game.read(bad)
            except ValueError:
                continue
            pending = game.pending(state)
            game.wire_view(state), game.ranks(state), game.scores(state)
            if pending:
                game.apply(state, {seat: game.default_action(state, seat) for seat in pending}, dice)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
