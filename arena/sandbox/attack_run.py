"""Attacks this machine from inside the sandbox, to check that the sandbox holds."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.sandbox import Bounds, Confined, Grade, Sandbox, attacks, confine
from arena.sandbox.attacks import ACHIEVED, ATTACKS, HOLDS, PLAYED, RAN, VICTIM
from arena.sandbox.process import BotProcess, adopt_orphans
from arena.sandbox.run_folder import let_through, open_up, remove, run_folder
from arena.sandbox.visible_folder import visible_folder

ATTACK_PATIENCE = 20.0
"""Seconds after which an attack is ended from outside: more than one needs on a slow machine."""
ATTACKS_AT_ONCE = 4
"""Attacks that run at the same time, so that those that wait hold up nobody; any small number would do."""


class AttackVerdict(NamedTuple):
    """Result of one attack. An attack may succeed if the grade does not promise to hold it."""

    attack: str
    ran: bool
    achieved: str | None
    promised: bool
    end: str

    @property
    def is_well(self) -> bool:
        """Whether the attack ran, and achieved nothing that the grade promises to hold."""
        return self.ran and not (self.achieved and self.promised)


class Canaries:
    """Things that attackers look for, and the check whether they reached them.

    Two durations of sleep that nobody else uses mark processes: `tag` the canary, `lasting` those that attacks leave
    behind.
    """

    def __init__(self, folder: Path, *, shares_names: bool) -> None:
        self.shares_names = shares_names
        """Whether a socket name taken by an attacker is taken for other processes, too."""
        self.secret = secrets.token_hex(16)
        self.tag, self.lasting = (str(10**9 + secrets.randbelow(10**9)) for _ in range(2))
        self.files = [folder / "home/arena.db", folder / "bots/other/bot.py", folder / ".ssh/id_ed25519"]
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.secret)
        self._tcp, self._udp = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._udp.setblocking(False)
        self._unix, self._abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        self._unix.bind(str(folder / "door"))
        self._abstract.bind(f"\0arena-{self.secret}")
        for listening in (self._unix, self._abstract):
            listening.listen()
        # in our own session: a child in another one would be treated as an orphan of a bot
        self._process = subprocess.Popen(["/bin/sleep", self.tag], env={"ARENA_OPERATOR": self.secret})

    def where(self, again: bool) -> str:
        """Return where attackers find the canaries, as JSON.

        `again` says that an earlier process of the attack ran before.
        """
        return json.dumps(
            {
                "again": again,
                "secret": self.secret,
                "files": [str(file) for file in self.files],
                "shares_names": self.shares_names,
                "tcp": self._tcp.getsockname()[1],
                "udp": self._udp.getsockname()[1],
                "unix": self._unix.getsockname(),
                "abstract": f"arena-{self.secret}",
                "pid": self._process.pid,
                "tag": self.tag,
                "lasting": self.lasting,
            }
        )

    def harm(self) -> str | None:
        """Return what an attacker did to the canaries, which it may not know itself; None if nothing."""
        if self._process.poll() is not None:
            return "killed a process of the arena's"
        with contextlib.suppress(BlockingIOError):
            self._udp.recv(100)
            return "sent a datagram"
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if self.lasting.encode() in entry.read_bytes():  # others' words need not be text
                    return f"left process {entry.parent.name} behind"
        return None

    def close(self) -> None:
        """Close the sockets and end the canary process."""
        for endpoint in (self._tcp, self._udp, self._unix, self._abstract):
            endpoint.close()
        self._process.kill()
        self._process.wait()


def run_attacks(sandbox: Sandbox, report: Callable[[int, int], None]) -> list[AttackVerdict]:
    """Run all attacks and return one verdict each, in the order of the table ATTACKS."""
    adopt_orphans()
    with _operator(), run_folder() as folder:
        return asyncio.run(_all(sandbox, folder, report))


@contextmanager
def _operator() -> Iterator[None]:
    """Put a secret into the arena's environment, as operators may have one there."""
    os.environ["ARENA_OPERATOR"] = "secret"
    try:
        yield
    finally:
        del os.environ["ARENA_OPERATOR"]


async def _all(sandbox: Sandbox, folder: Path, report: Callable[[int, int], None]) -> list[AttackVerdict]:
    room = asyncio.Semaphore(ATTACKS_AT_ONCE)
    verdicts: dict[str, AttackVerdict] = {}

    async def run_attack(name: str) -> None:
        async with room:
            verdicts[name] = await _attacked(sandbox, folder / name, name)
            report(len(verdicts), len(ATTACKS))

    await asyncio.gather(*map(run_attack, ATTACKS))
    return [verdicts[name] for name in ATTACKS]


