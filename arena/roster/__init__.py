"""The bots that there are, and how a new one is entered."""

from arena.roster.bots import (
    Workshop,
    build_log,
    built,
    built_ins,
    check_field,
    check_wishes,
    enter,
    enter_built_ins,
    find,
    folder,
    known,
    listed,
    names,
    program_of,
    retire,
    starter,
)

__all__ = [
    "Workshop",
    "build_log",
    "built",
    "built_ins",
    "check_field",
    "check_wishes",
    "enter",
    "enter_built_ins",
    "find",
    "folder",
    "known",
    "listed",
    "names",
    "program_of",
    "retire",
    "starter",
]
