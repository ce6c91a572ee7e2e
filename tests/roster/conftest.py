"""A folder to enter bots in, with a check that nothing is left behind: see tests/tournament/conftest.py."""

from tests.tournament.conftest import cwd as cwd
