"""Measure how fast the arena is, and how far it is from what this machine could do.

Every part is opened, which starts its processes and warms them up. Then the parts are sampled in turn, round and round,
so that whatever else the machine does affects all of them alike. What happens while a part opens is in no figure; only
`startup` measures how long starting takes.
"""
