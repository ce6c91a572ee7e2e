"""What every room may use: words for people about names, the home, the loop of events, the search for garbage."""
