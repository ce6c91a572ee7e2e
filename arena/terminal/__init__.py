"""How commands speak with a terminal, and what of it they make values of: results, remarks, failures, options."""
