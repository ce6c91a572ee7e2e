"""What `arena publish` did."""

from __future__ import annotations

from arena.reports.base import Report


class Published(Report):
    """A site as a folder of files."""

    open: str
    """The file to open first."""
    files: int
    """Number of files of the site."""
    written: int
    """Number of those that are new or changed."""
    removed: int
    """Number of files of an earlier publication that are not in the site any more."""
