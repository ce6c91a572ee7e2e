"""A folder to play ladders in, with a check that nothing is left behind: see tests/tournament/conftest.py."""

from tests.tournament.conftest import cwd as cwd
