"""Installs the packages that a bot's `requirements.txt` or `pyproject.toml` names: `python -m arena_bot.packages`.

The arena runs this as the build of a Python bot that has no other; a `build` of the bot's own may run it too. The
packages come to lie in the folder `.packages` of the bot. Their wheels stay in the home of the build, which the arena
keeps for the next version: what they satisfy is installed without the network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from arena_bot.requirements import SDK, SHARED, wanted

FOLDER = ".packages"
"""Where the packages are installed; the arena has Python look there for modules."""
_OURS = {"arena", "arena_bot"}
_UNUSED = {"test"}
"""Modules of Python that nobody misses: some packages bring their own tests under that name."""


def hiding(names: Iterable[str]) -> list[str]:
    """Return those of the names of files and folders that, where packages are, hide modules of Python or the SDK."""
    modules = {name: name.partition(".")[0] for name in names}
    return sorted(name for name, module in modules.items() if module in (sys.stdlib_module_names | _OURS) - _UNUSED)


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
        listed, limits = Path(scratch) / "requirements.txt", Path(scratch) / "constraints.txt"
        listed.write_text("\n".join(wanted(Path.cwd()).lines), encoding="utf-8")
        bounds = [*(f"{name}=={version(name)}" for name in SHARED), *(f"{name}<0" for name in SDK)]  # <0: none at all
        limits.write_text("\n".join(bounds), encoding="utf-8")

        def pip(command: str, *options: str, shown: bool) -> int:
            words = [sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--no-input", *options]
            words += ["--find-links", str(wheels), "--constraint", str(limits), "--requirement", str(listed)]
            return subprocess.run(words, capture_output=not shown, check=False).returncode

        install = ("--no-compile", "--target", FOLDER)
        if pip("install", *install, "--no-index", shown=False):  # some of it was never fetched
            if code := pip("install", *install, shown=True):
                return code
            pip("wheel", "--wheel-dir", str(wheels), shown=False)  # for the next version; from pip's own cache
    if hidden := hiding(path.name for path in Path(FOLDER).iterdir()):
        print(f"the packages hide modules of Python or the SDK: {', '.join(hidden)}", file=sys.stderr)  # noqa: T201
        return 1
    for note in Path(FOLDER).glob("*.dist-info/direct_url.json"):
        note.unlink()  # names a temporary folder, and the same requirements are to make the same files
    compileall.compile_dir(FOLDER, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
