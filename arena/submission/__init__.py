"""Bots as people hand them in: copied, read, built and stored.

A submission is a `.py` file, an executable file, a folder with a `bot.toml`, or an archive of such a folder. It is
stored as a folder named after the SHA-256 of its content, which never changes. `intake` and `build` are not imported
here, because most commands need neither.
"""

from arena.submission.builtin import built_ins
from arena.submission.copying import MAX_BYTES, MAX_FILES
from arena.submission.manifest import DEFAULT_NEEDS, MAX_MANIFEST, BadSubmission, Needs, check_name, skeleton
from arena.submission.program import Program, playing, read_program
from arena.submission.program_store import intact, manifest, store

__all__ = [
    "DEFAULT_NEEDS",
    "MAX_BYTES",
    "MAX_FILES",
    "MAX_MANIFEST",
    "BadSubmission",
    "Needs",
    "Program",
    "built_ins",
    "check_name",
    "intact",
    "manifest",
    "playing",
    "read_program",
    "skeleton",
    "store",
]
