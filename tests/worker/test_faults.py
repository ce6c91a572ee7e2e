"""Every known misdeed, each by a real process against an honest one: who forfeits, for what, and what is recorded.

All matches are played in one batch, so each of them also shows that the others are unharmed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from arena.referee.limits import Limits
from arena.referee.match import Forfeit
from arena.worker.bot_process import GRACE
from arena.worker.jobs import Entrant, Played
from arena.worker.worker import Worker
from tests.worker.conftest import PATIENT, bot, judged, task

pytestmark = pytest.mark.long  # all of them together take twenty seconds

SHORT = Limits(decision=0.3, bank=0.5)


class Case(NamedTuple):
    """A misdeed, as arguments of the hostile program, and what the forfeit and its evidence must say."""

    arguments: str
    reason: Forfeit
    detail: str
    exit: str = "is still running"
    output: tuple[str, ...] = ()
    answer: int | None = None
    limits: Limits = PATIENT


START, CRASH, TIMEOUT, ILLEGAL = Forfeit.START, Forfeit.CRASH, Forfeit.TIMEOUT, Forfeit.ILLEGAL
PROTOCOL, FLOOD, OUTPUT = Forfeit.PROTOCOL, Forfeit.FLOOD, Forfeit.OUTPUT

CRASHES = [
    Case("exits --at 3", CRASH, "the process exited with code 3", "exited with code 3", ("I give up",)),
    Case("exits --code 0", CRASH, "the process exited with code 0", "exited with code 0", ("I give up",)),
    Case("is_killed --code 11", CRASH, "the process was killed by SIGSEGV", "was killed by SIGSEGV"),
    Case("is_killed --code 9 --at 2", CRASH, "the process was killed by SIGKILL", "was killed by SIGKILL"),
    Case("is_killed --code 40", CRASH, "the process was killed by signal 40", "was killed by signal 40"),
    Case("closes_stream --at 2", CRASH, "closed its stream, or sent a frame of more than 1048576 bytes"),
    Case("sends_huge_frame --code 100000000", CRASH, "the process exited with code 0", "exited with code 0"),
    Case("answers_and_exits --at 2", CRASH, "the process exited with code 0", "exited with code 0"),
    Case(
        "prints_escapes_and_exits",
        CRASH,
        "the process exited with code 3",
        "exited with code 3",
        ("\x1b]0;owned\x07\x1b[2J caf\\xe9 \\xff\\xfe",),
    ),
]
TIMEOUTS = [
    Case("stalls", TIMEOUT, "no answer in 3.50 s: a limit of 3.00 s and 0.50 s left of the bank", limits=SHORT),
    Case("stalls --at 2", TIMEOUT, "no answer in 0.80 s: a limit of 0.30 s and 0.50 s left of the bank", limits=SHORT),
    Case(
        "answers_late --at 2 --seconds 4",
        TIMEOUT,
        "no answer in 0.80 s: a limit of 0.30 s and 0.50 s left of the bank",
        limits=SHORT,
    ),
]
LEGAL_NAMED = r"1 \(guess 1\), 2 \(guess 2\), 3 \(guess 3\), 4 \(guess 4\), 5 \(guess 5\), 6 \(guess 6\)"
ILLEGALS = [
    Case("plays_illegal --code 0", ILLEGAL, rf"chose 0 \(guess 0\), legal: {LEGAL_NAMED}", answer=0),
    Case("plays_illegal --code 7 --at 2", ILLEGAL, r"chose 7, legal: 1 \(guess 1\) … 6 \(guess 6\)", answer=7),
    Case("plays_illegal --code 4294967295", ILLEGAL, f"chose 4294967295, legal: {LEGAL_NAMED}", answer=2**32 - 1),
]
BREACHES = [
    Case("changes_its_mind", PROTOCOL, "made 3 choices .* the last: decision 5 was answered with 1 before"),
    Case("answers_foreign_matches", PROTOCOL, "made 3 choices .* the last: match 1001 is none of yours"),
    Case("answers_unasked", PROTOCOL, "made 3 choices .* the last: decision 1005 was not asked"),
    Case("sends_garbage", PROTOCOL, "sent a frame that is no PlayRequest: .*"),
    Case("sends_a_long_tag", PROTOCOL, "sent a frame that is no PlayRequest: .*"),
    Case("sends_huge_frame --code 70000", PROTOCOL, "sent a frame .* it has 70000 bytes, 65536 are allowed"),
    Case("opens_second_stream", PROTOCOL, "opened 3 streams that were refused, .* this token has been used: .*"),
    Case("floods_empty", FLOOD, "sent more than 64 messages that answer nothing"),
    Case("floods_repeats", FLOOD, "gave 1 answers in a match and repeated 66"),
    Case("prints_flood", OUTPUT, "printed more than 10 MiB in a second"),
]
IMPATIENT = PATIENT._replace(start=6.0)
NEVER_THERE = [
    Case(
        "exit_at_start",
        START,
        "the process exited with code 3 before it joined",
        "exited with code 3",
        ("cannot find my opening book",),
    ),
    Case("guesses_tokens", START, "opened 3 streams that were refused, .* no Hello with ARENA_TOKEN"),
    Case("never_connects", START, "did not join within 6 s", limits=IMPATIENT),
    Case("silent_socket", START, "did not join within 6 s", limits=IMPATIENT),
    Case("speaks_http", START, "did not join within 6 s", limits=IMPATIENT),
    Case("never_says_hello", START, "did not join within 6 s", limits=IMPATIENT),
    Case(
        "wrong_token",
        START,
        "did not join within 6 s; a stream was refused: the first frame has no Hello with ARENA_TOKEN",
        limits=IMPATIENT,
    ),
    Case(
        "wrong_protocol",
        START,
        "did not join within 6 s; a stream was refused: protocol 7 is not spoken here: 1 is",
        limits=IMPATIENT,
    ),
]
AT_DECISIONS = [*CRASHES, *TIMEOUTS, *ILLEGALS, *BREACHES]
CASES = [*AT_DECISIONS, *NEVER_THERE]

HARMLESS = [
    "repeats_itself",
    "sends_what_nobody_knows",
    "says_hello_twice",
    "prints_much",
    "answers_in_pieces",
    "answers_and_exits --at 4",
    "leaves_after_match",
    "talks_after_match",
    "ignores_sigterm_and_goodbye",
    "leaves_daemon",
    "leaves_nameless_daemon",
    "knocks_at_other_doors",
    "thinks --seconds 0.2",
    "answers_late --at 2 --seconds 0.6",
    "--updates",
]


@pytest.fixture(scope="module")
def notes(scratch: Path) -> Path:
    """The folder where bots write the ids of the daemons that they started."""
    made = scratch / "notes"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def played(scratch: Path, notes: Path) -> dict[str, Played]:
    """The results of all matches, by what the bot in seat 0 does; the bot in seat 1 is honest."""
    tasks = [
        task(doing, bot(*doing.split(), "--notes", str(notes)), honest, limits=limits)
        for doing, limits, honest in everybody()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.worker.capacity.MOST", 2 * len(tasks))
        patch.setattr("arena.worker.bot_pool.STARTING", 12)
        patch.setattr(
            "arena.worker.bot_process.GRACE", 5.0
        )  # so an exit is seen before the verdict on a busy machine, too
        worker = Worker(scratch, in_flight=1)
        try:
            worker.play([task("the honest one has all the time to start", bot("--play", "last"), bot())])
            return judged(worker, tasks)
        finally:
            patch.undo()  # not 5 s for each bot that hangs at exit
            worker.close()


def everybody() -> Iterator[tuple[str, Limits, Entrant]]:
    """Yield what the bot in seat 0 does, the limits, and its honest opponent.

    All bots that never join have the same opponent, whose process is there already.
    """
    for case in CASES:
        yield case.arguments, case.limits, bot(name="" if case.limits is IMPATIENT else f"against {case.arguments}")
    for doing in HARMLESS:
        yield doing, SHORT if "--seconds" in doing else PATIENT, bot(name=f"against {doing}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
def test_who_misbehaves_forfeits_and_the_other_wins(played: dict[str, Played], case: Case) -> None:
    """The forfeit has the right reason, and a detail that says in one printable line what happened."""
    outcome = played[case.arguments].outcome
    assert outcome is not None
    assert outcome.ranks == (1, 0)
    (forfeit,) = outcome.forfeits
    assert (forfeit.seat, forfeit.reason) == (0, case.reason)
    assert re.fullmatch(case.detail, forfeit.detail)
    assert forfeit.detail.isprintable()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
def test_what_the_process_did_and_printed_is_kept(played: dict[str, Played], case: Case) -> None:
    """For its author the evidence has the command, how the process ended, and the last lines that it printed."""
    evidence = played[case.arguments].seats[0].evidence
    assert evidence is not None
    assert evidence["exit"] == case.exit
    assert evidence["command"][2:3] == case.arguments.split()[:1]
    if case.reason is not OUTPUT:
        assert evidence["output"] == list(case.output)
    assert all(len(line) < 1010 for line in evidence["output"])


@pytest.mark.parametrize("case", AT_DECISIONS, ids=lambda case: case.arguments)
def test_what_was_asked_and_answered_is_kept(played: dict[str, Played], case: Case) -> None:
    """The evidence has the question as it was sent, with the view, and the answer, None if there was none."""
    result = played[case.arguments]
    assert result.outcome is not None
    evidence = result.seats[0].evidence
    assert evidence is not None
    step = result.outcome.forfeits[0].step
    assert evidence["request"]["decision"] == 2 * step + 1
    assert evidence["request"]["bank_ms"] == case.limits.bank * 1000
    assert len(evidence["request"]["other"]["rolls"]) == step
    assert evidence["answer"] == case.answer
    assert (evidence["seconds"] is None) == (case.answer is None)


@pytest.mark.parametrize("doing", HARMLESS)
def test_what_does_no_harm_is_not_punished(played: dict[str, Played], doing: str) -> None:
    """A bot may be clumsy, slow within its limits, or gone after its last match; it ties, as both bots play alike."""
    outcome = played[doing].outcome
    assert outcome is not None
    assert (outcome.ranks, outcome.forfeits) == ((0, 0), ())


def test_honest_opponents_are_never_blamed(played: dict[str, Played]) -> None:
    """No evidence at all is recorded against the honest bots."""
    assert all(result.seats[1].evidence is None for result in played.values())
    assert len(played) == len(CASES) + len(HARMLESS)


def test_only_the_time_over_the_limit_is_drawn_from_the_bank(played: dict[str, Played]) -> None:
    """With a limit of 0.3 s, four decisions of 0.2 s cost nothing; one of 0.6 s takes 0.3 s of a bank of 0.5 s."""
    assert min(played["thinks --seconds 0.2"].seats[0].times) >= 0.2
    assert played["answers_late --at 2 --seconds 0.6"].seats[0].times[1] >= 0.6


def test_processes_left_behind_end_with_the_bot(notes: Path, scratch: Path) -> None:
    """Daemons are found in any session, under any parent, and with an empty environment, too."""
    worker = Worker(scratch)
    doings = ("leaves_daemon", "leaves_nameless_daemon")
    worker.play([task(doing, bot(doing, "--notes", str(notes)), bot()) for doing in doings])
    left = [int(pid) for pid in (notes / "daemons").read_text().split()][-2:]
    assert all(map(alive, left))
    worker.close()
    assert not any(map(alive, left))


def test_a_bot_that_hangs_at_exit_holds_nobody_up(scratch: Path) -> None:
    """A bot has one second to exit after the goodbye; then it is killed, and its result stands."""
    worker = Worker(scratch)
    (result,) = worker.play([task("hangs", bot("ignores_sigterm_and_goodbye"), bot())])
    begun = time.monotonic()
    worker.close()
    assert time.monotonic() - begun < 15 * GRACE  # it would sleep for an hour
    assert result.outcome is not None
    assert result.outcome.forfeits == ()


def alive(pid: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- More than two seats


@pytest.mark.parametrize("case", [*CRASHES[:4], TIMEOUTS[1], ILLEGALS[1], BREACHES[0], BREACHES[3], BREACHES[7]])
def test_at_a_larger_table_the_others_play_on(scratch: Path, case: Case) -> None:
    """The default action is played for a bot that forfeited, and whatever its score is, it ranks last."""
    worker = Worker(scratch, in_flight=1)
    try:
        lineup = bot(*case.arguments.split()), bot(name="one"), bot("--play", "last", name="other")
        (result,) = judged(worker, [task(case.arguments, *lineup, limits=case.limits)]).values()
    finally:
        worker.close()
    assert result.outcome is not None
    assert [(forfeit.seat, forfeit.reason) for forfeit in result.outcome.forfeits] == [(0, case.reason)]
    assert result.outcome.ranks[0] == 2
    assert [seat for seat, _ in result.choices] == [0, 1, 2] * 4
    assert [len(record.times) for record in result.seats[1:]] == [4, 4]
