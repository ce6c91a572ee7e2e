"""Event loops: what they take of the machine, since bots may run as the same user."""

from __future__ import annotations

import contextlib
import os

import pytest

from arena.base.loops import new_loop


def _watching() -> int:
    """Count the files of this process by which the kernel watches others."""
    targets = []
    for file in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the folder's own, which is closed by now
            targets.append(os.readlink(f"/proc/self/fd/{file}"))
    return targets.count("anon_inode:[eventpoll]")


@pytest.mark.parametrize(("shares_user", "watches"), [(True, 0), (False, 1)])
def test_a_loop_takes_watches_of_the_kernel_only_where_no_bot_can_use_them_up(shares_user: bool, watches: int) -> None:
    """Watches are counted by user: bots of the arena's own user could leave it none."""
    before = _watching()
    with contextlib.closing(new_loop(shares_user=shares_user)):
        assert _watching() - before == watches
