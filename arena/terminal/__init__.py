"""How commands speak with people: options become values, results and remarks are printed, a failure is one line."""
