"""Event loops that need nothing of which a user may have too little."""

from __future__ import annotations

import asyncio
import errno
import select
import selectors
import socket


def new_loop(*, shares_user: bool = True) -> asyncio.AbstractEventLoop:
    """Make an event loop that waits with poll if bots run as the same user (`shares_user`), else with epoll.

    epoll needs a watch of the kernel's for each file, of which all processes of a user together may have a number: a
    bot could keep the arena from waiting. poll looks at every file each time, which with three hundred bots takes a
    third of a worker's time.
    """
    return asyncio.SelectorEventLoop(selectors.PollSelector() if shares_user else selectors.EpollSelector())


def check_watches() -> None:
    """Raise OSError if this user may watch no more files: gRPC would end this process without a word to people."""
    with select.epoll() as watches, socket.socket() as watched:
        try:
            watches.register(watched)
        except OSError as error:
            why = "this user may watch no more files (fs.epoll.max_user_watches), another program has used it up"
            raise OSError(errno.EMFILE, why) from error
