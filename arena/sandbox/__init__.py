"""Confines untrusted programs: finds out what this machine offers, and wraps commands in as much of it as a grade has.

`probe` finds out what there is and returns a `Sandbox`, a value that is passed to workers; `confine` and
`confine_build` turn a command into one that runs inside it, as a user of its own where the arena can give it one.
"""

from arena.sandbox.confine import Confined, confine, confine_build, socket_folder
from arena.sandbox.grades import DEFAULT, STRONGEST, UNCONFINED, WEAKEST, Bounds, Grade, Layer, NoSandbox, Sandbox
from arena.sandbox.probe import probe

__all__ = [
    "DEFAULT",
    "STRONGEST",
    "UNCONFINED",
    "WEAKEST",
    "Bounds",
    "Confined",
    "Grade",
    "Layer",
    "NoSandbox",
    "Sandbox",
    "confine",
    "confine_build",
    "probe",
    "socket_folder",
]
