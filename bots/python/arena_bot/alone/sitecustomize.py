"""Leaves a bot in Python alone with the SDK: what else the organiser has installed is not there for it.

Python imports a module of this name when it starts, and the arena puts this folder into PYTHONPATH. Otherwise a bot
could import what is on this machine by chance, and would fail on every other. Nothing is held back that way from
whoever looks for it; that is what the sandbox is for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

MODULES = "ARENA_MODULES"
"""Variable with the paths of the modules that are there nevertheless."""


class Sdk:
    """Finds the modules of the SDK as if their folders were the last ones in `sys.path`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.folders = {os.path.splitext(os.path.basename(path))[0]: os.path.dirname(path) for path in paths}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a module; one in the bot's folder comes first."""
        if path is None and name in self.folders:
            return PathFinder.find_spec(name, [*sys.path, self.folders[name]], target)
        return None

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """Find the packages that have games, in which `arena.games` looks for them, or one by its name."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        where = DistributionFinder.Context(name=context.name, path=sorted(set(self.folders.values())))
        for found in MetadataPathFinder.find_distributions(where):
            if context.name is not None or any(entry.group == "arena.games" for entry in found.entry_points):
                yield found


def leave_alone(paths: list[str]) -> None:
    """Take out of `sys.path` what is neither Python's own nor named in PYTHONPATH, and put the SDK in its place."""
    library = os.path.dirname(os.__file__)
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = {library, os.path.join(library, "lib-dynload"), *map(os.path.abspath, named)}
    sys.path[:] = [each for each in sys.path if each in kept or each.endswith(".zip")]
    sys.meta_path.insert(sys.meta_path.index(PathFinder), Sdk(paths))


_paths = [path for path in os.environ.get(MODULES, "").split(os.pathsep) if path]
if any(os.path.dirname(path) in sys.path for path in _paths):  # the arena's Python, and no other that it starts
    leave_alone(_paths)
