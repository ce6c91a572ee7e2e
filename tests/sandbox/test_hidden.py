"""The home, with the seed of the dice and everybody's bots, is nobody's to read, wherever it lies."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from arena.sandbox import Grade, confine, probe
from arena.sandbox.run_folder import run_folder
from tests.needs import grades


@pytest.mark.parametrize("grade", grades("ABC"))
def test_a_home_among_what_bots_may_see_is_hidden(grade: Grade) -> None:
    """What lies around it is there all the same."""
    with tempfile.TemporaryDirectory(dir=sys.prefix) as home, run_folder() as folder:
        Path(home, "arena.db").write_text("the seed")
        script = f"import arena_bot; print('RAN', flush=True); print(open({home + '/arena.db'!r}).read())"
        places = {name: folder / name for name in ("bot", "door", "tmp")}
        for place in places.values():
            place.mkdir()
        made = confine(
            probe(grade)._replace(groups={}).hide(home), [sys.executable, "-c", script],
            root=places["bot"], socket_folder=places["door"], scratch=places["tmp"], env={"PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        done = subprocess.run(
            made.argv, env=made.env, cwd=made.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        made.release()
    assert done.stdout == "RAN\n", done.stderr
    assert done.stderr.splitlines()[-1].partition(":")[0] in {"PermissionError", "FileNotFoundError"}
