"""How many matches are played at once: tasks in, results out, with bot processes that stay warm in between."""
