"""A ladder in a cluster whose hosts die, hang, are cut off and come back: nothing is lost, nothing counts twice."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from ladder import store
from tests.cli.commands import ARENA, arena, environment
from tests.cluster.grid import Grid, Host, command, until, words

pytestmark = [pytest.mark.long, pytest.mark.timeout(300), pytest.mark.needs("two hosts")]

PAIRS = 12
"""Matches of a round: the pairs of four bots, in both orders."""
TRIED = 40
"""Rounds that are played to see how fast this machine is."""
LASTS = 20.0
"""Seconds for which one process plays a ladder: time enough for a host to be lost, to be missed and to come back."""
FEWEST, MOST = 100, 300
"""Rounds of a ladder on the slowest and on the fastest machine."""
LADDER = ("ladder", "--game", "buttons", "--bots", "random,greedy,cautious,planner", "--seed", "known")
BEGUN = 200
"""Number of matches that are stored when the disturbance comes."""
STALL = 15.0
"""Seconds for which no result may come in, whatever happens."""


class Playing:
    """A ladder that is played in a cluster."""

    def __init__(self, grid: Grid, home: Path, rounds: int) -> None:
        self.home = home
        self.said = home.with_suffix(".said")
        self.stall = 0.0
        self._count, self._since = 0, time.monotonic()
        typed = [str(ARENA), *LADDER, "--rounds", str(rounds), "--home", str(home), *words(grid)]
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                typed, cwd=home.parent, env=environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    @property
    def text(self) -> str:
        """What it has printed."""
        return self.said.read_text()

    def look(self) -> int:
        """Return how many matches are stored, and note for how long there were no more."""
        if not (self.home / "arena.db").exists():
            return 0
        with store.open_read(self.home) as db:
            count = sum(store.ladders.counts(db, ladder).done for ladder in store.ladders.all(db))
        now = time.monotonic()
        if count != self._count:
            self._count, self._since = count, now
        elif count:
            self.stall = max(self.stall, now - self._since)
        return count

    def until(self, there: Callable[[], object], what: str) -> None:
        """Wait until something is there, while it plays."""

        def seen() -> object:
            self.look()
            assert self.process.poll() is None, f"it ended before {what}: {self.text}"
            return there()

        until(seen, what)

    def ended(self) -> int:
        """Wait for the end, and return the exit code."""
        ends = time.monotonic() + 150
        while self.process.poll() is None:
            assert time.monotonic() < ends, self.text
            self.look()
            time.sleep(0.1)
        return self.process.returncode


@contextmanager
def playing(grid: Grid, home: Path, rounds: int) -> Iterator[Playing]:
    """Play a ladder in a cluster, and kill it if the test ends first."""
    until(lambda: len(grid.listed()) == len(grid.hosts), "hosts")
    it = Playing(grid, home, rounds)
    try:
        yield it
    finally:
        if it.process.poll() is None:
            it.process.kill()
        it.process.wait()


class Alone(NamedTuple):
    """A ladder that one process of this machine has played."""

    rounds: int
    hash: str


def hash_of(said: str) -> str:
    """The ladder's hash, which is printed at the end."""
    return said.partition("ladder hash ")[2].split()[0]


def played(home: Path, rounds: int) -> str:
    """Play a ladder in one process, and return its hash."""
    ran = arena(*LADDER, "--rounds", str(rounds), "--home", home, "-j", "1", cwd=home.parent, patience=150)
    assert ran.code == 0, ran.err
    return hash_of(ran.err)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The ladder of all these tests, as long as this machine needs it to be."""
    homes = tmp_path_factory.mktemp("alone")
    begun = time.monotonic()
    played(homes / "tried", TRIED)
    rounds = max(FEWEST, min(MOST, int(TRIED * LASTS / (time.monotonic() - begun))))
    return Alone(rounds, played(homes / "home", rounds))


def check(it: Playing, alone: Alone) -> None:
    """Everything was played, once, as it would have been by one process; and nothing stood still for long."""
    assert it.ended() == 0, it.text
    assert hash_of(it.text) == alone.hash
    assert f"played {PAIRS * alone.rounds:,} matches" in it.text
    assert it.stall < STALL
    assert arena("verify", "--home", it.home, cwd=it.home.parent).code == 0


def takes_part(it: Playing, host: Host) -> int:
    """How often a host has joined."""
    return it.text.count(f"{host.name} takes part")


def test_two_hosts_play_what_one_process_plays(steady: Grid, tmp_path: Path, alone: Alone) -> None:
    """The same matches with the same results, of which both hosts play a part."""
    with playing(steady, tmp_path / "home", alone.rounds) as it:
        check(it, alone)
    for host in steady.hosts:
        assert f"{host.name} played " in it.text
        assert takes_part(it, host) == 1


Disturb = Callable[[Host], None]


@pytest.mark.parametrize(
    ("disturb", "restore"),
    [(Host.kill, Host.start), (Host.freeze, Host.thaw), (Host.cut, Host.mend)],
    ids=["killed", "frozen", "cut off"],
)
def test_a_lost_host_costs_nothing(
    disturb: Disturb, restore: Disturb, steady: Grid, tmp_path: Path, alone: Alone
) -> None:
    """Within ten seconds its matches are another's; when it comes back it plays again, and nothing old of it counts."""
    one, two = steady.hosts
    with playing(steady, tmp_path / "home", alone.rounds) as it:
        it.until(lambda: it.look() >= BEGUN and takes_part(it, two), "matches")
        disturb(two)
        lost = time.monotonic()
        it.until(lambda: "its matches are played again" in it.text, "loss")
        assert time.monotonic() - lost < 10
        restore(two)
        it.until(lambda: takes_part(it, two) == 2, "return")
        check(it, alone)
    assert takes_part(it, one) == 1


def test_a_scheduler_that_is_killed_and_started_again_costs_nothing(steady: Grid, tmp_path: Path, alone: Alone) -> None:
    """Hosts end what they play when Dask ends, and join again; no command has to be typed."""
    with playing(steady, tmp_path / "home", alone.rounds) as it:
        it.until(lambda: it.look() >= BEGUN, "matches")
        steady.kill()
        steady.start()
        it.until(lambda: all(takes_part(it, host) == 2 for host in steady.hosts), "return")
        check(it, alone)


def at_work(host: Host) -> list[psutil.Process]:
    """The processes of the arena on a host."""
    return [process for process in host.family() if "arena.cluster" in command(process)]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_hosts_are_left_with_nothing(how: signal.Signals, steady: Grid, tmp_path: Path, alone: Alone) -> None:
    """Whether the arena ends by Ctrl-C or by SIGKILL: its processes on hosts end, and the next run goes on."""
    with playing(steady, tmp_path / "home", alone.rounds) as it:
        it.until(lambda: it.look() >= BEGUN, "matches")
        os.kill(it.process.pid, how)
        assert it.ended() == (130 if how is signal.SIGINT else -how)
    until(lambda: not any(map(at_work, steady.hosts)), "end on hosts", 20)
    ran = arena(*LADDER, "--rounds", str(alone.rounds), "--home", it.home, *words(steady), cwd=tmp_path, patience=150)
    assert ran.code == 0, ran.err
    assert f"ladder hash {alone.hash}" in ran.err
