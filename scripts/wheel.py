"""What an installed arena has beside its modules: the folders of `bots`, and the core where it can be compiled.

What it lacks, `arena/bench`, is left out in `pyproject.toml`.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):
    """Adds to the wheel what is not a module of its packages."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # One by one: below a single folder hatchling would follow only the first link to the protocol.
        folders = [path for path in Path(self.root, "bots").iterdir() if path.is_dir()]
        build_data["force_include"] |= {str(folder): f"arena/_bots/{folder.name}" for folder in folders}
        if version != "editable":
            self._add_core(build_data)

    def _add_core(self, build_data: dict[str, Any]) -> None:
        """Compile the core for this Python and this kind of machine; without a compiler the wheel is for any."""
        sys.path.insert(0, self.root)
        from arena.core import compilation

        compilation.prepare_core(self.app.display_info)
        if compilation.target().exists():
            build_data["force_include"][str(compilation.target())] = f"arena/core/built/{compilation.target().name}"
            build_data |= {"pure_python": False, "infer_tag": True}
