"""One bot in a sandbox for another process, which asks it over a link.

The arena's event loop, sockets and children are then no part of a program that merely uses the arena, such as a
notebook. The process ends, and the bot with it, when the link is closed.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from arena import games
from arena.base import homes
from arena.base.suggest import printable
from arena.check import Unjudged
from arena.check.examined import Examined, Misbehaved, examined
from arena.referee.limits import Limits
from arena.roster.bots import Workshop, find_bot
from arena.sandbox import NoSandbox, Sandbox, probe
from arena.sandbox.process import adopt_orphans, end_orphans
from arena.sandbox.run_folder import run_folder
from arena.sandbox.users import NoUser
from arena.submission import BadSubmission
from arena.submission.build import Building
from arena.worker.jobs import Entrant
from ladder import store

BEGIN_MATCH = f"import sys; from {__name__} import main; main(*sys.argv[1:])"
"""Program of the process. As a script the module would be another one than that which the user of the link imports."""
_ENDING = 10.0
"""Seconds that the process may take to end its bot; only a build can keep it from that."""


class BotOrder(NamedTuple):
    """A frame for the bot. With a decision's number it is to be answered, within so many seconds."""

    frame: bytes
    decision: int | None = None
    seconds: float = 0.0


class Joined(NamedTuple):
    """What is told of a bot that has joined."""

    label: str
    updates: bool
    """Whether it wants to be told of every step."""


def hire(name: str, game: str, limits: Limits) -> tuple[subprocess.Popen[bytes], Connection[BotOrder | None, object]]:
    """Start the process of a bot and return it with its link: first it tells `Joined`, or why not, as text.

    Then each order with a decision is answered by an action, or by a text that says what the bot did wrong.
    """
    ours, theirs = Pipe()
    # -P: nothing in the current folder is taken for a module
    words = [sys.executable, "-P", "-c", BEGIN_MATCH, str(theirs.fileno()), game, name, str(limits.start)]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True)
    theirs.close()
    return process, ours


def dismiss(process: subprocess.Popen[bytes], link: Connection[BotOrder | None, object], owner: int) -> None:
    """Close the link and wait until the process has ended; a fork of its owner, a process id, only closes the link."""
    if os.getpid() != owner:
        link.close()
        return
    with suppress(OSError):
        link.send(None)
    link.close()
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(descriptor: str, game: str, name: str, start_limit: str) -> None:
    """Serve one bot over the link of this file descriptor."""
    link: Connection[object, BotOrder | None] = Connection(int(descriptor))
    adopt_orphans()  # before the first sandbox is tried, which may leave a process, too
    try:
        with suppress(BrokenPipeError):
            try:
                _serve(link, game, name, float(start_limit))
            except Misbehaved as fault:
                printed = f"; it printed last: {fault.output[-1]}" if fault.output else ""
                link.send(f"{fault}{printed}")
            except (BadSubmission, NoSandbox, NoUser, Unjudged, homes.ForeignHome, store.StoreError) as error:
                link.send(str(error))
    finally:
        end_orphans()  # they would be left to the user of the link


def _serve(link: Connection[object, BotOrder | None], game: str, name: str, start_limit: float) -> None:
    home = Path(os.environ["ARENA_HOME"]) if os.environ.get("ARENA_HOME") else homes.nearest_home()
    sandbox = probe().hide(*homes.hidden(home))
    if sandbox.warning:
        _say(sandbox.warning)
    with run_folder() as scratch:
        with store.open_read(home) as db:
            entrant = find_bot(db, home, name, games.game(game).name, Workshop(scratch, sandbox, Building(_say)))
        if entrant.is_external:
            raise BadSubmission(f"{name} is nobody's name: name a program")
        with suppress(asyncio.CancelledError):
            asyncio.run(_obey(link, entrant, start_limit, sandbox))


async def _obey(
    link: Connection[object, BotOrder | None], entrant: Entrant, start_limit: float, sandbox: Sandbox
) -> None:
    """Start a bot and carry out orders; cancelled at once when the link ends, whatever the bot is doing."""
    loop, own_task = asyncio.get_running_loop(), asyncio.current_task()
    assert own_task is not None
    orders: asyncio.Queue[BotOrder] = asyncio.Queue()

    def hear() -> None:
        try:
            order = link.recv()
        except (EOFError, OSError):
            order = None
        if order is None:
            loop.remove_reader(link.fileno())
            own_task.cancel()
        else:
            orders.put_nowait(order)

    loop.add_reader(link.fileno(), hear)
    async with examined(entrant, start_limit, sandbox) as bot:
        link.send(Joined(entrant.label, bot.hello.updates))
        while True:
            order = await orders.get()
            bot.say(order.frame)
            if order.decision is not None:
                link.send(await _answer(bot, order.decision, order.seconds))


async def _answer(bot: Examined, decision: int, seconds: float) -> int:
    """Return the bot's answer to a decision. Raises Misbehaved."""
    choices = (await bot.hear(seconds)).choices
    if [choice.decision for choice in choices] != [decision]:
        raise Misbehaved(f"was asked decision {decision}, answered {[choice.decision for choice in choices]}")
    return choices[0].action


def _say(text: str) -> None:
    """Write a line for people; what a build prints may be anything."""
    sys.stderr.write(f"{printable(text)}\n")
