"""Tapes: recordings of what the referee sends to bots, which the raw parts of the benchmark play back.

A tape is the file of one bot process: for every frame a line with its time and length, then its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from arena.v1.referee_pb2 import PlayResponse


class Frame(NamedTuple):
    """A frame's exact bytes, and how many decisions it asks for."""

    data: bytes
    decisions: int


class Tape(NamedTuple):
    """What one bot process was sent, from before its first match to after its last."""

    frames: Sequence[Frame]

    @property
    def decisions(self) -> int:
        """Number of decisions that the process was asked for."""
        return sum(frame.decisions for frame in self.frames)

    @property
    def full_frames(self) -> int:
        """Number of frames that ask for decisions."""
        return sum(frame.decisions > 0 for frame in self.frames)


def add_frame(file: BinaryIO, time: float, data: bytes) -> None:
    """Append a frame and flush it to the file at once, since the bot may be killed at any time."""
    file.write(b"%r %d\n" % (time, len(data)))
    file.write(data)
    file.flush()


def tapes(folder: Path) -> dict[str, list[Path]]:
    """Return the paths of the tapes, by the process id of the worker that the bots belonged to."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        paths.setdefault(path.name.partition("-")[0], []).append(path)
    return paths


def read_tape(path: Path, since: float) -> Tape:
    """Read the frames from the first match that began after a moment, by `time.monotonic`, when none was in play.

    Raises ValueError if a match among them does not end.
    """
    frames: list[Frame] = []
    in_play: set[int] = set()
    for time, data in _entries(path):
        message = PlayResponse.FromString(data)
        if time < since or not (frames or message.starts) or message.HasField("goodbye"):
            continue
        frames.append(Frame(data, len(message.decisions)))
        in_play |= {start.match for start in message.starts}
        in_play -= {end.match for end in message.ends}
    if in_play:
        raise ValueError(f"the recording {path} is not whole: {len(in_play)} matches do not end")
    return Tape(frames)


def _entries(path: Path) -> Iterator[tuple[float, bytes]]:
    with path.open("rb") as file:
        while head := file.readline():
            time, length = head.split()
            yield float(time), file.read(int(length))
