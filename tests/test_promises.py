"""Numbers that pages promise are those that the arena keeps: who reads a limit relies on it. Most of them are here.

What a page says is changed together with the constant, and with what else follows from the promise.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from arena.check import extent, probes
from arena.cluster.coordinator import TRIES
from arena.cluster.host import GATHERING
from arena.cluster.messages import LOST, SEND_PATIENCE
from arena.games import greedy
from arena.referee import choices, loans, service, timekeeper, window
from arena.referee.limits import Limits
from arena.replay import unrated_store
from arena.sandbox import DEFAULT, STRONGEST, WEAKEST
from arena.sandbox.confine import BUILD
from arena.sandbox.process import KEPT, OUTPUT_A_SECOND
from arena.site import connections, ladder_page, tables
from arena.submission import MAX_BYTES, MAX_FILES, build_limits, build_results, caches, program_store
from arena.submission.build import SHOWN_LINES
from arena.tournament import block_player, suspects
from arena.worker import bot_output, bot_process, cpu_watch, faults
from builtin.burning_desire import simple
from ladder import newcomers, round_robin, sequential, settled, shares, store
from ladder.store import logs, records, sums
from tests.clone import ROOT

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
PLACES = {1: "first", 2: "second", 3: "third", 4: "fourth"}
HOURS: Mapping[float, str] = {1: "an hour", 24: "a day"}
PARTS = {2: "half", 3: "third", 4: "quarter"}


def kib(size: int) -> str:
    return f"{size / 2**10:g} KiB"


def mib(size: int) -> str:
    return f"{size / 2**20:g} MiB"


def gib(size: int) -> str:
    return f"{size / 2**30:g} GiB"


def word(number: float) -> str:
    """As pages write it; a number that is not whole, in figures, so that no promise is kept by rounding."""
    return WORDS[int(number)] if number in range(len(WORDS)) else f"{number:g}"


def times(number: float) -> str:
    return {1.0: "once", 2.0: "twice"}.get(number, f"{word(number)} times")


LIMITS = Limits()
SILENCE = LIMITS.bank + LIMITS.decision / timekeeper.PIECES

PROMISES = [
    # what a bot may send
    ("protocol.md", f"A frame of yours has at most {kib(choices.FRAME_BYTES)}."),
    ("protocol.md", f"more than {choices.NOISE} messages that answer nothing"),
    ("protocol.md", f"more than {choices.NOISE} repeated answers beyond the number"),
    ("protocol.md", f"whose {PLACES.get(service.REFUSALS)} stream is refused has committed a fault"),
    ("writing-a-bot.md", f"a frame of more than {kib(choices.FRAME_BYTES)}"),
    ("writing-a-bot.md", f"sent a frame of more than {mib(service.GRPC_FRAME_BYTES)}, while a decision was due"),
    ("security.md", f"{word(service.CONNECTIONS)} connections are kept at a time"),
    # how many matches at once
    ("protocol.md", f"more than {loans.IN_FLIGHT} means {loans.IN_FLIGHT}"),
    ("contest.md", f"up to {loans.IN_FLIGHT} matches at once if the bot can do that, or {loans._IN_PYTHON} without"),
    ("limits.md", f"Beyond {word(window.FEW_DECISIONS)} it doubles only while"),
    ("limits.md", f"a full frame takes less than {1000 * window.FULL_WINDOW:g} ms"),
    # time
    ("limits.md", f"at the latest after a {PARTS.get(timekeeper.PIECES)} of the limit"),
    ("limits.md", f"It is looked at {word(1 / cpu_watch._INTERVAL)} times a second"),
    ("protocol.md", f"{word(bot_process.GRACE)} second after `goodbye`"),
    ("writing-a-bot.md", f"| a decision | {LIMITS.decision:g} |"),
    ("writing-a-bot.md", f"| the first decision of a match | {LIMITS.first:g} |"),
    ("writing-a-bot.md", f"| the bank of a match, for time beyond these | {LIMITS.bank:g} |"),
    ("writing-a-bot.md", f"| from the start of your program to its `Hello` message | {LIMITS.start:g} |"),
    ("limits.md", f"That is {LIMITS.decision + SILENCE:g} seconds with the default values"),
    ("limits.md", f"and {LIMITS.first + SILENCE:g} seconds if a first decision is among those"),
    # starts, and matches that are void
    ("writing-a-bot.md", f"{times(faults.FAILED_STARTS)} in a row the program ended before its `Hello`"),
    ("security.md", f"is believed {times(faults.LACKING_STARTS)} in a row"),
    ("security.md", f"{times(records.ATTEMPTS_UNTIL_UNPLAYABLE)} for each match at most"),
    # what is kept of what bots print
    ("limits.md", f"the first and the last {kib(bot_output.HALF)}"),
    ("limits.md", f"| {kib(bot_output.LATE_BYTES)} more |"),
    ("limits.md", f"up to {kib(bot_output.WIDTH)}; it counts {bot_output.LINE} bytes more"),
    ("limits.md", f"{mib(bot_output.A_SECOND)} is sorted, the rest is left out"),
    ("limits.md", f"{mib(logs.A_BOT)}, less if more than {logs.ALL // logs.A_BOT} bots print"),
    ("limits.md", f"they share {gib(logs.ALL)}"),
    ("security.md", f"Of a match {kib(2 * bot_output.HALF + bot_output.LATE_BYTES)} are kept"),
    # ladders
    ("contest.md", f"each plays up to {word(newcomers.FIRST)} groups, against up to {word(newcomers.OPPONENTS)} rated"),
    ("contest.md", f"If more than {block_player.SMALL:,} matches are lacking, newcomers come first"),
    ("contest.md", f"A leg of fewer than {block_player.SMALL:,} matches is one block."),
    ("contest.md", f"each bot is then in at most {round_robin.GROUPS_PER_ROUND} groups"),
    ("numbers.md", f"is better with {100 * shares._SURE:g} % certainty"),
    ("statistics.md", f"If {settled.PASSES} are not enough"),
    ("statistics.md", f"{sums.GATHERED} at a time"),
    ("contest.md", f"less than {mib(store.database.FLOOR)} free"),
    ("statistics.md", f"Both are {sequential.ALPHA:g} at first"),
    # what is submitted, and how it is built
    ("submitting.md", f"at most {MAX_FILES:,} files and {mib(MAX_BYTES)}"),
    ("submitting.md", f"at most {program_store._MAX_FILES:,} files and {gib(program_store._MAX_BYTES)}"),
    ("submitting.md", f"{word(build_limits.CPU / 60)} minutes of processor time, summed"),
    ("submitting.md", f"stopped after {HOURS.get(build_limits.WALL / 3600)}"),
    ("submitting.md", f"neither worked nor printed anything for {word(build_limits.IDLE / 60)} minutes"),
    ("submitting.md", f"a command runs longer than {word(SHOWN_LINES)} seconds"),
    ("submitting.md", f"removed when it grows beyond {gib(caches.LARGEST_CACHE)}"),
    ("submitting.md", f"when {word(caches.FAILURES)} builds in a row failed with it"),
    ("submitting.md", f"What these make is kept for {HOURS.get(build_results.LONGEST / 3600)}"),
    ("security.md", f"{BUILD.memory_mib / 1024:g} GiB of memory and {BUILD.disk_mib / 1024:g} GiB of disk"),
    ("security.md", f" {mib(build_limits.LEFT_FREE)} of the disk stay free"),
    # what a bot may use
    ("submitting.md", f"memory_mib = {DEFAULT.memory_mib} # {WEAKEST.memory_mib} or more;"),
    ("submitting.md", f"tasks = {DEFAULT.tasks} # processes and threads, {WEAKEST.tasks} or more;"),
    ("submitting.md", f"the default maximum is {STRONGEST.memory_mib} MiB and {STRONGEST.tasks} tasks"),
    ("security.md", f"the first and last {kib(KEPT)} are kept for the card of a fault"),
    ("writing-a-bot.md", f"printed more than {mib(OUTPUT_A_SECOND)} in a second"),
    # many machines
    ("cluster.md", f"after {word(LOST)} seconds others play its matches"),
    ("cluster.md", f"it fails {times(TRIES)} as it joins"),
    ("cluster.md", f"A match that hosts held {times(suspects.LOSSES)} when they were lost"),
    ("cluster.md", f"If {word(suspects.ALONE)} more hosts are lost with it"),
    ("cluster.md", f"answers at most {times(1 / GATHERING)} a second"),
    ("cluster.md", f"unless the coordinator waits for it, and at least {times(1 / SEND_PATIENCE)}"),
    # everything else
    ("bots.md", f"stops at {simple.ENOUGH} points"),
    ("contest.md", f"the last {unrated_store.KEPT_MATCHES} unrated matches"),
    ("submitting.md", f"would last more than {word(extent._SENSIBLE / 60)} minutes"),
    ("submitting.md", f"and {word(probes.ROUNDS)} in each of the matches that it holds at once"),
    ("site.md", f"{word(tables.OPEN_TABLES).capitalize()} matches can be played at once."),
    ("site.md", f"for {word(tables.IDLE_SECONDS / 60)} minutes ends"),
    ("site.md", f"| {ladder_page.SELECTED} matches: those worth a look"),
    ("site.md", f"without a complete request within {word(connections.REQUEST_PATIENCE)} seconds is closed"),
    ("site.md", f"may open files, less {connections.RESERVED}"),
]


def test_the_greedy_opponent_stops_where_the_cautious_bot_does() -> None:
    """Its documentation says so."""
    assert greedy.ENOUGH == simple.ENOUGH


@pytest.mark.parametrize(("page", "text"), PROMISES)
def test_a_number_on_a_page_is_kept(page: str, text: str) -> None:
    """In the words of the page, so that whoever looks for a number there finds it here."""
    assert text in " ".join((ROOT / "docs" / page).read_text().split())
