"""Mends the copy of a submission where another system than Linux left what is meant clear, but unusable."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import suppress
from pathlib import Path

from arena.submission.program import is_executable, walk
from arena.submission.program_store import manifest
from arena_bot.text import decoded

_FOR_THE_KERNEL = (b"#!", b"\x7fELF")
"""First bytes of what the kernel runs."""


def mend(root: Path) -> tuple[str, ...]:
    """Make the files in a folder usable; return the paths of those whose text was changed.

    Scripts (`#!`) get line ends of Linux and, like Python's files, the encoding UTF-8: elsewhere the kernel would look
    for the interpreter "/bin/sh\\r". What the manifest's commands begin with becomes executable, since Windows does not
    keep that in its archives.
    """
    begun = set(_begun(root)) & set(walk(root))  # a command may also begin with a program of the machine
    changed = [path for path in sorted(walk(root)) if _mend_text(path, begun)]
    for path in begun:
        if (
            path.is_file()
            and not path.is_symlink()
            and not is_executable(path)
            and path.read_bytes().startswith(_FOR_THE_KERNEL)
        ):
            path.chmod(path.stat().st_mode | 0o111)
    return tuple(str(path.relative_to(root)) for path in changed)


def _begun(root: Path) -> Iterator[Path]:
    """Yield the files of the folder that commands of its manifest begin with."""
    said = manifest(root)
    for words in (said.run, *said.build):
        if words and "/" in words[0]:
            yield root / words[0]


def _mend_text(path: Path, begun: Set[Path]) -> bool:
    """Mend the text of a script or a file of Python's; tell whether that changed anything."""
    if path.is_symlink() or not path.is_file():
        return False
    content = path.read_bytes()
    mended = _mended(content, is_python=path.suffix == ".py", is_begun=path in begun)
    if mended == content:
        return False
    mode = path.stat().st_mode
    path.unlink()  # it is read-only
    path.write_bytes(mended)
    path.chmod(mode)
    return True


def _mended(content: bytes, *, is_python: bool, is_begun: bool) -> bytes:
    with suppress(ValueError):
        text = decoded(content)
        is_script = text.startswith("#!") and (is_begun or not is_python)
        if is_script:
            first = text.partition("\n")[0]
            return (text.replace("\r\n", "\n") if first.endswith("\r") else text).encode()
        if is_python and b"\0" in content[:4]:  # UTF-16 or UTF-32; Python itself reads all others
            return text.encode()
    return content
