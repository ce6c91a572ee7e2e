"""What holds for the bot of every language."""
