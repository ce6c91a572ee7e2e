"""Who is best: schedule, ratings and the store. Knows no game, process or network."""
