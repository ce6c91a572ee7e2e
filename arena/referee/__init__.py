"""How one match with bots is refereed: whose turn it is, how long it may take, and what travels over the wire."""
