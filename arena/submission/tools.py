"""Tools with which bots are built and run: what this machine lacks of them, and what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from arena.sandbox import places
from arena.submission.manifest import Manifest
from arena.submission.program import command, environment


class Tool(NamedTuple):
    """A program, or a library that pkg-config knows."""

    debian: str
    """Packages of Debian and Ubuntu that have it."""
    missed: str
    """Pattern of what other tools print when they miss it."""
    elsewhere: str = ""
    """Where newer ones come from."""
    is_library: bool = False


TOOLS = {
    "awk": Tool("mawk", r"\bawk: (command )?not found"),
    "c++": Tool("g++", r"CMAKE_CXX_COMPILER|\b[gc]\+\+: (command )?not found"),
    "cargo": Tool("cargo", r"\bcargo: (command )?not found", "https://rustup.rs"),
    "cc": Tool("gcc libc6-dev", r"linker .cc. not found|C compiler .*not found|\b(cc|gcc)\b.*not found"),
    "cmake": Tool("cmake", r"\bcmake: (command )?not found"),
    "git": Tool("git", r"Cannot find command .git.|\bgit\b.*not found"),
    "go": Tool("golang-go", r"\bgo: (command )?not found", "https://go.dev/dl"),
    "grpc_cpp_plugin": Tool("protobuf-compiler-grpc", r"GRPC_CPP_PLUGIN|grpc_cpp_plugin.*not found"),
    "grpc++": Tool("libgrpc++-dev", r"\bgrpc\+\+.*not found", is_library=True),
    "java": Tool("default-jre-headless", r"\bjava: (command )?not found"),
    "javac": Tool("default-jdk-headless", r"No compiler is provided|JAVA_HOME|\bjavac\b.*not found"),
    "make": Tool("make", r"CMAKE_MAKE_PROGRAM|\bmake: (command )?not found"),
    "mawk": Tool("mawk", r"\bmawk: (command )?not found"),
    "mvn": Tool("maven", r"\bmvn: (command )?not found"),
    "node": Tool("nodejs", r"\bnode\b.*(not found|No such file)", "https://nodejs.org"),
    "npm": Tool("npm", r"\bnpm: (command )?not found", "https://nodejs.org"),
    "pkg-config": Tool("pkg-config", r"PkgConfig|\bpkg-config\b.*not found"),
    "protobuf": Tool("libprotobuf-dev", r"\bprotobuf\b.*not found", is_library=True),
    "protoc": Tool("protobuf-compiler libprotobuf-dev", r"PROTOC\b|\bprotoc\b.*not (be )?found"),
}
"""Tools by the names that commands call them by."""


def missing_tools(manifest: Manifest) -> list[str]:
    """Return what this machine lacks to build and run a bot: programs, and packages that it asks pkg-config for."""
    lacking = []
    for words in (*manifest.build, manifest.run):
        program = command(words)[0]
        if program.startswith("./"):
            continue
        if tool_path(program) is None:
            lacking.append(program)
        elif program == "pkg-config":
            lacking += [package for package in words[1:] if not (package.startswith("-") or _is_known(package))]
    return list(dict.fromkeys(lacking))


def missed(log: Iterable[str]) -> list[str]:
    """Return the tools that a failed command missed, as its output says, and that this machine really lacks."""
    text = "\n".join(log)
    return [name for name, tool in TOOLS.items() if re.search(tool.missed, text) and not _is_there(name, tool)]


def tool_path(program: str) -> str | None:
    """Return where builds would find a program; None if nowhere."""
    path = [*(f"{place}/bin" for place in places.toolchains()), environment()["PATH"]]
    return shutil.which(program, path=os.pathsep.join(path))


def install_hint(names: Iterable[str]) -> str:
    """Return what to do about tools that are missing; empty if nobody knows."""
    tools = [TOOLS[name] for name in names if name in TOOLS]
    if not tools:
        return ""
    debian = dict.fromkeys(package for tool in tools for package in tool.debian.split())
    elsewhere = "".join(f", or see {tool.elsewhere}" for tool in tools if tool.elsewhere)
    return f"install it (Debian, Ubuntu: apt install {' '.join(debian)}){elsewhere}"


def _is_there(name: str, tool: Tool) -> bool:
    return (tool_path("pkg-config") is not None and _is_known(name)) if tool.is_library else tool_path(name) is not None


def _is_known(package: str) -> bool:
    """Tell whether pkg-config knows a package; by exit code, because the messages of its implementations differ."""
    completion = subprocess.run(["pkg-config", "--exists", package], capture_output=True, check=False)
    return completion.returncode == 0
