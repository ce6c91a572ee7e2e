"""A place to play ladders in, after which nothing is left."""

from tests.tournament.conftest import cwd as cwd
