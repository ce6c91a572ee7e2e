"""Holds programs of strangers: what a machine offers for that, and a command made so that it can harm nobody.

`probe` finds out what there is and gives a `Sandbox`, a value that travels to workers; `confine` and `confine_build`
turn a command into one that runs inside it.
"""

from arena.sandbox.confine import Confined, builder, confine, confine_build, door, user
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
    "door",
    "probe",
    "user",
]