async def _attacked(sandbox: Sandbox, folder: Path, name: str) -> AttackVerdict:
    for subfolder in ("bot", "others"):
        (folder / subfolder).mkdir(parents=True)
    let_through(folder)
    (folder / "bot/bot.py").touch()
    open_up(folder / "bot")
    canaries = Canaries(folder / "others", shares_names=sandbox.bwrap is None)
    try:
        verdict = await _process(sandbox, folder, name, canaries)
        if ATTACKS[name].comes_again:
            second = await _process(sandbox, folder, name, canaries, again=True)
            verdict = second._replace(ran=verdict.ran and second.ran, achieved=verdict.achieved or second.achieved)
        return verdict
    finally:
        canaries.close()


async def _process(
    sandbox: Sandbox, folder: Path, name: str, canaries: Canaries, *, again: bool = False
) -> AttackVerdict:
    """Run one process of the attacker and, if it starves others, an ordinary bot while it holds what it has taken."""
    async with _started(sandbox, folder, name, canaries, again=again) as attacker:
        kept_out = await _starved(sandbox, folder, attacker, canaries) if ATTACKS[name].starves else None
        if not ATTACKS[name].starves:
            await attacker.wait(ATTACK_PATIENCE if name != "ignore_the_end" else 2.0)
    return _verdict(sandbox, name, attacker, kept_out or canaries.harm())


async def _starved(sandbox: Sandbox, folder: Path, attacker: _Process, canaries: Canaries) -> str | None:
    """Return how an attacker keeps a bot from starting beside it; None if it does not."""
    await attacker.printed(HOLDS)
    async with _started(sandbox, folder, VICTIM, canaries) as victim:
        await victim.wait(ATTACK_PATIENCE)
    text = victim.output.text()
    return (
        None
        if PLAYED in text
        else f"kept another bot from starting: {[victim.exit_in_words(), *text.splitlines()][-1]}"
    )


class _Process(BotProcess):
    """A process of this program, of which one can wait for what it prints and for its end."""

    def __init__(self, confined: Confined) -> None:
        self.ended = asyncio.Event()
        self._news = asyncio.Event()
        super().__init__(
            confined, on_exit=self.ended.set, on_too_much_output=self.kill, on_output=lambda _: self._news.set()
        )

    async def wait(self, seconds: float) -> None:
        """Wait for its end, but no longer than this."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.ended.wait(), seconds)

    async def printed(self, text: str) -> None:
        """Wait until it has printed a text or, if it does not, until it is at its end or out of time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ATTACK_PATIENCE):
                while text not in self.output.text() and not self.ended.is_set():
                    self._news.clear()
                    await self._news.wait()


@asynccontextmanager
async def _started(
    sandbox: Sandbox, folder: Path, name: str, canaries: Canaries, *, again: bool = False
) -> AsyncIterator[_Process]:
    """Start this program, with a socket folder and a folder to write to, as a bot has them; end it after the block."""
    socket_folder, scratch = folder / f"door-{name}", folder / f"tmp-{name}"
    for private_folder in (socket_folder, scratch):
        private_folder.mkdir()
    process = _Process(
        confine(
            sandbox.hide(str(folder / "others")),
            [sys.executable, attacks.__file__, name],
            root=visible_folder(sandbox, folder / "bot", folder / "programs"),
            socket_folder=socket_folder,
            scratch=scratch,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "ARENA_CANARIES": canaries.where(again)},
            bounds=Bounds(memory_mib=256),
        )
    )
    try:
        yield process
    finally:
        process.kill()
        await process.ended.wait()
        remove(socket_folder)
        remove(scratch)


def _verdict(sandbox: Sandbox, name: str, process: BotProcess, harm: str | None) -> AttackVerdict:
    text = process.output.text()
    achieved = next((line.removeprefix(ACHIEVED) for line in text.splitlines() if line.startswith(ACHIEVED)), None)
    attack = ATTACKS[name]
    promised = sandbox.grade.at_least(Grade(attack.held_from)) and (sandbox.own_user or not attack.starves)
    end = process.excess.what if process.excess is not None else process.exit_in_words()
    return AttackVerdict(name, text.startswith(RAN), achieved or harm, promised, end)
