"""Play matches between programs; `ladder` rates them."""
