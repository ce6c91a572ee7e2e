"""The checker as a command: `python -m tests.cases FILE…`."""

from __future__ import annotations

import io
import sys

from tests.cases.runner import main

if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(errors="backslashreplace")  # JSON may hold half a surrogate pair
sys.exit(main(sys.argv[1:]))
