"""What an installed arena has beside its modules: the folders of `bots`, and what can be compiled.

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
            self._add_compiled(build_data)

    def _add_compiled(self, build_data: dict[str, Any]) -> None:
        """Compile for this Python and this kind of machine; without a compiler the wheel is for any."""
        sys.path.insert(0, self.root)
        from arena.core import compilation
        from arena.sandbox import launching

        compilation.prepare_core(self.app.display_info)
        launching.prepare_launcher(self.app.display_info)
        for file in filter(Path.exists, (compilation.target(), launching.target())):
            build_data["force_include"][str(file)] = f"arena/{file.relative_to(Path(self.root, 'arena'))}"
            build_data |= {"pure_python": False, "infer_tag": True}
