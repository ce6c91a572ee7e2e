"""Nobody loses by what the machine does, or what a hostile bot does to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from arena import games
from arena.referee.limits import Limits
from arena.referee.match import MatchOutcome
from arena.sandbox import Grade, probe
from arena.tournament.worker_pool import Workers
from arena.worker.jobs import Entrant, Task
from arena.worker.local_host import LocalHost
from tests.cli.commands import ARENA, environment
from tests.needs import grades
from tests.tournament import programs
from tests.tournament.playing import in_phases
from tests.worker.conftest import HOSTILE

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

THINKS = """
def choose(self, turn):
    until = time.process_time() + {}
    while time.process_time() < until:
        pass
    return turn.legal[0]
"""


@contextmanager
def burners(count: int) -> Iterator[None]:
    """Processes that use all of the machine that they get."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
        for each in running:
            each.wait()


def forfeits(cwd: Path, thinking: float, jobs: int) -> list[Any]:
    """Two equal bots that think so long, 100 ms allowed, play each other in both orders, in a ladder's workers."""
    programs.write(cwd, bot=programs.program(THINKS.format(thinking)))
    cwd.chmod(0o755)  # bots run as somebody else
    bots = [program(name, cwd, "bot.py") for name in ("one", "two")]
    limits = Limits(decision=0.1, bank=10.0, start=60.0)
    matches = [match(lineup, limits, "birth") for lineup in (bots, bots[::-1])]
    with Workers(LocalHost(jobs, sandbox=probe())) as workers:
        played = list(in_phases(workers, matches))
    assert len(played) == len(matches)
    return [result.void if result.outcome is None else list(result.outcome.forfeits) for result in played]


def program(label: str, folder: Path, *command: str) -> Entrant:
    """A Python bot as a worker starts it."""
    return Entrant(label, label, (sys.executable, *command), str(folder), {"PATH": os.environ["PATH"]})


def match(lineup: Sequence[Entrant], limits: Limits, game: str) -> Task:
    """A match whose dice come from its line-up."""
    name = " against ".join(bot.label for bot in lineup)
    options = games.game(game).options({})
    return Task(name, game, options, sha256(name.encode()).digest(), tuple(lineup), limits)


def test_under_foreign_load_nobody_forfeits_by_time(cwd: Path) -> None:
    """60 ms of thinking, and eight processes that want the machine for themselves."""
    with burners(8):
        assert forfeits(cwd, 0.06, jobs=2) == [[], []]


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_an_arena_that_loads_its_own_machine_takes_no_time_from_bots(cwd: Path, jobs: int) -> None:
    """50 ms of thinking, however many workers there are."""
    assert forfeits(cwd, 0.05, jobs) == [[], []]


def test_an_arena_that_was_stopped_judges_nobody(cwd: Path) -> None:
    """As a machine does that is put to sleep: what was in play does not count, and costs nobody anything."""
    programs.write(cwd, one=programs.program(THINKS.format(0.05)))
    words = ["match", "./one.py", "./one.py", "--game=birth", "--limit=1s", "--bank=0s", "-n2", "--json"]
    with subprocess.Popen([ARENA, *words], cwd=cwd, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        wait_for_bot(process.pid)
        process.send_signal(signal.SIGSTOP)
        time.sleep(5)
        process.send_signal(signal.SIGCONT)
        out, _ = process.communicate(timeout=120)
    matches = json.loads(out)["matches"]
    assert [match for match in matches if match.get("forfeits")] == []
    assert all("overload" in match["void"] for match in matches if "void" in match)


def wait_for_bot(arena: int) -> None:
    """Until something that the arena started has used some time of a processor, as a bot that thinks does."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for stat in Path("/proc").glob("[0-9]*/cmdline"):
            text = _read(stat)
            if text.endswith("one.py\0") and "launcher" not in text and "bwrap" not in text and "match" not in text:
                time.sleep(2)  # it imports what it needs, and plays
                return
        time.sleep(0.05)
    raise AssertionError(f"arena {arena} started no bot")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


HOSTILES = [
    "forks_without_end",
    "hogs_memory",
    "fills_disk",
    "burns_with_threads",
    "prints_flood",
    "floods_empty",
    "floods_repeats",
    "sends_garbage",
    "sends_huge_frame",
    "opens_second_stream",
    "answers_foreign_matches",
    "changes_its_mind",
    "stalls",
    "exits",
    "is_killed",
    "leaves_nameless_daemon",
    "guesses_tokens",
    "silent_socket",
    "floods_connections",
    "speaks_http",
]


def entrant(*arguments: str) -> Entrant:
    """The hostile program; honest without a misdeed."""
    return program(" ".join(arguments), HOSTILE.parent, HOSTILE.name, *arguments)


HONEST = [entrant("--play", play) for play in ("first", "last", "random")]


PATIENT = Limits(decision=20.0, bank=20.0, start=60.0)


def tasks(*hostile: Entrant) -> list[Task]:
    """Each honest bot against each other, and one of them against each of the hostile ones, these first."""
    limits = Limits(decision=1.0, bank=5.0, start=20.0)
    pairs = [*((HONEST[0], each) for each in hostile), *permutations(HONEST, 2)]
    return [match(pair, limits, "buttons") for pair in pairs]


def outcomes(*hostile: Entrant) -> dict[str, MatchOutcome | None]:
    """What the honest bots' matches against each other came to."""
    found: dict[str, MatchOutcome | None] = {}
    with Workers(LocalHost(2, sandbox=probe())) as workers:
        for result in in_phases(workers, tasks(*hostile)):
            found[result.id] = result.outcome
    assert len(found) == len(tasks(*hostile))
    return {task.id: found[task.id] for task in tasks()}


def test_hostile_bots_change_nothing_between_honest_ones() -> None:
    """One of each kind among them: the same outcomes, match by match, as without them."""
    alone = outcomes()
    assert all(outcome is not None and not outcome.forfeits for outcome in alone.values())
    assert outcomes(*[entrant(misdeed, "--at", "2") for misdeed in HOSTILES]) == alone


@pytest.mark.parametrize("grade", grades("ABCD"))
def test_who_fills_the_disk_fills_none_of_it(grade: Grade) -> None:
    """At no grade: it is refused room, or it is ended, and nobody else's match is touched."""
    hoarder = match((HONEST[1], entrant("fills_disk", "--at", "2")), PATIENT, "buttons")
    honest = match(HONEST[:2], PATIENT, "buttons")
    with Workers(LocalHost(2, sandbox=probe(grade))) as workers:
        played = {each.id: each for each in in_phases(workers, [hoarder, honest])}
    (alone, hoarded) = (played[each.id].outcome for each in (honest, hoarder))
    assert alone is not None
    assert hoarded is not None
    assert alone.forfeits == ()
    assert [seat for seat, *_ in hoarded.forfeits] == ([] if grade.at_least(Grade.B) else [1])
