"""Files that commands write: what is there is lost only if it was of the same kind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import click


class NewFile(click.Path):
    """Type of an option that is a file to be written. What cannot be written is refused before any work is done.

    A file that is there may be replaced if it is empty or begins with `start`, as all files of this kind do: a slip
    of the keyboard must not cost somebody the source of a bot.
    """

    def __init__(self, kind: str, start: bytes) -> None:
        super().__init__(dir_okay=False)
        self._kind = kind
        self._start = start

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("a file needs a name", param, ctx)
        file = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not file.parent.is_dir():
            self.fail(f"there is no folder {str(file.parent)!r}", param, ctx)
        if file.exists() and not self._may_replace(file):
            self.fail(f"{str(file)!r} is there and is no {self._kind}: name another file", param, ctx)
        if not os.access(file.parent, os.W_OK | os.X_OK):
            self.fail(f"the folder {str(file.parent)!r} cannot be written", param, ctx)
        return file

    def _may_replace(self, file: Path) -> bool:
        if not file.is_file():
            return False
        with file.open("rb") as old:
            return old.read(len(self._start)) in (b"", self._start)


class Folder(click.Path):
    """Type of an option that is a folder to write files into; it is made if it does not exist."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, writable=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        folder = Path(os.fsdecode(super().convert(value, param, ctx)))
        folder.mkdir(exist_ok=True)
        return folder


def write_file(file: Path, content: bytes) -> None:
    """Write a file as a whole: until it is complete, what was there before stays. Raises click.ClickException."""
    target = file.resolve()  # or a link would be replaced, and not what it leads to
    try:
        with tempfile.TemporaryDirectory(prefix=".arena-", dir=target.parent) as folder:
            part = Path(folder) / target.name
            part.write_bytes(content)
            part.replace(target)
    except OSError as error:  # that of a full disk does not say which file it was
        raise click.ClickException(f"cannot write {str(file)!r}: {error.strerror}") from error
