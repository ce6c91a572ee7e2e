"""Templates for new bots: one for every language, which `arena new` copies to a folder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from arena.base.suggest import unknown
from arena.submission.builtin import bots_folder
from arena.submission.intake import made_by_builds
from arena.submission.manifest import BadSubmission, Manifest, check_name, load
from arena.submission.outside import LEFT_OUT


@cache
def templates() -> dict[str, Path]:
    """Return the template folder of each language: its folder in `bots`, or `example` in a folder of several bots."""
    bots = bots_folder()
    manifests = [*bots.glob("*/bot.toml"), *bots.glob("*/example/bot.toml")]
    return {load(toml, str(toml)).language: toml.parent for toml in manifests}


def make(folder: Path, language: str, games: Sequence[str] = ()) -> Manifest:
    """Make a new folder with a bot in `language`; the bot is named after the folder.

    It plays `games`, or all games that its template plays. Raises BadSubmission.
    """
    if language not in templates():
        hint = "; any other is a plain program, which reads and writes lines: see docs/plain-programs.md"
        raise BadSubmission(unknown("language", language, sorted(templates())) + hint)
    _check_is_new(folder)
    name = check_name(folder.name, "name the folder so")
    try:
        return _filled(folder, templates()[language], name, games)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        first = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
        raise BadSubmission(f"cannot make {str(folder)!r}: {first}") from error


def _filled(folder: Path, template: Path, name: str, games: Sequence[str]) -> Manifest:
    """Copy a template and put the name and the games into its manifest."""
    _copy(template, folder)
    toml = folder / "bot.toml"
    values: dict[str, object] = {"name": name}
    if games:
        # The text of every template ends with "every game".
        about = load(toml, str(toml)).about.replace("every game", " and ".join(games))
        values |= {"games": list(games), "about": about}
    toml.write_text(_with_values(toml.read_text(), values))
    return load(toml, str(toml))


def _check_is_new(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        raise BadSubmission(f"{str(folder)!r} exists already: choose a folder that does not exist yet")
    if not folder.parent.is_dir():
        raise BadSubmission(f"no folder {str(folder.parent)!r} to make {folder.name!r} in")


def _copy(template: Path, folder: Path) -> None:
    """Copy a template, with the files that its link to the protocol points to, but without results of builds."""
    build_results = {template / name for name in made_by_builds(template)}

    def left_out(at: str, names: Sequence[str]) -> set[str]:
        return {name for name in names if name in LEFT_OUT or Path(at, name) in build_results}

    shutil.copytree(template, folder, ignore=left_out)


def _with_values(toml: str, values: Mapping[str, object]) -> str:
    """Return a manifest with other values for some keys; a key that is there must be on a line of its own.

    Keys are put at the front: behind a `[table]` they would belong to it. Texts and lists of texts are written alike
    in TOML and JSON.
    """
    for key, value in values.items():
        toml = re.sub(rf"^{key} = .*\n", "", toml, flags=re.MULTILINE)
        toml = f"{key} = {json.dumps(value)}\n{toml}"
    return toml
