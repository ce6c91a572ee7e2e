"""Confines untrusted programs: finds out what this machine offers, and wraps commands in as much of it as a grade has.

`probe` finds out what there is and returns a `Sandbox`, a value that is passed to workers; `confine` and
`confine_build` turn a command into one that runs inside it; `user` and `builder` give the ids of
the users that bots and builds run as.
"""

from arena.sandbox.confine import Confined, builder, confine, confine_build, socket_folder, user
from arena.sandbox.grades import DEFAULT, LEAST, MOST, UNCONFINED, Bounds, Grade, Layer, NoSandbox, Sandbox
from arena.sandbox.probe import probe

__all__ = [
    "DEFAULT",
    "LEAST",
    "MOST",
    "UNCONFINED",
    "Bounds",
    "Confined",
    "Grade",
    "Layer",
    "NoSandbox",
    "Sandbox",
    "builder",
    "confine",
    "confine_build",
    "probe",
    "socket_folder",
    "user",
]
