"""How fast the arena is, and how far from what this machine could do.

Every part is opened, which starts its processes and warms them up, and then sampled in turn, round and round: whatever
else the machine does hits all of them alike. Nothing that happens while a part opens is in a figure, but for `startup`.
"""
