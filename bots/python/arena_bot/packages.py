"""Installs the packages that a bot's `requirements.txt` or `pyproject.toml` names: `python -m arena_bot.packages`.

The arena runs this as the build of a Python bot that has no other; a `build` of the bot's own may run it too. The
packages come to lie in the folder `.packages` of the bot. Their wheels stay in the home of the build, which the arena
keeps for the next version: what they satisfy is installed without the network.
"""

from __future__ import annotations

import compileall
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from py_compile import PycInvalidationMode

FOLDER = ".packages"
"""Where the packages are installed; the arena has Python look there for modules."""
_WHEELS = Path.home() / "wheels"


def wanted(folder: Path) -> list[str]:
    """Return the lines of a bot's requirements: of `requirements.txt` or, without one, of `[project] dependencies`.

    Empty if it has none. Raises ValueError for a pyproject.toml that is no TOML or says something else.
    """
    requirements, project = folder / "requirements.txt", folder / "pyproject.toml"
    if requirements.is_file():
        lines = [line.partition("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if line]
    if not project.is_file():
        return []
    dependencies = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("dependencies", [])
    if not (isinstance(dependencies, list) and all(isinstance(each, str) for each in dependencies)):
        raise ValueError("[project] dependencies in pyproject.toml is no list of texts")
    return dependencies


def main() -> int:
    """Install the packages in the working directory; return pip's exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path("requirements.txt")  # itself, since what it names may be relative to it
        if not listed.is_file():
            listed = Path(scratch) / "requirements.txt"
            listed.write_text("\n".join(wanted(Path())), encoding="utf-8")
        _WHEELS.mkdir(parents=True, exist_ok=True)
        asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        install = [*asked, "install", "--no-index", "--find-links", str(_WHEELS), "--no-compile", "--target", FOLDER]
        fetch = [*asked, "wheel", "--find-links", str(_WHEELS), "--wheel-dir", str(_WHEELS)]
        quiet = subprocess.run([*install, "-r", str(listed)], capture_output=True, check=False)
        if quiet.returncode:  # some of it was never fetched
            for command in (fetch, install):
                if code := subprocess.run([*command, "-r", str(listed)], check=False).returncode:
                    return code
    for note in Path(FOLDER).glob("*.dist-info/direct_url.json"):
        note.unlink()  # names a temporary folder, and the same requirements are to make the same files
    compileall.compile_dir(FOLDER, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
