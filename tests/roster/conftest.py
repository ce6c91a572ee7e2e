"""A place to enter bots in, after which nothing is left."""

from tests.tournament.conftest import cwd as cwd
