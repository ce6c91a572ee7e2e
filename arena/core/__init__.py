"""The rules of the arena's own games, and the step of a frame, in C; everything works without it, more slowly.

Python's rules and referee are the reference. `build` makes and finds the compiled module, `games` says which games it
plays, and `playouts` plays matches out for those who search.
"""
