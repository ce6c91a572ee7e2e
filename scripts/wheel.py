"""What an installed arena has of `bots`: each folder, the files that its links lead to included."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BotsHook(BuildHookInterface):
    """Names the folders one by one: below a single one hatchling would follow only the first link to the protocol."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        folders = [path for path in Path(self.root, "bots").iterdir() if path.is_dir()]
        build_data["force_include"] |= {str(folder): f"arena/_bots/{folder.name}" for folder in folders}
