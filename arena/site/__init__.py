"""Pages for browsers: each shows a report, in one file with all that it needs."""
