"""The base of all reports."""

from __future__ import annotations

import msgspec


class Report(msgspec.Struct, forbid_unknown_fields=True):
    """A typed value whose fields are the keys of its JSON; fields that were not asked for are `msgspec.UNSET`."""
