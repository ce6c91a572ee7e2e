"""The published test cases as data, and the ops that run them against the real games."""
