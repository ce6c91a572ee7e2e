"""Generated from proto/ by scripts/generate; never edited."""
