"""Plays many matches at once, each bot in its own process: tasks come in, results go out.

Bot processes are kept for the next matches, since starting them takes long.
"""
