"""The `arena` command, for who starts it with Python: python -P -m arena.cli."""

from arena.cli import run

run()
