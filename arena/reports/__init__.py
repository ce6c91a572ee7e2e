"""What is known of ladders, bots and matches, as typed values.

Every output of the arena renders one of these reports: a table for people, or its fields as JSON. Whatever is shown is
computed here, once. A field that is added to a report is in the JSON at once; `scripts/reference` lists all of them.
"""

from arena.reports.base import Report

__all__ = ["Report"]
