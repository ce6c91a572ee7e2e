"""How people play: at a terminal, or elsewhere through lines of JSON. To the referee each is one more bot."""
