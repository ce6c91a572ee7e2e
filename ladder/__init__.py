"""Finds out who is best: schedule, ratings and the database. Knows no game, process or network."""
