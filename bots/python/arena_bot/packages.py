"""Installs the packages that a bot's `requirements.txt` or `pyproject.toml` names: `python -m arena_bot.packages`.

The arena runs this as the build of a Python bot that has no other; a `build` of the bot's own may run it too. The
packages come to lie in the folder `.packages` of the bot. Their wheels stay in the home of the build, which the arena
keeps for the next version: what they satisfy is installed without the network.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

FOLDER = ".packages"
"""Where the packages are installed; the arena has Python look there for modules."""
_SHARED = ("protobuf", "grpcio")
"""Packages that the SDK itself uses. Those of a bot come first, so they have to be of the same version."""
_OWN = re.compile(r"arena(?:[-_.]bot)?", re.IGNORECASE)
"""Matches names of the SDK, which is there anyway: an index has other packages under these names."""


def wanted(folder: Path) -> list[str]:
    """Return the lines of a bot's requirements: of `requirements.txt` or, without one, of `[project] dependencies`.

    Empty if it has none. Raises ValueError for what cannot be read, and for a line that names the SDK.
    """
    requirements, project = folder / "requirements.txt", folder / "pyproject.toml"
    if requirements.is_file():
        lines = [line.partition("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines()]
        lines = [line for line in lines if line]
    elif project.is_file():
        lines = _dependencies(project)
    else:
        lines = []
    for line in lines:
        if _OWN.fullmatch(re.split(r"[\s\[<>=!~;@]", line, maxsplit=1)[0]):
            raise ValueError(f"{line!r} is no package to install: the SDK is there without being named")
    return lines


def _dependencies(project: Path) -> list[str]:
    try:
        table = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
    except RecursionError:
        raise ValueError("pyproject.toml is nested too deeply") from None
    found = table.get("dependencies", []) if isinstance(table, dict) else None
    if not (isinstance(found, list) and all(isinstance(each, str) for each in found)):
        raise ValueError("[project] dependencies in pyproject.toml is no list of texts")
    return found


def main() -> int:
    """Install the packages in the working directory; return pip's exit code."""
    import compileall
    import subprocess
    import tempfile
    from importlib.metadata import version
    from py_compile import PycInvalidationMode

    wheels = Path.home() / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        listed, limits = Path("requirements.txt"), Path(scratch) / "constraints.txt"
        if not listed.is_file():
            listed = Path(scratch) / "requirements.txt"
            listed.write_text("\n".join(wanted(Path())), encoding="utf-8")
        limits.write_text("".join(f"{name}=={version(name)}\n" for name in _SHARED), encoding="utf-8")

        def pip(command: str, *options: str, shown: bool) -> int:
            words = [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--no-input", *options]
            words += ["--find-links", str(wheels), "--constraint", str(limits), "--requirement", str(listed)]
            return subprocess.run(words, capture_output=not shown, check=False).returncode

        install = ("--no-compile", "--target", FOLDER)
        if pip("install", *install, "--no-index", shown=False):  # some of it was never fetched
            if code := pip("install", *install, shown=True):
                return code
            pip("wheel", "--wheel-dir", str(wheels), shown=False)  # for the next version; from pip's own cache
    for note in Path(FOLDER).glob("*.dist-info/direct_url.json"):
        note.unlink()  # names a temporary folder, and the same requirements are to make the same files
    compileall.compile_dir(FOLDER, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
